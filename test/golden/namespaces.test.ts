/** Every urn namespace is accepted on input, wherever a request may name a urn. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
  const urn = "urn:other:dataset:(urn:other:dataPlatform:hive,seeds,PROD)";
  await service.client.upsert(urn, "status", { removed: false });
  await service.client.upsert(urn, "datasetUsageStatistics", {
    timestampMillis: 1,
    userCounts: [{ user: "urn:other:corpuser:ada", count: 1 }],
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

test.each([
  ["urn:li:dataset:%", 1],
  ["urn:acme:dataset:%", 1],
  ["urn:acme:data%", 1],
  ["urn:acme:%", 1],
  ["%urn:acme:dataPlatform:hive,%", 1],
  ["urn:acme:tag:%", 0],
  ["urn:%", 1],
])("getCount of urns like %s is %d", async (urnLike, count) => {
  const reply = await service.client.call("POST", "/aspects?action=getCount", {
    aspect: "status",
    urnLike,
  });
  expect(reply.body).toEqual({ value: count });
});

test("a filter of timeseries events accepts any namespace", async () => {
  const values = async (user: string) => {
    const filter = { or: [{ and: [{ field: "userCounts.user", values: [user] }] }] };
    const reply = await service.client.call("POST", "/aspects?action=getTimeseriesAspectValues", {
      urn: "urn:acme:dataset:(urn:acme:dataPlatform:hive,seeds,PROD)",
      entity: "dataset",
      aspect: "datasetUsageStatistics",
      filter,
    });
    return reply.body.value.values.length;
  };
  expect(await values("urn:acme:corpuser:ada")).toBe(1);
  expect(await values("urn:li:corpuser:ada")).toBe(1);
  expect(await values("urn:acme:corpuser:bo")).toBe(0);
});

test("the actor header accepts any namespace", async () => {
  const urn = "urn:li:tag:acted";
  const proposal = {
    entityType: "tag",
    entityUrn: urn,
    changeType: "UPSERT",
    aspectName: "status",
    aspect: { value: '{"removed":false}' },
  };
  await service.client.call(
    "POST",
    "/aspects?action=ingestProposal",
    { proposal },
    { "X-Service-Actor": "urn:acme:corpuser:ada" },
  );
  const read = await service.client.get(`/entitiesV2/${encodeURIComponent(urn)}`);
  expect(read.body.aspects.status.created.actor).toBe("urn:li:corpuser:ada");
});
