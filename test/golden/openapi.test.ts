/**
 * The OpenAPI endpoints of a running service: values written there are read there and at every
 * other endpoint.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  service.client.call(method, path, body, headers);
const datasetOf = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:s3,${name},PROD)`;
const properties = (name: string, more: object = {}) => ({
  datasetProperties: { value: { name, ...more } },
});
const readAt = (path: string, position: number | undefined) =>
  call("GET", path, undefined, { "X-Annals-Min-Position": String(position) });
const pages = async <T>(path: string, body: unknown, items: (reply: unknown) => readonly T[]) => {
  const all: T[] = [];
  for (let scrollId: string | undefined, i = 0; i < 100; i++) {
    const more = scrollId === undefined ? "" : `&scrollId=${encodeURIComponent(scrollId)}`;
    const { status, body: page } = await call("POST", path + more, body);
    expect(status, JSON.stringify(page)).toBe(200);
    all.push(...items(page));
    scrollId = page.scrollId;
    if (scrollId === undefined) return all;
  }
  throw new Error("there is no end");
};

describe.each(["v3", "v2"] as const)("entities of %s", (version) => {
  const base = `/openapi/${version}/entity`;
  const aspectsOf = (entity: Record<string, unknown>) =>
    (version === "v3" ? entity : entity.aspects) as Record<string, { value: unknown }>;

  test("a written entity is in the response, in reads, and at other endpoints", async () => {
    const urn = datasetOf(`${version}/written`);
    const reply = await call("POST", `${base}/dataset?async=false`, [
      { urn, ...properties("one"), status: { value: { removed: false } } },
    ]);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect(aspectsOf(reply.body[0]).datasetProperties?.value).toMatchObject({ name: "one" });
    expect(reply.headers.get("traceparent")).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);

    const read = await call("GET", `${base}/dataset/${encoded(urn)}`);
    expect(Object.keys(aspectsOf(read.body))).toEqual(
      expect.arrayContaining(["datasetKey", "status", "datasetProperties", "browsePathsV2"]),
    );
    expect(aspectsOf(read.body).status).toEqual({ value: { removed: false } });
    const other = await call("GET", `/aspects/${encoded(urn)}?aspect=datasetProperties&version=0`);
    expect(other.body.aspect["com.linkedin.dataset.DatasetProperties"].name).toBe("one");
    // The path may have the urn unencoded, and the names in any letter case.
    const raw = await call("GET", `${base}/DATASET/${urn}/datasetproperties?systemMetadata=true`);
    expect(raw.body).toMatchObject({
      value: { name: "one" },
      systemMetadata: { version: "1" },
      auditStamp: { time: expect.any(Number) },
    });
    expect((await call("GET", `${base}/dataset/${urn}`)).body.urn).toBe(urn);
  });

  test("an asynchronous write is answered with 202, and a read shows it", async () => {
    const urn = datasetOf(`${version}/async`);
    expect((await call("POST", `${base}/dataset`, [{ urn, ...properties("a") }])).status).toBe(202);
    const patch = [{ op: "add", path: "/description", value: "patched" }];
    const patched = await call("PATCH", `${base}/dataset`, [
      { urn, datasetProperties: { value: { patch } } },
    ]);
    expect([patched.status, patched.body]).toEqual([202, ""]);
    const read = await call("GET", `${base}/dataset/${encoded(urn)}/datasetProperties`);
    expect(read.body.value).toMatchObject({ name: "a", description: "patched" });
  });

  test("a patch that creates an entity returns the default aspects that it wrote", async () => {
    const urn = datasetOf(`${version}/patched`);
    const patch = [{ op: "add", path: "/name", value: "new" }];
    const names = expect.arrayContaining(["datasetProperties", "browsePaths", "browsePathsV2"]);
    const member = { urn, datasetProperties: { value: { patch } } };
    const { body } = await call("PATCH", `${base}/dataset?async=false`, [member]);
    expect(Object.keys(aspectsOf(body[0]))).toEqual(names);
    const again = await call("PATCH", `${base}/dataset?async=false`, [member]);
    expect(Object.keys(aspectsOf(again.body[0])).sort()).toEqual(
      version === "v3" ? ["datasetProperties", "urn"] : ["datasetProperties"],
    );
    const other = `${base}/dataset/${encoded(`${urn.slice(0, -6)}-one,PROD)`)}/datasetProperties`;
    expect(Object.keys(aspectsOf((await call("PATCH", other, { patch })).body))).toEqual(names);
  });

  test("an asynchronous response carries the trace id in its system metadata", async () => {
    const urn = datasetOf(`${version}/traced`);
    const write = await call("POST", `${base}/dataset?async=true`, [{ urn, ...properties("a") }]);
    const telemetryTraceId = write.headers.get("traceparent")?.split("-")[1];
    expect(aspectsOf(write.body[0]).datasetProperties).toMatchObject({
      ...{ value: { name: "a" }, systemMetadata: { properties: { telemetryTraceId } } },
    });
    const sync = await call("POST", `${base}/dataset?async=false`, [{ urn, ...properties("b") }]);
    expect(aspectsOf(sync.body[0]).datasetProperties).not.toHaveProperty("systemMetadata");
  });

  test("HEAD answers whether an entity exists, with soft-deleted ones on request", async () => {
    const urn = datasetOf(`${version}/head`);
    const head = (rest: string) => call("HEAD", `${base}/dataset/${encoded(urn)}${rest}`);
    expect((await head("")).status).toBe(404);
    expect((await head("/status")).status).toBe(404);
    await call("POST", `${base}/dataset`, [{ urn, status: { value: { removed: true } } }]);
    expect((await head("")).status).toBe(404);
    expect((await head("?includeSoftDelete=true")).status).toBe(204);
    expect((await head("/status?includeSoftDelete=true")).status).toBe(204);
    expect((await head("/ownership?includeSoftDelete=true")).status).toBe(404);
  });

  test("an aspect is created, written again, patched, read by version, and deleted", async () => {
    const urn = datasetOf(`${version}/aspect`);
    const path = `${base}/dataset/${encoded(urn)}/datasetProperties`;
    const shown = (name: string) => {
      const aspects = { datasetProperties: { value: expect.objectContaining({ name }) } };
      return version === "v3" ? { urn, ...aspects } : { urn, aspects };
    };
    // The v2 body is the aspect itself.
    const sent = (name: string) => (version === "v3" ? { value: { name } } : { name });
    expect((await call("POST", path, sent("one"))).body).toEqual(shown("one"));
    const again = await call("POST", path, { value: { name: "two" } });
    expect(again).toMatchObject({
      status: 412,
      body: { status: 412, code: "invalid", error: "Precondition Error" },
    });
    const written = await call("POST", `${path}?createIfNotExists=false`, {
      value: { name: "two" },
    });
    expect(written.body).toEqual(shown("two"));
    const patch = [{ op: "add", path: "/name", value: "three" }];
    expect((await call("PATCH", path, { patch })).body).toEqual(shown("three"));
    const versions = [1, 2, 0, -1].map(
      async (n) => (await call("GET", `${path}?version=${n}`)).body,
    );
    expect((await Promise.all(versions)).map(({ value }) => value.name)).toEqual([
      ...["one", "two", "three", "two"],
    ]);
    expect((await call("GET", `${path}?version=9`)).status).toBe(404);
    expect((await call("DELETE", path)).status).toBe(200);
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("DELETE", path)).status).toBe(404);
  });

  test("conditions work in the headers of a member and in those of the request", async () => {
    const urn = datasetOf(`${version}/conditions`);
    const write = (headers: object, own: Record<string, string> = {}) =>
      call(
        "POST",
        `${base}/dataset?async=false`,
        [{ urn, datasetProperties: { value: { name: "x" }, headers } }],
        own,
      );
    expect((await write({ "If-Version-Match": "-1" })).status).toBe(200);
    expect((await write({ "If-Version-Match": "-1" })).body.code).toBe("invalid");
    expect((await write({}, { "If-Version-Match": "7" })).body.message).toContain("version 7");
    expect((await write({}, { "If-Version-Match": "1" })).status).toBe(200);
  });

  test.each([
    ["", 400, "supports no conditions"],
    ["?aspects=status", 400, "supports no conditions"],
    ["?clear=true", 400, "supports no conditions"],
    ["/status", 412, "Expected version 7"],
    ["/datasetKey", 412, "Expected version 7"],
  ])("DELETE %j with a failing condition deletes nothing", async (more, status, message) => {
    const urn = datasetOf(`${version}/kept`);
    const path = `${base}/dataset/${urn}`;
    await call("POST", `${base}/dataset`, [{ urn, status: { value: { removed: false } } }]);
    const rejected = await call("DELETE", `${path}${more}`, undefined, { "If-Version-Match": "7" });
    expect(rejected).toMatchObject({ status, body: { message: expect.stringContaining(message) } });
    expect((await call("GET", `${path}/status`)).status).toBe(200);
  });

  test.each(["?aspects=status", "?clear=true"])(
    "DELETE %j with an idempotency key is rejected",
    async (more) => {
      const urn = datasetOf(`${version}/keyed`);
      const path = `${base}/dataset/${urn}`;
      await call("POST", `${base}/dataset`, [{ urn, status: { value: { removed: false } } }]);
      const key = { "Idempotency-Key": "k-parts" };
      const rejected = await call("DELETE", `${path}${more}`, undefined, key);
      expect(rejected).toMatchObject({ status: 400, body: { code: "malformed" } });
      expect((await call("GET", `${path}/status`)).status).toBe(200);
      expect((await call("DELETE", path, undefined, key)).status).toBe(200);
    },
  );

  test.each(["aspect", "aspectNames", "Aspects"])(
    "DELETE with the unknown parameter %s deletes nothing",
    async (name) => {
      const urn = datasetOf(`${version}/misspelt`);
      const path = `${base}/dataset/${urn}`;
      await call("POST", `${base}/dataset`, [{ urn, ...properties("d") }]);
      expect(await call("DELETE", `${path}?${name}=ownership`)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining(`unknown query parameter "${name}"`) },
      });
      expect((await call("GET", path)).status).toBe(200);
    },
  );

  test("an entity is deleted aspect by aspect, cleared, and deleted as a whole", async () => {
    const urn = datasetOf(`${version}/deleted`);
    const path = `${base}/dataset/${urn}`;
    const all = { ...properties("d"), status: { value: { removed: false } } };
    await call("POST", `${base}/dataset`, [{ urn, ...all }]);
    expect((await call("DELETE", `${path}?aspects=status&aspects=ownership`, [])).status).toBe(200);
    expect((await call("GET", `${path}/status`)).status).toBe(404);
    expect((await call("GET", `${path}/datasetProperties`)).status).toBe(200);
    expect((await call("DELETE", `${path}?clear=true`)).status).toBe(200);
    expect(Object.keys(aspectsOf((await call("GET", path)).body))).not.toContain(
      "datasetProperties",
    );
    expect((await call("DELETE", path, [])).status).toBe(200);
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("DELETE", path, [])).status).toBe(200);
  });

  test("a batch is read with the aspects and versions that each member requests", async () => {
    const urns = ["b1", "b2"].map((name) => datasetOf(`${version}/${name}`));
    for (const name of ["first", "second"]) {
      const members = urns.map((urn) => ({ urn, ...properties(name) }));
      await call("POST", `${base}/dataset`, members);
    }
    const reply = await call("POST", `${base}/dataset/batchGet`, [
      { urn: urns[0], datasetProperties: { headers: { "If-Version-Match": "1" } } },
      { urn: urns[1], datasetproperties: {}, datasetKey: {} },
      { urn: datasetOf("nowhere"), datasetProperties: {} },
    ]);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect(reply.body).toHaveLength(2);
    expect(aspectsOf(reply.body[0]).datasetProperties?.value).toMatchObject({ name: "first" });
    expect(aspectsOf(reply.body[1]).datasetProperties?.value).toMatchObject({ name: "second" });
    expect(aspectsOf(reply.body[1])).toHaveProperty("datasetKey");
    // In the v2 form of entities.
    const aspects = { datasetKey: {} };
    const [member] = (await call("POST", `${base}/dataset/batchGet`, [{ urn: urns[0], aspects }]))
      .body;
    expect(Object.keys(aspectsOf(member))).toContain("datasetKey");
  });

  test("pages of a list reach its end, with the requested aspects", async () => {
    const urns = Array.from({ length: 7 }, (_, i) => `urn:li:tag:${version}-list-${i}`);
    const { position } = await call(
      "POST",
      `${base}/tag`,
      urns.map((urn) => ({ urn, tagProperties: { value: { name: urn.slice(11) } } })),
    );
    const query = `query=${encodeURIComponent(`name:${version}-list-*`)}`;
    const member = version === "v3" ? "entities" : "results";
    const first = await readAt(`${base}/tag?${query}&count=3&aspects=tagProperties`, position);
    expect(first.body.totalCount).toBe(7);
    expect(first.body[member]).toHaveLength(3);
    expect(Object.keys(aspectsOf(first.body[member][0]))).not.toContain("tagKey");
    const found = await pages(
      `${base}/scroll?count=3&query=*`,
      {
        entities: ["tag"],
        filter: {
          and: [
            { criteria: [{ field: "name", values: [`${version}-list`], condition: "START_WITH" }] },
          ],
        },
      },
      (page) => (page as Record<string, { urn: string }[]>)[member] ?? [],
    );
    expect(found.map(({ urn }) => urn)).toEqual(urns);
    const either = `query=name:${version}-list-1+OR+name:${version}-list-2`;
    expect((await call("GET", `${base}/tag?${either}`)).body.totalCount).toBe(2);
    const slices = [0, 1].map((id) => call("GET", `${base}/tag?${query}&sliceId=${id}&sliceMax=2`));
    const sizes = (await Promise.all(slices)).map(({ body }) => body[member].length);
    expect(sizes).toEqual([7, 0]);
  });

  test.each([
    ["no list", {}, "The body must be a list"],
    ["no urn", [{ status: { value: {} } }], "/0/urn"],
    ["an urn that is a number", [{ urn: 7 }], "/0/urn"],
    ["an aspect that is text", [{ urn: datasetOf("x"), status: "removed" }], "/0/status"],
    ["an aspect without a value", [{ urn: datasetOf("x"), status: {} }], "/0/status/value"],
    ["a value that is text", [{ urn: datasetOf("x"), status: { value: "{}" } }], "/0/status/value"],
    [
      "a value that is a list",
      [{ urn: datasetOf("x"), status: { value: [] } }],
      "status.value is []",
    ],
    [
      "system metadata that is nonsense",
      [{ urn: datasetOf("x"), status: { value: {}, systemMetadata: { lastObserved: "soon" } } }],
      "/0/status/systemMetadata/lastObserved",
    ],
    ["a urn that is invalid", [{ urn: "tag", status: { value: {} } }], "tag"],
  ])("a body with %s is malformed", async (_, body, message) => {
    const reply = await call("POST", `${base}/dataset?async=false`, body);
    expect([reply.status, reply.body.code]).toEqual([400, "malformed"]);
    expect(reply.body.message).toContain(message);
  });

  test.each([
    ["an unknown aspect", "dataset", [{ urn: datasetOf("x"), __proto: { value: {} } }], 400],
    [
      "an unknown entity type",
      "spaceship",
      [{ urn: "urn:li:spaceship:x", status: { value: {} } }],
      400,
    ],
    ["a urn of another type", "tag", [{ urn: datasetOf("x"), status: { value: {} } }], 400],
    [
      "a value that does not fit",
      "dataset",
      [{ urn: datasetOf("x"), status: { value: { removed: "maybe" } } }],
      400,
    ],
  ])("a body with %s is rejected and changes nothing", async (_, type, body, status) => {
    const good = { urn: datasetOf(`${version}/all-or-none`), ...properties("x") };
    const reply = await call("POST", `${base}/${type}?async=false`, [...body, good]);
    expect(reply, JSON.stringify(reply.body)).toMatchObject({
      status,
      body: { status, code: "invalid", error: "Validation Error" },
    });
    expect((await call("GET", `${base}/dataset/${encoded(good.urn)}`)).status).toBe(404);
  });

  test.each([
    ["GET", "/dataset/urn:li:tag:a", 400],
    ["GET", "/dataset/nonsense", 400],
    ["GET", "/spaceship/urn:li:spaceship:a", 404],
    ["GET", `/dataset/${encoded(datasetOf("x"))}/noSuchAspect`, 404],
    ["GET", `/dataset/${encoded(datasetOf("x"))}/status?version=x`, 400],
    ["GET", "/dataset/%E0%A4%A", 400],
    ["GET", "/dataset?count=-1", 400],
    ["GET", "/dataset?scrollId=nonsense", 400],
    ["GET", "/dataset?sliceId=2&sliceMax=2", 400],
    ["GET", "/dataset?sort=noSuchField", 400],
    ["GET", "/dataset?sort=urn&sortCriteria=noSuchField", 400],
    ["GET", "/dataset?sortOrder=DOWN", 400],
    ["GET", "/spaceship", 400],
    ["GET", "/dataset?count=1&count=2", 400],
    ["PUT", "/dataset", 405],
  ])("%s %s is rejected", async (method, path, status) => {
    const reply = await call(method, base + path);
    expect(reply.status, JSON.stringify(reply.body)).toBe(status);
  });
});

describe("a timeseries aspect of an entity", () => {
  const urn = datasetOf("series");
  const path = `/openapi/v3/entity/dataset/${encoded(urn)}/datasetProfile`;
  const profile = (timestampMillis: number) => ({ timestampMillis, rowCount: timestampMillis });
  const rowCount = ({ body }: { readonly body: { value: { rowCount: number } } }) =>
    body.value.rowCount;

  beforeAll(async () => {
    for (const time of [100, 200, 300]) {
      const reply = await call("POST", path, { value: profile(time) });
      expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    }
  });

  test("the latest event is read, or the latest at or before a version", async () => {
    expect(rowCount(await call("GET", path))).toBe(300);
    expect(rowCount(await call("GET", `${path}?version=250`))).toBe(200);
    expect(rowCount(await call("GET", `${path}?version=100`))).toBe(100);
    expect((await call("GET", `${path}?version=99`)).status).toBe(404);
    const { body } = await call("GET", `${path}?systemMetadata=true`);
    expect(body.systemMetadata.lastObserved).toEqual(expect.any(Number));
    expect((await call("HEAD", path)).status).toBe(204);
    const none = path.replace("series", "no-series");
    expect((await call("HEAD", none)).status).toBe(404);
  });

  test("batchGet and a read of the entity return events with other aspects", async () => {
    const members = [
      { urn, datasetProfile: {}, status: {} },
      { urn, datasetProfile: { headers: { "If-Version-Match": "150" } } },
    ];
    const { body } = await call("POST", "/openapi/v3/entity/dataset/batchGet", members);
    expect(body.map((one: Record<string, unknown>) => one.datasetProfile)).toMatchObject([
      { value: { rowCount: 300 } },
      { value: { rowCount: 100 } },
    ]);
    const entity = path.replace("/datasetProfile", "?aspects=datasetProfile,datasetKey");
    expect((await call("GET", entity)).body).toMatchObject({
      ...{ urn, datasetKey: { value: { origin: "PROD" } } },
      datasetProfile: { value: { rowCount: 300 } },
    });
  });

  test("DELETE removes the events with the newest timestamp", async () => {
    await call("POST", path, { value: { ...profile(300), messageId: "again" } });
    expect((await call("DELETE", path)).status).toBe(200);
    expect(rowCount(await call("GET", path))).toBe(200);
    expect((await call("DELETE", path)).status).toBe(200);
    expect((await call("DELETE", path)).status).toBe(200);
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("DELETE", path)).status).toBe(404);
  });
});

test("an entity of any type is read and deleted by its urn", async () => {
  const urn = "urn:li:tag:anyType";
  const path = `/openapi/v3/entity/generic/${encoded(urn)}`;
  await call("POST", "/openapi/v3/entity/tag?async=false", [
    { urn, tagProperties: { value: { name: "any" } } },
  ]);
  expect((await call("GET", path)).body).toMatchObject({
    ...{ urn, tagProperties: { value: { name: "any" } } },
  });
  expect((await call("HEAD", path)).status).toBe(204);
  expect((await call("DELETE", path)).status).toBe(200);
  expect((await call("GET", path)).status).toBe(404);
  expect((await call("GET", "/openapi/v3/entity/generic/nonsense")).status).toBe(400);
});

test("a repeated parameter with the same value is accepted", async () => {
  const { status } = await call("GET", "/openapi/v3/entity/dataset?count=1&count=1");
  expect(status).toBe(200);
});

test("a scroll has facets on request, and audit stamps in the system metadata", async () => {
  const urn = "urn:li:tag:scrolled";
  const { position } = await call("POST", "/openapi/v3/entity/tag?async=false", [
    { urn, tagProperties: { value: { name: "scrolled" } } },
  ]);
  await readAt("/openapi/v3/entity/tag?count=0", position);
  const scroll = (query: string) =>
    call("POST", `/openapi/v3/entity/scroll?systemMetadata=true&${query}`, {
      ...{ entities: ["tag"], aspects: ["tagProperties"] },
      filter: { and: [{ criteria: [{ field: "urn", values: [urn] }] }] },
    });
  const stamp = { time: expect.any(Number), actor: expect.stringMatching(/^urn:li:corpuser:/) };
  const { body } = await scroll("skipAggregation=false");
  expect(body.entities).toMatchObject([
    {
      tagProperties: {
        ...{ value: { name: "scrolled" }, auditStamp: stamp },
        systemMetadata: { aspectCreated: stamp, aspectModified: stamp },
      },
    },
  ]);
  expect(body.facets).toContainEqual(expect.objectContaining({ name: "_entityType" }));
  expect((await scroll("")).body.facets).toEqual([]);
});

test("entities of several types are written and read in one request", async () => {
  const tag = "urn:li:tag:generic";
  const dataset = datasetOf("generic");
  const path = "/openapi/v3/entity/generic";
  const body = {
    tag: [{ urn: tag, tagProperties: { value: { name: "generic" } } }],
    dataset: [{ urn: dataset, status: { value: { removed: false } } }],
  };
  const reply = await call("POST", `${path}?async=false`, body);
  expect(reply.body).toMatchObject({ tag: [{ urn: tag }], dataset: [{ urn: dataset }] });
  const patch = [{ op: "add", path: "/description", value: "of all" }];
  await call("PATCH", `${path}?async=false`, {
    tag: [{ urn: tag, tagProperties: { value: { patch } } }],
  });
  const read = await call("POST", `${path}/batchGet`, { tag: [{ urn: tag, tagProperties: {} }] });
  expect(read.body.tag[0].tagProperties.value).toEqual({ name: "generic", description: "of all" });
});

describe("traces", () => {
  const traced = async (traceparent: string | null, body: unknown, more = "") =>
    call(
      "POST",
      `/openapi/v1/trace/write/${traceparent?.split("-")[1]}?onlyIncludeErrors=false&detailed=true${more}`,
      body,
    );

  test("a trace reports the state of a write, and when searches show it", async () => {
    const urn = "urn:li:tag:traced";
    const body = [{ urn, tagProperties: { value: { name: "traced" } } }];
    const write = await call("POST", "/openapi/v3/entity/tag?async=true", body);
    const id = write.headers.get("traceparent");
    expect(Math.abs(Number.parseInt(id?.slice(3, 19) ?? "", 16) / 1_000 - Date.now())).toBeLessThan(
      60_000,
    );
    await expect
      .poll(async () => (await traced(id, { [urn]: ["tagProperties"] })).body[urn].tagProperties)
      .toEqual({
        success: true,
        primaryStorage: { writeStatus: "ACTIVE_STATE" },
        searchStorage: { writeStatus: "ACTIVE_STATE" },
      });
    await call("DELETE", `/openapi/v3/entity/tag/${urn}/tagProperties`);
    const later = await traced(id, { [urn]: ["tagProperties", "ownership"] });
    expect(later.body[urn]).toMatchObject({
      tagProperties: { success: true, primaryStorage: { writeStatus: "HISTORIC_STATE" } },
      ownership: { success: false, primaryStorage: { writeStatus: "ERROR" } },
    });
    const errors = await call("POST", `/openapi/v1/trace/write/${id?.split("-")[1]}`, {
      [urn]: ["tagProperties"],
    });
    expect(errors.body).toEqual({});
  });

  test.each(["x", "0".repeat(31), "0".repeat(33), "g".repeat(32), "%20"])(
    "the trace of %j is rejected, because it is not a trace id",
    async (id) => {
      const reply = await call("POST", `/openapi/v1/trace/write/${id}`, {});
      expect(reply).toMatchObject({
        status: 400,
        body: { code: "malformed", message: expect.stringContaining("is not a trace id") },
      });
    },
  );

  test("with X-DataHub-Sync-Index-Update, searches show a write once it is answered", async () => {
    const urn = "urn:li:tag:shown-at-once";
    const headers = { "X-DataHub-Sync-Index-Update": "true" };
    const value = { name: "shownatonce" };
    await call("POST", "/openapi/v3/entity/tag?async=false", [
      { urn, tagProperties: { value, headers } },
    ]);
    const found = await call("GET", "/openapi/v3/entity/tag?query=shownatonce");
    expect(found.body.entities.map((one: { urn: string }) => one.urn)).toEqual([urn]);
    const other = "urn:li:tag:shown-by-proposal";
    await service.client.upsert(other, "tagProperties", { name: "shownbyproposal" }, { headers });
    const again = await call("GET", "/openapi/v3/entity/tag?query=shownbyproposal");
    expect(again.body.entities.map((one: { urn: string }) => one.urn)).toEqual([other]);
    const third = "urn:li:tag:shown-by-request";
    const name = "shownbyrequest";
    await service.client.call(
      "POST",
      "/aspects?action=ingestProposal",
      { proposal: proposal(third, "tagProperties", { name }) },
      headers,
    );
    const last = await call("GET", "/openapi/v3/entity/tag?query=shownbyrequest");
    expect(last.body.entities.map((one: { urn: string }) => one.urn)).toEqual([third]);
  });
});

describe("relationships", () => {
  const [a, b, c] = ["lineage-a", "lineage-b", "lineage-c"].map(datasetOf) as [
    string,
    string,
    string,
  ];
  const owner = "urn:li:corpuser:edge";
  const upstreams = (...urns: string[]) => ({
    value: { upstreams: urns.map((dataset) => ({ dataset, type: "TRANSFORMED" })) },
  });
  const ownership = { value: { owners: [{ owner, type: "DATAOWNER" }] } };
  interface Edge {
    readonly relationshipType: string;
    readonly source: { readonly urn: string };
    readonly destination: { readonly urn: string };
    readonly upstream?: string;
    readonly downstream?: string;
  }
  const edges = (page: unknown): readonly Edge[] => (page as { results: readonly Edge[] }).results;
  const ends = (found: readonly Edge[]) =>
    found.map(({ source, destination }) => [source.urn, destination.urn]);

  beforeAll(async () => {
    const { position } = await call("POST", "/openapi/v3/entity/dataset?async=false", [
      { urn: a, ownership },
      { urn: b, upstreamLineage: upstreams(a), ownership },
      { urn: c, upstreamLineage: upstreams(a, b) },
    ]);
    await readAt("/openapi/v3/entity/dataset?count=0", position);
  });

  test("relationships of a type are listed and scrolled", async () => {
    const found = await pages(
      "/openapi/v3/relationship/scroll?relationshipTypes=DownstreamOf&count=1",
      {},
      edges,
    );
    expect(ends(found)).toEqual([
      [b, a],
      [c, a],
      [c, b],
    ]);
    const listed = await call("GET", "/openapi/v3/relationship/DownstreamOf?count=10");
    expect(ends(listed.body.results)).toEqual([
      [b, a],
      [c, a],
      [c, b],
    ]);
    expect(listed.body.scrollId).toBeUndefined();
  });

  test("relationships are filtered by their ends", async () => {
    const filter = (urn: string) => ({
      and: [{ criteria: [{ field: "urn", values: [urn], condition: "EQUAL" }] }],
    });
    const scroll = (query: string, body: object) =>
      pages(`/openapi/v3/relationship/scroll?count=2&${query}`, body, edges);
    const own = "relationshipTypes=DownstreamOf&relationshipTypes=OwnedBy";
    expect(ends(await scroll(own, { sourceFilter: filter(b) }))).toEqual([
      [b, a],
      [b, owner],
    ]);
    expect(ends(await scroll(own, { destinationFilter: filter(a) }))).toEqual([
      [b, a],
      [c, a],
    ]);
    expect(ends(await scroll(`${own}&destinationTypes=corpuser`, {}))).toEqual(
      expect.arrayContaining([
        [a, owner],
        [b, owner],
      ]),
    );
    expect(ends(await scroll(`${own}&direction=INCOMING`, { sourceFilter: filter(a) }))).toEqual([
      [b, a],
      [c, a],
    ]);
    const named = {
      and: [{ criteria: [{ field: "id", values: ["lineage-b"], condition: "EQUAL" }] }],
    };
    expect(ends(await scroll(own, { destinationFilter: named }))).toEqual([[c, b]]);
  });

  test("relationships are filtered by their own fields", async () => {
    const scroll = (...criteria: readonly object[]) =>
      pages(
        "/openapi/v3/relationship/scroll?count=1&relationshipTypes=DownstreamOf&relationshipTypes=OwnedBy",
        { edgeFilter: { and: [{ criteria }] } },
        edges,
      );
    const is = (field: string, ...values: readonly string[]) => ({
      ...{ field, values, condition: "EQUAL" },
    });
    expect(ends(await scroll(is("relationshipType", "DownstreamOf"), is("source.urn", b)))).toEqual(
      [[b, a]],
    );
    expect(ends(await scroll(is("destination.entityType", "corpuser")))).toEqual(
      expect.arrayContaining([
        [a, owner],
        [b, owner],
      ]),
    );
    const since = { field: "createdOn", values: ["1"], condition: "GREATER_THAN" };
    const own = [is("destination.urn", a), since];
    expect(ends(await scroll(...own))).toEqual([
      [b, a],
      [c, a],
    ]);
    const future = { ...since, values: [String(Date.now() + 3_600_000)] };
    expect(await scroll(is("destination.urn", a), future)).toEqual([]);
  });

  test("the relationships of one entity are listed", async () => {
    const path = `/openapi/v3/relationship/dataset/${encoded(a)}`;
    const incoming = await call("GET", `${path}?direction=INCOMING&relationshipType=DownstreamOf`);
    expect(ends(incoming.body.results)).toEqual([
      [b, a],
      [c, a],
    ]);
  });

  test("lineage relationships name their upstream and downstream", async () => {
    const scroll = (query: string) =>
      pages(`/openapi/v3/lineage/scroll?count=1${query}`, { urns: [b] }, edges);
    const both = (await scroll("")).map(({ upstream, downstream }) => [upstream, downstream]);
    expect(both).toEqual([
      [a, b],
      [b, c],
    ]);
    expect((await scroll("&direction=UPSTREAM")).map(({ upstream }) => upstream)).toEqual([a]);
    expect((await scroll("&direction=DOWNSTREAM")).map(({ downstream }) => downstream)).toEqual([
      c,
    ]);
    const all = await pages("/openapi/v3/lineage/scroll?count=2", {}, edges);
    expect(all.map(({ upstream, downstream }) => [upstream, downstream])).toEqual([
      [a, b],
      [a, c],
      [b, c],
    ]);
  });

  test("relationships of soft-deleted entities are returned only on request", async () => {
    const gone = datasetOf("lineage-gone");
    const status = { value: { removed: true } };
    const { position } = await call("POST", "/openapi/v3/entity/dataset?async=false", [
      { urn: gone, status, upstreamLineage: upstreams(a) },
    ]);
    await readAt("/openapi/v3/entity/dataset?count=0", position);
    const path = `/openapi/v3/relationship/dataset/${encoded(a)}?direction=INCOMING&relationshipType=DownstreamOf`;
    expect(ends((await call("GET", path)).body.results)).not.toContainEqual([gone, a]);
    const all = await call("GET", `${path}&includeSoftDelete=true`);
    expect(ends(all.body.results)).toContainEqual([gone, a]);
  });

  test.each([
    ["/openapi/v3/relationship/scroll?direction=SIDEWAYS", {}, 400],
    ["/openapi/v3/relationship/scroll?count=0", {}, 400],
    ["/openapi/v3/relationship/scroll?scrollId=x", {}, 400],
    ["/openapi/v3/relationship/scroll?sourceTypes=spaceship", {}, 400],
    [
      "/openapi/v3/relationship/scroll",
      { edgeFilter: { and: [{ criteria: [{ field: "x", values: ["y"] }] }] } },
      400,
    ],
    [
      "/openapi/v3/relationship/scroll",
      { sourceFilter: { and: [{ criteria: [{ field: "nope", values: ["x"] }] }] } },
      400,
    ],
    ["/openapi/v3/lineage/scroll", { urns: ["x"] }, 400],
    ["/openapi/v3/lineage/scroll?direction=SIDEWAYS", { urns: [] }, 400],
  ])("%s with %j is rejected", async (path, body, status) => {
    const reply = await call("POST", path, body);
    expect(reply.status, JSON.stringify(reply.body)).toBe(status);
  });
});

test("entities are counted by type, with and without sums", async () => {
  const [seen, hidden] = ["urn:li:erModelRelationship:seen", "urn:li:erModelRelationship:hidden"];
  const value = {
    ...{ name: "r", source: datasetOf("er-a"), destination: datasetOf("er-b") },
    relationshipFieldMappings: [],
  };
  for (const urn of [seen, hidden]) {
    await service.client.upsert(urn, "erModelRelationshipProperties", value);
  }
  await service.client.upsert(hidden, "status", { removed: true });
  const path = "/openapi/v1/entities/counts";
  const read = async (query: string) => (await call("GET", `${path}?${query}`)).body;
  const counts = [
    {
      ...{ entityType: "erModelRelationship", keyAspect: "erModelRelationshipKey" },
      ...{ activeCount: 1, softDeletedCount: 1 },
    },
  ];
  const common = { computedAtMillis: expect.any(Number), cacheHit: false };
  await expect
    .poll(() => read("types=erModelRelationship"))
    .toEqual({ counts, requestedTypes: ["erModelRelationship"], ...common });
  const sums = await read("types=ERMODELRELATIONSHIP,notebook&includeTotal=true");
  expect(sums).toMatchObject({
    counts: [
      { ...counts[0], totalCount: 2 },
      { entityType: "notebook", totalCount: 0 },
    ],
    ...{ activeTotal: 1, softDeletedTotal: 1, totalCount: 2 },
    requestedTypes: ["erModelRelationship", "notebook"],
  });
  const all = await read("");
  expect(all.counts.length).toBeGreaterThan(60);
  expect((await call("GET", `${path}?types=starship`)).status).toBe(400);
});

describe("older forms", () => {
  test.each([
    ["createIfNotExists", "/openapi/entities/v1/?createIfNotExists=true"],
    ["createEntityIfNotExists", "/openapi/entities/v1/?createEntityIfNotExists=true"],
  ])("the parameter %s rejects what exists", async (name, path) => {
    const urn = datasetOf(`first-version-${name}`);
    const body = (value: string) => [
      {
        entityType: "dataset",
        entityUrn: urn,
        aspect: { __type: "DatasetProperties", name: value },
      },
    ];
    expect((await call("POST", path, body("a"))).status).toBe(201);
    expect((await call("POST", path, body("b"))).status).toBe(412);
    const exception = body("c").map((one) => ({ ...one, [name]: false }));
    expect((await call("POST", path, exception)).status).toBe(201);
  });

  test("aspects are written and read with __type, and deleted", async () => {
    const urn = datasetOf("first-version");
    const aspect = { __type: "DatasetProperties", name: "first" };
    const body = [{ entityType: "dataset", entityUrn: urn, aspect }];
    const written = await call("POST", "/openapi/entities/v1/", body);
    expect([written.status, written.body]).toEqual([201, [urn]]);
    const path = `/openapi/entities/v1/latest?urns=${encoded(urn)}&aspectNames=datasetProperties`;
    const { body: read } = await call("GET", path);
    expect(read.responses[urn].aspects.datasetProperties.value.name).toBe("first");
    await call("DELETE", `/openapi/entities/v1/?urns=${encoded(urn)}&soft=true`);
    expect((await call("HEAD", `/openapi/v3/entity/dataset/${urn}`)).status).toBe(404);
    await call("DELETE", `/openapi/entities/v1/?urns=${encoded(urn)}&soft=false`);
    expect((await call("GET", `/openapi/v3/entity/dataset/${urn}`)).status).toBe(404);
    const nameless = await call("POST", "/openapi/entities/v1/", [{ ...body[0], aspect: {} }]);
    expect(nameless.status).toBe(400);
  });

  test.each(["/openapi/entities/v1/", "/openapi/platform/entities/v1/"])(
    "%s returns the urns of changed entities",
    async (path) => {
      const platform = path.includes("platform");
      const name = platform ? "platform-changed" : "changed";
      const [first, second] = [datasetOf(`${name}-first`), datasetOf(`${name}-second`)];
      let headers: Record<string, string> = {};
      const write = async (...writes: readonly (readonly [urn: string, text: string])[]) => {
        const body = writes.map(([entityUrn, text]) => {
          const value = { name: text };
          const entity = { entityType: "dataset", entityUrn };
          return platform
            ? {
                ...{ ...entity, changeType: "UPSERT", aspectName: "datasetProperties" },
                aspect: { value: JSON.stringify(value), contentType: "application/json" },
              }
            : { ...entity, aspect: { __type: "DatasetProperties", ...value } };
        });
        const { status, body: urns } = await call("POST", path, body, headers);
        return [status, urns];
      };
      expect(await write([first, "a"], [second, "a"], [first, "b"])).toEqual([
        201,
        [first, second],
      ]);
      expect(await write([first, "c"], [second, "a"])).toEqual([201, [first]]);
      expect(await write([first, "c"], [second, "a"])).toEqual([200, []]);
      headers = { "Idempotency-Key": name };
      const once = await write([first, "d"]);
      expect(once).toEqual([201, [first]]);
      expect(await write([first, "d"])).toEqual(once);
    },
  );

  test.each([
    ["urn:li:nothing:x", 404],
    ["urn", 400],
  ])("a list of urns with %s deletes nothing", async (wrong, status) => {
    const urn = datasetOf("kept");
    const aspect = { __type: "DatasetProperties", name: "kept" };
    await call("POST", "/openapi/entities/v1/", [
      { entityType: "dataset", entityUrn: urn, aspect },
    ]);
    const path = `/openapi/entities/v1/?urns=${encoded(urn)}&urns=${wrong}&soft=false`;
    expect((await call("DELETE", path)).status).toBe(status);
    expect((await call("GET", `/openapi/v3/entity/dataset/${urn}`)).status).toBe(200);
  });

  test("a list of proposals is written", async () => {
    const entityUrn = "urn:li:tag:platform";
    const value = JSON.stringify({ name: "platform" });
    const aspect = { value, contentType: "application/json" };
    const proposal = {
      entityType: "tag",
      entityUrn,
      changeType: "UPSERT",
      aspectName: "tagProperties",
      aspect,
    };
    expect((await call("POST", "/openapi/platform/entities/v1/", [proposal])).body).toEqual([
      entityUrn,
    ]);
    const read = await call("POST", "/openapi/v2/entity/batch/tag", {
      urns: [entityUrn],
      aspectNames: ["tagProperties"],
      withSystemMetadata: true,
    });
    expect(read.body.entities[0].aspects.tagProperties).toMatchObject({
      value: { name: "platform" },
      systemMetadata: { version: "1" },
    });
  });
});

test("the model registry describes each entity type", async () => {
  const path = "/openapi/v1/registry/models/entity/specifications";
  const { body } = await call("GET", `${path}?start=0&count=1000`);
  expect(body.total).toBe(body.elements.length);
  const dataset = body.elements.find((one: { name: string }) => one.name === "dataset");
  expect(dataset).toMatchObject({ keyAspectName: "datasetKey" });
  expect(dataset.aspectSpecs).toContainEqual({
    aspectAnnotation: { name: "container", schemaVersion: 1 },
    relationshipFieldSpecs: [
      {
        path: "/container",
        relationshipAnnotation: { name: "IsPartOf", validDestinationTypes: ["container"] },
      },
    ],
    timeseries: false,
  });
  expect((await call("GET", `${path}/dataset`)).body).toEqual(dataset);
  expect(await call("GET", `${path}/datasett`)).toMatchObject({
    status: 404,
    body: { message: 'unknown entity type "datasett". Did you mean "dataset"?' },
  });
  expect((await call("GET", `${path}?start=-1`)).status).toBe(400);
});

test("the model registry has the JSON Schema of each aspect", async () => {
  const path = "/openapi/v1/registry/models/aspect/specifications";
  const { body } = await call("GET", `${path}/status`);
  expect(body).toMatchObject({
    aspectAnnotation: { name: "status", schemaVersion: 1 },
    timeseries: false,
    schema: {
      title: "status",
      additionalProperties: false,
      properties: { removed: { type: "boolean", default: false } },
    },
  });
  expect(await call("GET", `${path}/statuss`)).toMatchObject({
    status: 404,
    body: { message: 'unknown aspect "statuss". Did you mean "status"?' },
  });
});

test("the OpenAPI document is at the path that DataHub clients request", async () => {
  const { status, body } = await call("GET", "/openapi/v3/api-docs");
  expect([status, body.openapi]).toEqual([200, "3.1.0"]);
  expect(body.paths).toHaveProperty(["/openapi/v3/entity/{entity}"]);
});
