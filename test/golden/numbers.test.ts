/**
 * Digits of numbers: an endpoint rejects numbers that it cannot represent exactly, and every
 * endpoint returns accepted numbers with all the digits of the log.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const DATASET = "urn:li:dataset:(urn:li:dataPlatform:hive,numbers.counted,PROD)";
const MODEL = "urn:li:mlModel:(urn:li:dataPlatform:hive,numbers,PROD)";
const TIME = 1_700_000_000_000;
const json = (value: string) => ({ aspect: { value, contentType: "application/json" } });

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service?.[Symbol.asyncDispose]());

async function textOf(method: string, path: string, body?: unknown): Promise<string> {
  const answer = await fetch(`${service.address}${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect(answer.status, `${path}: ${text}`).toBe(200);
  // Some endpoints return an aspect as a JSON string.
  return text.replaceAll("\\", "");
}

const past = "9007199254740993";
const created = `{"name":"x","created":{"time":${past}}}`;
const snapshot = `{"entity":{"value":{"com.linkedin.metadata.snapshot.DatasetSnapshot":{"urn":"${DATASET}","aspects":[{"com.linkedin.dataset.DatasetProperties":${created}}]}}}}`;
const patch = json(`[{"op":"add","path":"/created","value":{"time":${past}}}]`);

test.each<[string, unknown]>([
  [
    "/aspects?action=ingestProposal",
    { proposal: { ...proposal(DATASET, "datasetProperties", {}), ...json(created) } },
  ],
  [
    "/aspects?action=ingestProposal",
    {
      proposal: { ...proposal(DATASET, "datasetProperties", {}), ...patch, changeType: "PATCH" },
    },
  ],
  ["/entities?action=ingest", snapshot],
  [
    "/openapi/v3/entity/dataset?async=false",
    `[{"urn":"${DATASET}","datasetProperties":{"value":${created}}}]`,
  ],
  [
    "/openapi/entities/v1/",
    `[{"entityType":"dataset","entityUrn":"${DATASET}","aspect":{"__type":"DatasetProperties","name":"x","created":{"time":${past}}}}]`,
  ],
])("%s rejects integers that it cannot represent exactly", async (path, body) => {
  const { status, body: answer } = await service.client.call("POST", path, body);
  expect([status, JSON.stringify(answer)]).toEqual([
    path.startsWith("/openapi/") ? 400 : 422,
    expect.stringContaining("2"),
  ]);
  expect(answer.message).toMatch(
    /\/created\/time :: a number near 9007199254740992 is out of range for Long/,
  );
});

test("a start beyond exact integers is rejected, and the message names no number that was not sent", async () => {
  const asked = `/relationships?direction=OUTGOING&urn=${encoded(DATASET)}&types=OwnedBy`;
  const { status, body } = await service.client.get(`${asked}&start=${past}`);
  expect([status, body.message]).toEqual([
    400,
    expect.stringContaining("start is a number near 9007199254740992"),
  ]);
});

test.each(["9007199254740991", "-9007199254740991"])(
  "the integer %s has all its digits at every endpoint",
  async (digits) => {
    const operation = `{"timestampMillis":${TIME},"operationType":"INSERT","lastUpdatedTimestamp":${TIME},"numAffectedRows":${digits}}`;
    const systemMetadata = { runId: `run${digits}`, lastObserved: TIME };
    const reply = await service.client.upsert(
      DATASET,
      "operation",
      {},
      { ...json(operation), systemMetadata },
    );
    expect(reply.body).toEqual({ value: "success" });
    const asked = { urn: DATASET, entity: "dataset", aspect: "operation", limit: 1 };
    const answers = [
      await textOf("POST", "/aspects?action=getTimeseriesAspectValues", asked),
      await textOf("GET", "/openapi/v2/timeseries/dataset/operation?count=1"),
      await textOf("GET", "/changes?aspect=operation&after=0&limit=100"),
      await textOf(
        "GET",
        "/openapi/v1/events/poll?topic=MetadataChangeLog_Timeseries_v1&offsetId=0&limit=1000&pollTimeoutSeconds=1",
      ),
      await textOf("POST", "/runs?action=describe", {
        ...{ runId: systemMetadata.runId, start: 0, count: 10, includeAspect: true },
      }),
      await textOf("POST", "/api/graphql", {
        query: `{ dataset(urn: ${JSON.stringify(DATASET)}) { operations(limit: 1) { numAffectedRows } } }`,
      }),
    ];
    for (const answer of answers) expect(answer).toContain(`"numAffectedRows":${digits}`);
  },
);

test.each([
  ["0.1", "0.1"],
  ["1.7976931348623157e308", "1.7976931348623157e+308"],
  ["5e-324", "5e-324"],
  ["123456789012345680000", "123456789012345680000"],
])("the number %s has all its digits at every endpoint", async (written, digits) => {
  const cost = `{"costType":"ORG_COST_TYPE","cost":{"costId":${written}}}`;
  const systemMetadata = { runId: `run${written}`, lastObserved: TIME };
  const reply = await service.client.upsert(MODEL, "cost", {}, { ...json(cost), systemMetadata });
  expect(reply.body).toEqual({ value: "success" });
  const { body } = await service.client.get(`/entitiesV2/${encoded(MODEL)}`);
  const { version } = body.aspects.cost.systemMetadata;
  const stamp = encoded(`(${MODEL} , cost:${version})`);
  const answers = [
    await textOf("GET", `/entitiesV2/${encoded(MODEL)}`),
    await textOf("GET", `/entities/${encoded(MODEL)}`),
    await textOf("GET", `/aspects/${encoded(MODEL)}?aspect=cost&version=${version}`),
    await textOf("GET", `/entitiesVersionedV2?entityType=mlModel&ids=List(${stamp})`),
    await textOf("GET", `/openapi/v3/entity/mlModel/${encoded(MODEL)}/cost?version=${version}`),
    await textOf("GET", `/openapi/v3/entity/mlModel/${encoded(MODEL)}`),
    await textOf("GET", `/openapi/v2/entity/mlModel/${encoded(MODEL)}`),
    await textOf("GET", `/openapi/entities/v1/latest?urns=${encoded(MODEL)}`),
    await textOf("POST", "/openapi/v3/entity/mlModel/batchGet", [
      { urn: MODEL, cost: { headers: { "If-Version-Match": version } } },
    ]),
    await textOf("GET", "/changes?aspect=cost&after=0&limit=100&previous=true"),
    await textOf(
      "GET",
      "/openapi/v1/events/poll?topic=MetadataChangeLog_Versioned_v1&offsetId=0&limit=1000&pollTimeoutSeconds=1",
    ),
    await textOf("POST", "/runs?action=describe", {
      ...{ runId: systemMetadata.runId, start: 0, count: 10, includeAspect: true },
    }),
  ];
  for (const answer of answers) expect(answer).toContain(`"costId":${digits}`);
});

test("a time range beyond long integers is returned clamped to the exact integers", async () => {
  const body = `{"urn":"${DATASET}","entity":"dataset","aspect":"operation","startTimeMillis":-9223372036854775808,"endTimeMillis":9223372036854775807}`;
  const reply = await service.client.call(
    "POST",
    "/aspects?action=getTimeseriesAspectValues",
    body,
  );
  expect(reply).toMatchObject({
    status: 200,
    body: {
      value: {
        startTimeMillis: Number.MIN_SAFE_INTEGER,
        endTimeMillis: Number.MAX_SAFE_INTEGER,
      },
    },
  });
  expect(reply.body.value.values).not.toHaveLength(0);
});
