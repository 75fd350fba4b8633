/** Concurrent writes to one entity lose nothing and leave gapless versions; one of N racing writes wins. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entityStream } from "../../../src/core/stream.ts";
import { decodeRecord, encodeChange } from "../../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../../src/log/sqlite/sqlite-change-log.ts";
import { encoded, proposal } from "../../support/client.ts";
import { type RunningService, runningService } from "../../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  // A tiny cache: states are evicted and read from the view all the time.
  service = await runningService({ cacheBytes: "1KiB", projectorLagMax: "50" });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const writers = 40;
const INGEST = "/aspects?action=ingestProposal";

test("concurrent writes to one entity are numbered without a gap", async () => {
  const urn = "urn:li:tag:crowded";
  const names = Array.from({ length: writers }, (_, n) => `name ${n}`);
  const replies = await Promise.all(
    names.map((name) => service.client.upsert(urn, "tagProperties", { name })),
  );
  expect(replies.map((reply) => reply.status)).toEqual(names.map(() => 200));
  const found = new Set<string>();
  for (let version = 1; version <= writers; version++) {
    const { body } = await service.client.get(
      `/aspects/${encoded(urn)}?aspect=tagProperties&version=${version}`,
    );
    found.add(body.aspect["com.linkedin.tag.TagProperties"].name);
  }
  expect(found).toEqual(new Set(names));
});

test("one of several concurrent writes that expect the same version succeeds", async () => {
  const urn = "urn:li:tag:contested";
  await service.client.upsert(urn, "tagProperties", { name: "first" });
  const replies = await Promise.all(
    Array.from({ length: writers }, (_, n) =>
      service.client.upsert(
        urn,
        "tagProperties",
        { name: `racer ${n}` },
        { headers: { "If-Version-Match": "1" } },
      ),
    ),
  );
  const statuses = replies.map((reply) => reply.status).sort();
  expect(statuses).toEqual([200, ...Array.from({ length: writers - 1 }, () => 422)]);
});

test("one of several concurrent CREATEs succeeds", async () => {
  const urn = "urn:li:tag:new";
  const replies = await Promise.all(
    Array.from({ length: writers }, (_, n) =>
      service.client.call("POST", INGEST, {
        proposal: proposal(urn, "tagProperties", { name: `n${n}` }, { changeType: "CREATE" }),
      }),
    ),
  );
  expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1);
});

test("every kind of read reflects an acknowledged write while other writes run", async () => {
  let stop = false;
  const noise = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; !stop; n++) {
      const urn = `urn:li:tag:noise-${writer}-${n}`;
      await service.client.upsert(urn, "tagProperties", { name: "n" });
    }
  });
  const counted = async (): Promise<number> =>
    (
      await service.client.call("POST", "/entities?action=getTotalEntityCount", {
        entity: "corpuser",
      })
    ).body.value;
  const before = await counted();
  for (let n = 0; n < 30; n++) {
    const urn = `urn:li:corpuser:u${n}`;
    const email = `${n}@example.org`;
    await service.client.upsert(urn, "corpUserInfo", { active: true, email });
    const { body: entity } = await service.client.get(`/entitiesV2/${encoded(urn)}`);
    expect(entity.aspects.corpUserInfo.value.email).toBe(email);
    const { body: aspect } = await service.client.get(
      `/aspects/${encoded(urn)}?aspect=corpUserInfo&version=1`,
    );
    expect(aspect.version).toBe(1);
    expect(await counted()).toBe(before + n + 1);
    const { body: urns } = await service.client.call("POST", "/entities?action=listUrns", {
      entity: "corpuser",
      start: 0,
      count: 100,
    });
    expect(urns.value.entities).toContain(urn);
  }
  stop = true;
  await Promise.all(noise);
});

test("a write is decided again when another writer of the log appended to its entity", async () => {
  const urn = "urn:li:tag:shared";
  await service.client.upsert(urn, "tagProperties", { name: "first" });
  const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
  try {
    const stream = entityStream(urn);
    for (let n = 0; n < 20; n++) {
      const [last] = await log.readStream(stream, "end", { limit: 1, backward: true });
      const change = last && decodeRecord(last);
      if (last === undefined || change === undefined) throw new Error("the stream has no records");
      // The same value in the same version, written again.
      const records = [encodeChange({ ...change, changeType: "RESTATE" })];
      await log.append([{ stream, expected: last.revision, records }]);
      const { status } = await service.client.upsert(urn, "tagProperties", { name: `name ${n}` });
      expect(status).toBe(200);
    }
  } finally {
    await log.close();
  }
});
