/** The endpoints of OpenLineage on the real service. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { facetEvents, ORDERS, PRODUCER, REVENUE, RUN_ID, runEvent } from "./facet-events.ts";

const PATH = "/openapi/openlineage/api/v1/lineage";
const JOB = "urn:li:dataJob:(urn:li:dataFlow:(python,nightly,shop),nightly.load_revenue)";
const OUTPUT = "urn:li:dataset:(urn:li:dataPlatform:postgres,shop.mart.revenue,PROD)";
const RUN = `urn:li:dataProcessInstance:${RUN_ID}`;

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

async function post(body: unknown, path = PATH, to = service) {
  const reply = await fetch(`${to.address}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json; charset=UTF-8" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: reply.status, text: await reply.text(), headers: reply.headers };
}

async function aspects(urn: string, of = service): Promise<Record<string, unknown>> {
  const reply = await fetch(`${of.address}/entitiesV2/${encodeURIComponent(urn)}`);
  const { aspects: found } = (await reply.json()) as {
    aspects: Record<string, { value: unknown }>;
  };
  return Object.fromEntries(Object.entries(found).map(([name, { value }]) => [name, value]));
}

test.each([PATH, "/api/v1/lineage", "/gms/api/v1/lineage"])(
  "%s accepts a run event without a body in its reply",
  async (path) => {
    expect(await post(runEvent(), path)).toMatchObject({ status: 200, text: "" });
  },
);

test("a compressed event is read", async () => {
  const reply = await fetch(`${service.address}/api/v1/lineage`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Content-Encoding": "gzip" },
    body: gzipSync(JSON.stringify(runEvent())),
  });
  expect(reply.status).toBe(200);
});

test("a job event and a dataset event are accepted", async () => {
  const { run: _, eventType: __, ...jobEvent } = runEvent();
  expect(await post(jobEvent)).toMatchObject({ status: 200, text: "" });
  expect(await post(facetEvents["dataset lineage"])).toMatchObject({ status: 200, text: "" });
});

test("nulls, unknown members and old schemas are accepted", async () => {
  const event = runEvent(
    { run: { nominalTime: null as never, unknown_facet: { deep: [null, { a: null }] } } },
    { schemaURL: "https://openlineage.io/spec/1-0-5/OpenLineage.json", dataset: {}, more: [1] },
  );
  expect(await post(event)).toMatchObject({ status: 200, text: "" });
});

test("a location that no page may link to becomes a custom property", async () => {
  const sourceCodeLocation = { type: "git", url: "javascript:alert(1)" };
  expect(await post(runEvent({ job: { sourceCodeLocation } }))).toMatchObject({ status: 200 });
  const { dataJobInfo } = await aspects(JOB);
  expect(dataJobInfo).toMatchObject({
    customProperties: { "sourceCodeLocation.url": "javascript:alert(1)" },
  });
  expect(dataJobInfo).not.toHaveProperty("externalUrl");
});

test("an event of a job ignores a dataset beside it", async () => {
  const event = { ...runEvent(), run: undefined, dataset: "x" };
  expect(await post(event)).toMatchObject({ status: 200, text: "" });
});

describe("an invalid event is rejected with 400", () => {
  test.each([
    ["no JSON", "{", "JSON"],
    ["a list", [runEvent()], "The body must be an object"],
    ["an empty object", {}, "none of run, job and dataset"],
    ["no job", { ...runEvent(), job: null }, "RunEvent has no job"],
    ["no producer", { ...runEvent(), producer: undefined }, "RunEvent has no producer"],
    ["no time", { ...runEvent(), eventTime: undefined }, "RunEvent has no eventTime"],
    ["another time", { ...runEvent(), eventTime: "yesterday" }, "is not a date-time"],
    ["a run of another shape", { ...runEvent(), run: "7" }, 'run must be object, not "7"'],
    ["a list for the job", { ...runEvent(), run: null, job: [] }, "job must be object, not []"],
    [
      "a number for the dataset",
      { ...runEvent(), run: null, job: null, dataset: 7 },
      "dataset must be object, not 7",
    ],
    ["a far future", { ...runEvent(), eventTime: "2999-01-01T00:00:00Z" }, "is in the future"],
    ["no such day", { ...runEvent(), eventTime: "2026-02-30T00:00:00Z" }, "is not a date-time"],
    ["no UUID", { ...runEvent(), run: { runId: "run-7" } }, 'run.runId is "run-7". Send a UUID'],
    ["another type", { ...runEvent(), eventType: "DONE" }, 'eventType is "DONE". Use one of'],
    ["no list", { ...runEvent(), inputs: {} }, "inputs must be array"],
    [
      "a facet of another shape",
      runEvent({ job: { sql: { query: 7 } } }),
      "job.facets.sql.query must be string, not 7",
    ],
    ["a facet that is a text", runEvent({ job: { custom: "x" as never } }), "must be object"],
  ])("%s", async (_, body, message) => {
    const { status, text } = await post(body);
    expect(JSON.parse(text)).toMatchObject({ code: "malformed" });
    expect(JSON.parse(text).message).toContain(message);
    expect(status).toBe(400);
  });
});

test("a name that is too long is rejected, and nothing of its event is written", async () => {
  const job = { namespace: "shop", name: "long.job" };
  const long = { ...ORDERS, name: "x".repeat(600) };
  const { status, text } = await post(runEvent({}, { job, outputs: [long] }));
  expect(status).toBe(400);
  expect(text).toContain("512");
  const written = await aspects("urn:li:dataJob:(urn:li:dataFlow:(python,long,shop),long.job)");
  expect(Object.keys(written)).toEqual(["dataJobKey"]);
});

test("an event of too many parts is rejected with 413", async () => {
  const tags = Array.from({ length: 10_001 }, (_, n) => ({ key: `t${n}`, value: "" }));
  const { status, text } = await post(runEvent({ output: { tags: { tags } } }));
  expect(status).toBe(413);
  expect(JSON.parse(text)).toMatchObject({ code: "too_large" });
});

describe("a batch", () => {
  const batch = `${PATH}/batch`;

  test("a batch writes every event", async () => {
    const { status, text } = await post([runEvent(), runEvent()], "/api/v1/lineage/batch");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({
      status: "success",
      summary: { received: 2, successful: 2, failed: 0, retriable: 0, non_retriable: 0 },
    });
  });

  test("a batch reports the events that failed, and writes the others", async () => {
    const dataset = { ...REVENUE, name: "shop.mart.of_batch" };
    const valid = { eventTime: "2026-03-02T06:15:00Z", producer: PRODUCER, dataset };
    const { status, text } = await post([{}, 7, valid], batch);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      status: "partial_success",
      summary: { received: 3, successful: 1, failed: 2, non_retriable: 2 },
      failed_events: [
        { index: 0, retriable: false },
        { index: 1, reason: expect.stringContaining("must be a JSON object") },
      ],
    });
    const urn = "urn:li:dataset:(urn:li:dataPlatform:postgres,shop.mart.of_batch,PROD)";
    expect(await aspects(urn)).toHaveProperty("openLineageState");
  });

  test("a body that is not a list, or has too many events, is rejected", async () => {
    expect(await post(runEvent(), batch)).toMatchObject({ status: 400 });
    const many = Array.from({ length: 1_001 }, () => ({}));
    expect(await post(many, batch)).toMatchObject({ status: 413 });
  });
});

test("a repeated event writes nothing, and another event of the run adds to it", async () => {
  const event = runEvent({}, { eventTime: "2026-03-02T08:00:00Z" });
  const first = await post(event);
  const again = await post(event);
  const position = (reply: typeof first) => Number(reply.headers.get("x-annals-position"));
  expect(position(again)).toBe(position(first));
});

test("the run has its states, and the raw event without secrets", async () => {
  await post(facetEvents["run environmentVariables"]);
  const read = async (aspect: string) => {
    const body = JSON.stringify({ urn: RUN, entity: "dataProcessInstance", aspect });
    const path = "/aspects?action=getTimeseriesAspectValues";
    const { text } = await post(body, path);
    const { values } = JSON.parse(text).value;
    return values.map((one: { aspect: { value: string } }) => JSON.parse(one.aspect.value));
  };
  expect(await read("dataProcessInstanceRunEvent")).toContainEqual(
    expect.objectContaining({ status: "COMPLETE", messageId: "COMPLETE" }),
  );
  const raw = JSON.stringify(await read("openLineageEvent"));
  expect(raw).toContain("API_TOKEN");
  expect(raw).not.toContain("t0psecret");
});

test("the job has its lineage in the graph", async () => {
  const query = `direction=OUTGOING&types=List(Consumes)&urn=${encodeURIComponent(JOB)}`;
  const reply = await fetch(`${service.address}/relationships?${query}`);
  expect(JSON.stringify(await reply.json())).toContain("shop.public.orders");
});

test("all facets in two orders have the same result", async () => {
  await using forward = await runningService();
  await using backward = await runningService();
  const events = Object.values(facetEvents);
  expect((await post(events, `${PATH}/batch`, forward)).text).toContain('"failed":0');
  await post([...events].reverse(), `${PATH}/batch`, backward);
  await post(events, `${PATH}/batch`, backward);
  for (const urn of [JOB, OUTPUT, RUN]) {
    expect(await aspects(urn, backward)).toEqual(await aspects(urn, forward));
  }
});
