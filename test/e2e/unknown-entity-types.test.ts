/** Unknown entity types: writes reject them, and their records stop no view. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { timeseriesStream } from "../../src/core/stream.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { encoded, proposal } from "../support/client.ts";
import { operatorOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

/** Every object inherits these names; a lookup in a plain object finds them. */
const types = ["constructor", "valueOf", "toString", "hasOwnProperty", "nobody"];
const views = ["aspects", "timeseries", "graph", "search"];

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ logLevel: "silent" });
});
afterAll(() => service[Symbol.asyncDispose]());

const status = () => operatorOf(service).value("getStatus");

async function followed(): Promise<void> {
  await expect
    .poll(async () => {
      const { log, views } = await status();
      return Object.entries<{ position: number; error?: string; parked: number }>(views).filter(
        ([, view]) => view.position < log.position || view.error !== undefined || view.parked > 0,
      );
    })
    .toEqual([]);
}

test.each(types)("every write rejects the entity type %s and writes nothing", async (type) => {
  const urn = `urn:li:${type}:x`;
  const { client } = service;
  const before = (await status()).log.position;
  const proposed = proposal(urn, "status", { removed: false });
  const answers = [
    await client.call("DELETE", `/relationships?urn=${encoded(urn)}`),
    await client.call("POST", "/aspects?action=ingestProposal", { proposal: proposed }),
    await client.call("POST", "/aspects?action=ingestProposalBatch", { proposals: [proposed] }),
    await client.call("POST", "/entities?action=deleteReferences", { urn }),
    await operatorOf(service).act("restoreIndices", { urn }),
  ];
  for (const { status, body } of answers) {
    expect(status).toBe(422);
    expect(body.message).toContain(`unknown entity type "${type}"`);
  }
  const deleted = await client.call("POST", "/entities?action=delete", { urn });
  expect(deleted.status).toBe(404);
  expect((await status()).log.position).toBe(before);
});

test("views, a rebuild and a verification continue past records of unknown entity types", async () => {
  await service.client.upsert("urn:li:tag:before", "tagProperties", { name: "before" });
  await service.restart(async () => {
    const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
    for (const type of types) {
      const urn = `urn:li:${type}:x`;
      const created = { time: 1_772_409_600_000, actor: "urn:li:corpuser:ada" };
      const change = {
        urn,
        entityType: type,
        aspect: "$relationships",
        changeType: "DELETE",
        created,
      };
      const system = { lastObserved: created.time, runId: "r" };
      const records = [encodeChange({ ...change, changeType: "DELETE", system })];
      const stream = timeseriesStream(urn, "$relationships");
      await log.append([{ stream, expected: "any", records }]);
    }
    await log.close();
  });
  await service.client.upsert("urn:li:tag:after", "tagProperties", { name: "after" });
  await followed();
  const operator = operatorOf(service);
  const rebuilt = await operator.ended(await operator.value("rebuildViews"));
  expect(rebuilt.status).not.toHaveProperty("error");
  await operator.ended(await operator.value("verify", { full: true }));
  const { total, views: verified } = await operator.value("listDifferences");
  expect({ total, views: verified.map(({ view }: { view: string }) => view) }).toEqual({
    ...{ total: 0, views },
  });
  await followed();
});
