/**
 * An entity that the aspect view has parked is read from and written to the log: a read at a
 * position returns the value that was acknowledged with it, also after a restart without caches.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { killableService } from "../support/killable-service.ts";
import { operatorOf } from "../support/operator.ts";

const service = killableService("annals-parked");
const urn = "urn:li:tag:sick";

const named = (client: Client, name: string) => client.upsert(urn, "tagProperties", { name });

async function nameOf(client: Client, position: number | undefined): Promise<string> {
  const headers = { "X-Annals-Min-Position": String(position) };
  const { body } = await client.call("GET", `/entitiesV2/${urn}`, undefined, headers);
  return body.aspects.tagProperties.value.name;
}

function execute(sql: string): void {
  const file = new DatabaseSync(join(service.directory, "aspects.sqlite"), { timeout: 5_000 });
  file.exec(sql);
  file.close();
}

test("an entity that is parked in aspects is read and written as the log has it, also after a kill", async () => {
  const { client: first } = await service.start();
  await named(first, "sound");
  execute(`CREATE TRIGGER poison BEFORE INSERT ON aspect_value WHEN new.value LIKE '%POISON%'
    BEGIN SELECT raise(ABORT, 'poisoned'); END`);
  await named(first, "POISON");
  const { position } = await named(first, "later");
  expect(await nameOf(first, position)).toBe("later");
  await service.stop("SIGKILL");

  const { client } = await service.start();
  const operator = operatorOf({ client, directory: service.directory });
  expect((await operator.value("listParked")).total).toBeGreaterThan(0);
  expect(await nameOf(client, position)).toBe("later");
  const last = await named(client, "last");
  expect(last.status).toBe(200);
  expect(await nameOf(client, last.position)).toBe("last");
  const aspect = await client.call("GET", `/aspects/${urn}?aspect=tagProperties&version=0`);
  expect(JSON.stringify(aspect.body)).toContain("last");

  expect(await operator.value("dropParked", { view: "aspects", urn })).toMatchObject({
    parked: false,
  });
  expect(await nameOf(client, last.position)).toBe("last");
  expect((await named(client, "well")).status).toBe(200);
  await service.stop();
});
