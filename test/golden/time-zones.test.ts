/** Every interface rejects a time zone that is neither in the IANA database nor an offset. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const source = (timezone: string) =>
  proposal("urn:li:dataHubIngestionSource:zoned", "dataHubIngestionSourceInfo", {
    ...{ name: "zoned", type: "mysql", config: { recipe: "{}" } },
    schedule: { interval: "5 4 * * *", timezone },
  });
const ingest = (timezone: string) =>
  service.client.call("POST", "/aspects?action=ingestProposal", { proposal: source(timezone) });

test("a proposal of an ingestion source has a time zone that exists", async () => {
  for (const timezone of ["", " ", "Mars", "+99:00"]) {
    expect(await ingest(timezone), timezone).toMatchObject({
      ...{ status: 422, body: { message: expect.stringContaining("/schedule/timezone") } },
    });
  }
  for (const timezone of ["UTC", "Europe/Berlin", "+02:00"]) {
    expect((await ingest(timezone)).status, timezone).toBe(200);
  }
});

test("usage statistics have a time zone that exists", async () => {
  const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,zoned,PROD)";
  await service.client.upsert(urn, "status", { removed: false });
  const query = `query($timeZone: String) {
    dataset(urn: "${urn}") { usageStats(range: DAY, timeZone: $timeZone) { buckets { bucket } } }
  }`;
  for (const timeZone of ["", "Mars"]) {
    const { body } = await service.client.call("POST", "/api/graphql", {
      ...{ query, variables: { timeZone } },
    });
    expect(body.errors?.[0]?.extensions?.code, timeZone).toBe(400);
  }
});
