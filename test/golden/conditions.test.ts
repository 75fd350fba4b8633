/**
 * Conditional writes over HTTP: conditions in the headers of a proposal, and in the headers of the
 * request.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

let count = 0;
/** Creates a new tag with two values of tagProperties. */
async function tagWithTwoValues(): Promise<string> {
  const urn = `urn:li:tag:t${++count}`;
  await service.client.upsert(urn, "tagProperties", { name: "one" });
  await service.client.upsert(urn, "tagProperties", { name: "two" });
  return urn;
}

type Headers = Record<string, string>;
const write = (urn: string, headers: Headers, more: object = {}) =>
  service.client.call(
    "POST",
    "/aspects?action=ingestProposal",
    { proposal: proposal(urn, "tagProperties", { name: `n${++count}` }, more) },
    headers,
  );
const rejected = (message: string, status = 422) => ({
  status,
  body: { message: expect.stringContaining(message) },
});
const HOUR = 3_600_000;
const iso = (from: number) => new Date(Date.now() + from).toISOString();
const httpDate = (from: number) => new Date(Date.now() + from).toUTCString();

describe("conditions in the headers of the request", () => {
  test.each<readonly [Headers, string | undefined]>([
    [{ "If-Version-Match": "2" }, undefined],
    [{ "if-version-match": "1" }, "Expected version 1, actual version 2"],
    [{ "If-Version-Match": "-1" }, "Expected version -1, actual version 2"],
    [{ "If-Unmodified-Since": iso(HOUR) }, undefined],
    [{ "If-Unmodified-Since": iso(-HOUR) }, "modified since"],
    [{ "If-Unmodified-Since": httpDate(-HOUR) }, "modified since"],
    [{ "If-Modified-Since": httpDate(-HOUR) }, undefined],
    [{ "If-Modified-Since": iso(HOUR) }, "not modified since"],
  ])("%j act like those of the proposal", async (headers, message) => {
    const urn = await tagWithTwoValues();
    for (const more of [{ asHttp: headers }, { asProposal: headers }]) {
      const reply = await write(urn, more.asHttp ?? {}, { headers: more.asProposal ?? {} });
      if (message !== undefined) {
        expect(reply).toMatchObject(rejected(message));
        expect(reply.body.failedCondition).toBe(true);
      } else expect(reply.status).toBe(200);
      if (headers["If-Version-Match"] === "2") break;
    }
  });

  test("are overridden by those of the proposal, in any letter case", async () => {
    const urn = await tagWithTwoValues();
    const headers = { "If-Version-Match": "7" };
    expect(await write(urn, headers)).toMatchObject(rejected("Expected version 7"));
    const more = { headers: { "if-version-match": "2" } };
    expect((await write(urn, headers, more)).status).toBe(200);
  });

  test("apply to each member of a batch", async () => {
    const [a, b] = [await tagWithTwoValues(), "urn:li:tag:fresh"];
    const proposals = [a, b].map((urn) => proposal(urn, "tagProperties", { name: "three" }));
    const send = (headers: Headers) =>
      service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals }, headers);
    expect(await send({ "If-Version-Match": "2" })).toMatchObject(
      rejected("proposals[1]: Expected version 2, actual version -1"),
    );
    expect((await send({ "If-Unmodified-Since": iso(HOUR) })).status).toBe(200);
  });

  test.each([
    ["/entities?action=ingest", { entity: { value: {} } }],
    ["/entities?action=batchIngest", { entities: [] }],
    ["/entities?action=delete", { urn: "urn:li:tag:t1" }],
    ["/usageStats?action=batchIngest", { buckets: [] }],
  ])("are rejected by %s, which supports none", async (path, body) => {
    const reply = await service.client.call("POST", path, body, { "If-Version-Match": "1" });
    expect(reply).toMatchObject(rejected("If-Version-Match", 400));
    expect(reply.body.message).toContain("ingestProposal");
  });

  test("are ignored by reads, because caches send them", async () => {
    const urn = encodeURIComponent(await tagWithTwoValues());
    const reply = await service.client.call("GET", `/entitiesV2/${urn}`, undefined, {
      "If-None-Match": '"abc"',
      "If-Modified-Since": httpDate(HOUR),
    });
    expect(reply.status).toBe(200);
  });

  test("with other HTTP condition headers are rejected", async () => {
    const reply = await write(await tagWithTwoValues(), { "If-Match": '"2"' });
    expect(reply).toMatchObject(rejected("If-Match", 400));
    expect(reply.body.message).toContain("If-Version-Match");
  });
});

describe("If-None-Match", () => {
  test("skips a CREATE of an existing aspect", async () => {
    const urn = await tagWithTwoValues();
    const more = { changeType: "CREATE" };
    expect(await write(urn, {}, more)).toMatchObject(rejected("Cannot perform CREATE"));
    expect((await write(urn, { "If-None-Match": "*" }, more)).status).toBe(200);
    const read = await service.client.get(
      `/aspects/${encodeURIComponent(urn)}?aspect=tagProperties`,
    );
    expect(read.body.aspect["com.linkedin.tag.TagProperties"].name).toBe("two");
  });

  test.each(["UPSERT", "UPDATE", "RESTATE", "PATCH", "DELETE"])(
    "is rejected with %s, which does not support it",
    async (changeType) => {
      const urn = await tagWithTwoValues();
      const more = { changeType, headers: { "If-None-Match": "*" } };
      const reply = await write(urn, {}, more);
      expect(reply).toMatchObject(rejected(`If-None-Match is not allowed with ${changeType}`));
      expect(reply.body.message).toContain("CREATE");
    },
  );

  test("is rejected with any value but *", async () => {
    const reply = await write(await tagWithTwoValues(), { "If-None-Match": '"2"' });
    expect(reply).toMatchObject(rejected('header If-None-Match is ""2""', 400));
  });
});

test("a timeseries aspect has no conditions, because each value is a separate event", async () => {
  const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,seeds,PROD)";
  const more = { headers: { "If-Version-Match": "1" } };
  const reply = await service.client.upsert(urn, "datasetProfile", { timestampMillis: 1 }, more);
  expect(reply).toMatchObject(rejected("If-Version-Match"));
  expect(reply.body.message).toContain("timeseries");
});
