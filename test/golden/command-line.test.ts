/**
 * Requests of DataHub's command line, as it sends them, and the members of the responses that it
 * reads: timelines, runs and their rollback.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
  await send("/aspects?action=ingestProposalBatch", {
    proposals: [tagged, documented],
    async: "true",
  });
});
afterAll(() => service[Symbol.asyncDispose]());

const headers = {
  ...{ "X-RestLi-Protocol-Version": "2.0.0", "X-DataHub-Client-Mode": "CLI" },
  "X-DataHub-Py-Cli-Version": "1.6.0.16",
  "User-Agent": "DataHub-Client/1.0 (cli; 1.6.0.16) python-requests/2.32",
};

const urn = "urn:li:dataset:(urn:li:dataPlatform:kafka,SampleKafkaDataset,PROD)";
const key =
  "urn%3Ali%3Adataset%3A%28urn%3Ali%3AdataPlatform%3Akafka%2CSampleKafkaDataset%2CPROD%29";
const runId = "file-2026_11_21-19_34_36-cli";

const proposalOf = (aspectName: string, value: object) => ({
  ...{ entityType: "dataset", entityUrn: urn, changeType: "UPSERT", aspectName },
  aspect: { value: JSON.stringify(value), contentType: "application/json" },
  systemMetadata: {
    ...{ lastObserved: 1_758_537_741_905, runId, lastRunId: "no-run-id-provided" },
    ...{ pipelineName: "cli_pipe", properties: { clientId: "acryl-datahub" } },
  },
});
const tagged = proposalOf("globalTags", { tags: [{ tag: "urn:li:tag:Legacy" }] });
const documented = proposalOf("editableDatasetProperties", { description: "rides" });

async function send(path: string, body: object) {
  const { status, body: answer } = await service.client.call("POST", path, body, headers);
  expect(status).toBe(200);
  return answer.value;
}

const timelinePath = `/openapi/v2/timeline/v1/${key}?categories=TAG,OWNERSHIP,DOCUMENTATION`;

describe("datahub timeline", () => {
  test("datahub timeline reads the version, and the operation, category and description of each event", async () => {
    const { status, body } = await service.client.call("GET", timelinePath, undefined, headers);
    expect(status).toBe(200);
    expect(body[0]).toMatchObject({
      ...{ timestamp: expect.any(Number), semVer: "0.0.0-computed", semVerChange: "MINOR" },
      changeEvents: [
        {
          ...{ operation: "ADD", category: "TAG", modifier: "urn:li:tag:Legacy", entityUrn: urn },
          ...{ semVerChange: "MINOR", description: expect.any(String) },
        },
        { operation: "ADD", category: "DOCUMENTATION", entityUrn: urn },
      ],
    });
  });

  test("datahub timeline sends bounds and flags in the notation of Python", async () => {
    const asked = `${timelinePath}&startTime=1&endTime=${Date.now() + 60_000}&raw=True`;
    const { body } = await service.client.call("GET", asked, undefined, headers);
    expect(body[0].rawDiff.slice(0, 2)).toEqual([
      { op: "add", path: "/tags", value: [{ tag: "urn:li:tag:Legacy" }] },
      { op: "add", path: "/description", value: "rides" },
    ]);
  });
});

describe("datahub ingest", () => {
  test("datahub ingest list-runs reads runId, rows and timestamp of each run", async () => {
    const asked = { pageOffset: 0, pageSize: 100, includeSoft: false };
    const [run] = await send("/runs?action=list", asked);
    expect(run).toEqual({ runId, rows: 6, timestamp: expect.any(Number) });
  });

  test("datahub ingest show reads urn, aspectName and timestamp of each row", async () => {
    const asked = { runId, start: 0, count: 100, includeSoft: false, includeAspect: false };
    const rows = await send("/runs?action=describe", asked);
    expect(rows).toHaveLength(6);
    expect(rows).toContainEqual({
      ...{ runId, urn, aspectName: "globalTags", timestamp: 1_758_537_741_905 },
      ...{ version: 1, keyAspect: false, metadata: "" },
    });
    const whole = await send("/runs?action=describe", { ...asked, includeAspect: true });
    const row = whole.find(
      (one: { aspectName: string }) => one.aspectName === "editableDatasetProperties",
    );
    expect(row.aspect).toMatchObject({ type: "VERSIONED", value: { description: "rides" } });
  });

  test("datahub ingest rollback reads rows and counts of a dry run, a safe rollback and a hard one", async () => {
    const rollback = (body: object) => send("/runs?action=rollback", { runId, ...body });
    const dry = await rollback({ dryRun: true, safe: true });
    expect(dry).toMatchObject({
      ...{ entitiesAffected: 1, entitiesDeleted: 1, aspectsReverted: 5, aspectsAffected: 0 },
      ...{ unsafeEntitiesCount: 0, unsafeEntities: [] },
    });
    expect(dry.aspectRowSummaries.every((row: { runId: string }) => row.runId === runId)).toBe(
      true,
    );
    expect(await rollback({ dryRun: false, safe: true })).toEqual(dry);
    const read = `/aspects/${key}?aspect=datasetKey&version=0`;
    expect((await service.client.call("GET", read, undefined, headers)).status).toBe(200);
    expect(await rollback({ dryRun: false, safe: false })).toMatchObject({ entitiesDeleted: 1 });
    expect((await service.client.call("GET", read, undefined, headers)).status).toBe(404);
  });
});

test("datahub timeline shows no history after a hard rollback", async () => {
  const { status, body } = await service.client.call("GET", timelinePath, undefined, headers);
  expect([status, body]).toEqual([200, []]);
});
