/** A view that another model built is rebuilt at the start: it never answers for the wrong model. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openService } from "../../src/app/service.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createClient } from "../support/client.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test("an entity of a model extension is listed again when the extension is restored", async () => {
  using directory = temporaryDirectory();
  const extension = join(directory.path, "model");
  mkdirSync(join(extension, "types"), { recursive: true });
  writeFileSync(
    join(extension, "entities.json"),
    JSON.stringify([{ name: "machine", keyAspect: "machineKey", aspects: ["status"] }]),
  );
  writeFileSync(
    join(extension, "types", "MachineKey.avsc"),
    JSON.stringify({
      type: "record",
      name: "MachineKey",
      namespace: "org.example",
      Aspect: { name: "machineKey" },
      fields: [{ name: "id", type: "string" }],
    }),
  );
  const data = join(directory.path, "data");
  const withService = async <T>(
    modelExtension: string,
    work: (client: ReturnType<typeof createClient>) => Promise<T>,
  ): Promise<T> => {
    const config = readConfig(
      { port: "0", data, logLevel: "warn", modelExtension, builtInEntities: "off" },
      {},
    );
    const service = await openService(config, { logger: createLogger("warn") });
    try {
      return await work(createClient(service.address()));
    } finally {
      await service.close();
    }
  };
  const listed = async (client: ReturnType<typeof createClient>) =>
    (
      await client.call("POST", "/entities?action=listUrns", {
        entity: "machine",
        start: 0,
        count: 5,
      })
    ).body.value?.entities;

  await withService(extension, async (client) => {
    const reply = await client.upsert("urn:li:machine:m1", "status", { removed: false });
    expect(reply.status).toBe(200);
    expect(await listed(client)).toEqual(["urn:li:machine:m1"]);
  });
  await withService("", async (client) => expect(await listed(client)).toBeUndefined());
  await withService(extension, async (client) =>
    expect(await listed(client)).toEqual(["urn:li:machine:m1"]),
  );
});
