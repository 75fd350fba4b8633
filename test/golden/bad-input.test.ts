/**
 * Invalid input on every endpoint: each is answered with a clear 4xx that names the value, and
 * changes nothing. No answer is a 500, none contains a stack.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const DATASET = "urn:li:dataset:(urn:li:dataPlatform:hive,bad.input,PROD)";
const STATUS = { value: '{"removed":false}', contentType: "application/json" };
const INGEST = "/aspects?action=ingestProposal";
const good = {
  entityType: "dataset",
  entityUrn: DATASET,
  changeType: "UPSERT",
  aspectName: "status",
  aspect: STATUS,
};
const propose = (over: object) => ({ proposal: { ...good, ...over } });
const value = (text: string) => propose({ aspect: { ...STATUS, value: text } });
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ aspectBytesMax: "100000", bodyBytesMax: "1000000" });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

/** The description, the request, the expected status, and the pattern that the message matches. */
const rejected: readonly (readonly [string, unknown, number, RegExp])[] = [
  ["a body that is not JSON", '{"proposal": ', 400, /parse/i],
  ["a body that is a list", [1], 400, /./],
  ["a body that is a text", '"x"', 400, /./],
  ["a duplicate member", '{"proposal":{},"proposal":{}}', 400, /"proposal"/],
  ["__proto__ in the body", '{"__proto__":{"a":1}}', 400, /__proto__/],
  ["a deep body", nested(5000), 400, /deep|level/i],
  ["no proposal", {}, 400, /proposal/],
  ["a proposal that is a text", { proposal: "x" }, 400, /proposal/],
  ["no entity type", propose({ entityType: undefined }), 400, /entityType/],
  ["an entity type that is a number", propose({ entityType: 7 }), 400, /entityType/],
  ["an unknown entity type", propose({ entityType: "datasett" }), 422, /datasett.*dataset/],
  ["an urn that is null", propose({ entityUrn: null }), 400, /entityUrn/],
  ["an urn that is a number", propose({ entityUrn: 7 }), 400, /entityUrn/],
  ["no urn at all", propose({ entityUrn: undefined }), 400, /entityUrn/],
  ["text that is not a urn", propose({ entityUrn: "not a urn" }), 400, /not a urn/],
  ["an urn without an id", propose({ entityUrn: "urn:li:dataset:" }), 400, /urn:li:dataset:/],
  ["an urn with blanks around it", propose({ entityUrn: ` ${DATASET}` }), 400, /not a urn/],
  [
    "an urn with a NUL",
    propose({ entityType: "tag", entityUrn: "urn:li:tag:a\u0000b" }),
    400,
    /U\+0000/,
  ],
  ...[
    { runId: "a\ud800" },
    { pipelineName: "\udc00" },
    { registryName: "a\ud800b" },
    { registryVersion: "\ud800" },
    { properties: { a: "\ud800" } },
    { properties: { "\ud800": "a" } },
  ].map(
    (systemMetadata) =>
      [
        `system metadata with an unpaired surrogate: ${JSON.stringify(systemMetadata)}`,
        propose({ systemMetadata: { lastObserved: 1, ...systemMetadata } }),
        400,
        /systemMetadata contains an unpaired surrogate, which is invalid Unicode: "a?\\u/,
      ] as const,
  ),
  [
    "an aspect that names an urn with an unpaired surrogate",
    propose({
      aspectName: "globalTags",
      aspect: { ...STATUS, value: '{"tags":[{"tag":"urn:li:tag:a\\ud800"}]}' },
    }),
    422,
    /\/tags\/0\/tag :: "urn:li:tag:a\\ud800" contains an unpaired surrogate, which is invalid Unicode: expected a urn/,
  ],
  [
    "an urn with an unpaired surrogate",
    propose({ entityType: "tag", entityUrn: "urn:li:tag:a\ud800" }),
    400,
    /unpaired surrogate/,
  ],
  ["an urn of another type", propose({ entityUrn: "urn:li:tag:a" }), 422, /"tag".*"dataset"/],
  ["an urn of an unknown type", propose({ entityUrn: "urn:li:starship:a" }), 422, /starship/],
  [
    "an urn with too few parts",
    propose({ entityUrn: "urn:li:dataset:(urn:li:dataPlatform:hive,a)" }),
    400,
    /3/,
  ],
  [
    "an urn with too many parts",
    propose({ entityType: "chart", entityUrn: "urn:li:chart:(a,b,c)" }),
    400,
    /2/,
  ],
  [
    "an unknown environment",
    propose({ entityUrn: "urn:li:dataset:(urn:li:dataPlatform:hive,a,NOWHERE)" }),
    422,
    /NOWHERE.*PROD/,
  ],
  [
    "an urn that is too long",
    propose({ entityType: "tag", entityUrn: `urn:li:tag:${"x".repeat(600)}` }),
    400,
    /611.*512/,
  ],
  [
    "an urn that is too long in bytes",
    propose({ entityType: "tag", entityUrn: `urn:li:tag:${"é".repeat(300)}` }),
    400,
    /611.*512/,
  ],
  ["an unknown change type", propose({ changeType: "EXPLODE" }), 400, /EXPLODE/],
  ["no change type", propose({ changeType: undefined }), 400, /changeType/],
  ["no aspect name", propose({ aspectName: undefined }), 400, /aspectName/],
  ["an unknown aspect", propose({ aspectName: "statuss" }), 422, /statuss.*status/],
  ["an aspect of another type", propose({ aspectName: "corpUserInfo" }), 422, /corpUserInfo/],
  ["an aspect in another letter case", propose({ aspectName: "Status" }), 422, /Status/],
  ["no value", propose({ aspect: undefined }), 400, /value/],
  ["a value that is a number", propose({ aspect: { ...STATUS, value: 7 } }), 400, /value/],
  ["a value that is not JSON", value("{removed:"), 400, /JSON/],
  ["a value that is a list", value("[]"), 422, /Status/],
  ["a value with a duplicate member", value('{"removed":true,"removed":false}'), 400, /removed/],
  ["a value with __proto__", value('{"removed":true,"__proto__":{}}'), 400, /__proto__/],
  ["a deep value", value(nested(3000)), 400, /deep|level/i],
  ["a field of the wrong type", value('{"removed":"maybe"}'), 422, /\/removed.*maybe/],
  [
    "a required field left out",
    propose({ aspectName: "globalTags", aspect: { ...STATUS, value: "{}" } }),
    422,
    /\/tags/,
  ],
  ["a required field that is null", value('{"removed":null}'), 422, /\/removed/],
  [
    "an unknown symbol",
    propose({
      aspectName: "ownership",
      aspect: { ...STATUS, value: '{"owners":[{"owner":"urn:li:corpuser:a","type":"EMPEROR"}]}' },
    }),
    422,
    /\/owners\/0\/type.*EMPEROR.*DATAOWNER/,
  ],
  [
    "an owner that is not a urn",
    propose({
      aspectName: "ownership",
      aspect: { ...STATUS, value: '{"owners":[{"owner":"ann","type":"DATAOWNER"}]}' },
    }),
    422,
    /\/owners\/0\/owner.*ann/,
  ],
  [
    "a union with an unknown member",
    propose({
      aspectName: "schemaMetadata",
      aspect: {
        ...STATUS,
        value:
          '{"schemaName":"a","platform":"urn:li:dataPlatform:hive","version":0,"hash":"","platformSchema":{"com.linkedin.schema.NoSuch":{}},"fields":[]}',
      },
    }),
    422,
    /\/platformSchema.*NoSuch/,
  ],
  [
    "a number that is not whole",
    propose({
      aspectName: "datasetProfile",
      aspect: { ...STATUS, value: '{"timestampMillis":1.5}' },
    }),
    422,
    /\/timestampMillis/,
  ],
  [
    "a number that JSON cannot hold exactly",
    propose({
      aspectName: "datasetProfile",
      aspect: { ...STATUS, value: '{"timestampMillis":9007199254740993}' },
    }),
    422,
    /\/timestampMillis/,
  ],
  [
    "a content type other than JSON",
    propose({ aspect: { ...STATUS, contentType: "text/xml" } }),
    422,
    /text\/xml/,
  ],
  [
    "a delete of an aspect that does not exist",
    propose({ changeType: "DELETE", aspect: undefined }),
    404,
    /status/,
  ],
  [
    "a patch that is not a list of operations",
    propose({ changeType: "PATCH", aspect: { ...STATUS, value: '{"a":1}' } }),
    400,
    /patch/i,
  ],
  [
    "a patch to a prototype",
    propose({
      changeType: "PATCH",
      aspect: { ...STATUS, value: '[{"op":"add","path":"/__proto__/a","value":1}]' },
    }),
    400,
    /__proto__/,
  ],
  [
    "a patch that breaks the schema",
    propose({
      changeType: "PATCH",
      aspect: { ...STATUS, value: '[{"op":"add","path":"/removed","value":"x"}]' },
    }),
    422,
    /\/removed/,
  ],
  [
    "a patch of an unknown field",
    propose({
      changeType: "PATCH",
      aspect: { ...STATUS, value: '[{"op":"add","path":"/remove","value":true}]' },
    }),
    422,
    /no field "remove".*removed/,
  ],
  [
    "a patch of a timeseries",
    propose({
      changeType: "PATCH",
      aspectName: "datasetProfile",
      aspect: { ...STATUS, value: "[]" },
    }),
    422,
    /PATCH/,
  ],
  [
    "an If-Version-Match that is not a number",
    propose({ headers: { "If-Version-Match": "x" } }),
    400,
    /If-Version-Match/,
  ],
  [
    "a version that does not exist",
    propose({ headers: { "If-Version-Match": "7" } }),
    422,
    /Expected version 7, actual version -1/,
  ],
  [
    "an If-Modified-Since that is not a time",
    propose({ headers: { "If-Modified-Since": "yesterday" } }),
    400,
    /If-Modified-Since/,
  ],
  [
    "an If-Modified-Since of an invalid date",
    propose({ headers: { "If-Modified-Since": "2024-02-30T00:00:00Z" } }),
    400,
    /If-Modified-Since/,
  ],
  ["a run id that is a number", propose({ systemMetadata: { runId: 7 } }), 400, /runId/],
  ["async that is a number", { ...propose({}), async: 7 }, 400, /async/],
];

describe("a proposal with", () => {
  test.each(rejected)("%s is rejected and changes nothing", async (_, body, status, names) => {
    const before = await head();
    const reply = await service.client.call("POST", INGEST, body);
    expect(reply.status, JSON.stringify(reply.body)).toBe(status);
    expect(reply.body).toMatchObject({
      status,
      message: expect.stringMatching(names),
      exceptionClass: expect.any(String),
    });
    expect(reply.body).not.toHaveProperty("stackTrace");
    expect(JSON.stringify(reply.body)).not.toMatch(/\bat .*\.ts:\d+/);
    expect(await head()).toBe(before);
  });

  test("an aspect over the limit is answered with 413 and both sizes", async () => {
    const text = JSON.stringify({ description: "x".repeat(100_000) });
    const reply = await service.client.call(
      "POST",
      INGEST,
      propose({ aspectName: "datasetProperties", aspect: { ...STATUS, value: text } }),
    );
    expect(reply).toMatchObject({
      status: 413,
      body: { message: expect.stringMatching(/1000\d\d.*100000/) },
    });
  });

  test("a body over the limit is answered with 413 and both sizes", async () => {
    const reply = await service.client.call("POST", INGEST, { junk: "x".repeat(1_000_000) });
    expect(reply).toMatchObject({
      status: 413,
      body: { message: expect.stringMatching(/10000\d\d.*1000000/) },
    });
  });
});

describe("a batch", () => {
  test("a batch with one invalid member changes nothing, and the error names the member", async () => {
    const proposals = ["a", "b", "c"].map((name) =>
      proposal(`urn:li:tag:${name}`, "tagProperties", { name }),
    );
    proposals[1] = proposal("urn:li:tag:b", "tagProperties", { name: 7 });
    const before = await head();
    const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
      proposals,
    });
    expect(reply).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/proposals\[1\]/) },
    });
    expect(await head()).toBe(before);
  });

  test("a batch whose last condition fails changes nothing", async () => {
    const proposals = [
      proposal("urn:li:tag:d", "tagProperties", { name: "d" }),
      proposal(
        "urn:li:tag:e",
        "tagProperties",
        { name: "e" },
        { headers: { "If-Version-Match": "3" } },
      ),
    ];
    const before = await head();
    const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
      proposals,
    });
    expect(reply).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/proposals\[1\].*Expected version 3/) },
    });
    expect(await head()).toBe(before);
  });

  const TAG = "com.linkedin.metadata.snapshot.TagSnapshot";
  const aspects = (properties: object) => [
    { "com.linkedin.common.Status": { removed: false } },
    { "com.linkedin.tag.TagProperties": properties },
  ];
  const entity = (urn: string, properties: object) => ({
    value: { [TAG]: { urn, aspects: aspects(properties) } },
  });
  const flat = (name: string) => ({
    urn: `urn:li:tag:${name}`,
    status: { value: { removed: false } },
    tagProperties: { value: name === "f" ? { name } : {} },
  });
  const bucket = (resource: string) => ({ bucket: 1, duration: "DAY", resource, metrics: {} });

  test.each<[string, string, unknown, string]>([
    [
      "snapshots",
      "/entities?action=batchIngest",
      { entities: [entity("urn:li:tag:f", { name: "f" }), entity("urn:li:tag:g", {})] },
      "entities[1].aspects[1]: Failed to validate",
    ],
    [
      "snapshots, one with an invalid urn",
      "/entities?action=batchIngest",
      { entities: [entity("urn:li:tag:f", { name: "f" }), entity("nonsense", { name: "g" })] },
      'entities[1].aspects[0]: "nonsense" is not a urn',
    ],
    [
      "the aspects of a snapshot",
      "/entities?action=ingest",
      { entity: entity("urn:li:tag:g", {}) },
      "aspects[1]: Failed to validate",
    ],
    [
      "entities of a type",
      "/openapi/v3/entity/tag?async=false",
      [flat("f"), flat("g")],
      "[1].tagProperties: Failed to validate",
    ],
    [
      "entities of several types",
      "/openapi/v3/entity/generic?async=false",
      { tag: [flat("f"), flat("g")] },
      "tag[1].tagProperties: Failed to validate",
    ],
    [
      "entities with their own aspects",
      "/openapi/v2/entity/tag?async=false",
      [flat("f"), flat("g")].map(({ urn, ...own }) => ({ urn, aspects: own })),
      "[1].tagProperties: Failed to validate",
    ],
    [
      "aspects",
      "/openapi/entities/v1/",
      ["name", "title"].map((member) => ({
        ...{ entityType: "tag", entityUrn: "urn:li:tag:f" },
        aspect: { __type: "TagProperties", [member]: "f" },
      })),
      "[1]: Failed to validate",
    ],
    [
      "proposals without a name",
      "/openapi/platform/entities/v1",
      [{ name: "f" }, {}].map((properties) =>
        proposal("urn:li:tag:f", "tagProperties", properties),
      ),
      "[1]: Failed to validate",
    ],
    [
      "buckets",
      "/usageStats?action=batchIngest",
      { buckets: [bucket(DATASET), bucket("nonsense")] },
      'buckets[1]: "nonsense" is not a urn',
    ],
  ])(
    "a batch of %s is rejected with the path of the bad member as it was sent",
    async (_, path, body, named) => {
      const before = await head();
      const reply = await service.client.call("POST", path, body);
      expect(reply.body.message.slice(0, named.length)).toBe(named);
      expect(await head()).toBe(before);
    },
  );

  test("a batch of snapshots has at most 20000 aspects in all", async () => {
    const status = { "com.linkedin.common.Status": {} };
    const snapshot = (name: string, count: number) => ({
      value: {
        "com.linkedin.metadata.snapshot.TagSnapshot": {
          urn: `urn:li:tag:${name}`,
          aspects: Array.from({ length: count }, () => status),
        },
      },
    });
    const before = await head();
    const reply = await service.client.call("POST", "/entities?action=batchIngest", {
      entities: [snapshot("a", 10_000), snapshot("b", 10_001)],
    });
    expect(reply).toMatchObject({
      status: 413,
      body: { message: expect.stringMatching(/20001 proposals; at most 20000 are allowed/) },
    });
    expect(await head()).toBe(before);
  });

  test("an empty batch succeeds", async () => {
    const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
      proposals: [],
    });
    expect(reply).toMatchObject({ status: 200, body: { value: "success" } });
  });
});

type Read = readonly [string, string, string, unknown, number, RegExp];
const reads: readonly Read[] = [
  ["an invalid urn", "GET", "/entitiesV2/nonsense", undefined, 400, /nonsense/],
  [
    "an unknown entity type",
    "GET",
    `/entitiesV2/${encoded("urn:li:starship:a")}`,
    undefined,
    404,
    /starship/,
  ],
  [
    "too few key parts",
    "GET",
    `/entitiesV2/${encoded("urn:li:dataset:(a,b)")}`,
    undefined,
    400,
    /3/,
  ],
  [
    "an unclosed list of aspects",
    "GET",
    `/entitiesV2/${encoded(DATASET)}?aspects=List(status`,
    undefined,
    400,
    /"aspects".*List\(status/,
  ],
  [
    "an unclosed list of urns",
    "GET",
    "/entitiesV2?ids=List(urn:li:tag:a,urn:li:tag:b",
    undefined,
    400,
    /"ids".*List\(urn:li:tag:a,urn:li:tag:b/,
  ],
  [
    "an unclosed list of types",
    "GET",
    `/relationships?direction=INCOMING&urn=${encoded(DATASET)}&types=List(OwnedBy`,
    undefined,
    400,
    /"types".*List\(OwnedBy/,
  ],
  ["bytes that are not UTF-8", "GET", "/entitiesV2/urn:li:tag:%FF", undefined, 400, /UTF-8/],
  [
    "a type without a snapshot",
    "GET",
    `/entities/${encoded("urn:li:domain:a")}`,
    undefined,
    404,
    /domain/,
  ],
  [
    "an unknown aspect",
    "GET",
    `/aspects/${encoded(DATASET)}?aspect=warp&version=0`,
    undefined,
    404,
    /warp/,
  ],
  [
    "a misspelled aspect",
    "GET",
    `/aspects/${encoded(DATASET)}?aspect=statuss&version=0`,
    undefined,
    404,
    /"statuss".*Did you mean "status"/,
  ],
  ["no aspect", "GET", `/aspects/${encoded(DATASET)}?version=0`, undefined, 400, /aspect/],
  [
    "a version that is not a number",
    "GET",
    `/aspects/${encoded(DATASET)}?aspect=status&version=abc`,
    undefined,
    400,
    /abc/,
  ],
  [
    "a version that does not exist",
    "GET",
    `/aspects/${encoded(DATASET)}?aspect=status&version=99`,
    undefined,
    404,
    /99/,
  ],
  [
    "a huge version",
    "GET",
    `/aspects/${encoded(DATASET)}?aspect=status&version=99999999999999999999`,
    undefined,
    400,
    /version/,
  ],
  ["an unknown action", "POST", "/aspects?action=fly", {}, 400, /fly/],
  ["no action", "POST", "/aspects", {}, 400, /./],
  ["an action by GET", "GET", "/aspects?action=ingestProposal", undefined, 400, /POST/],
  ["an unsupported method", "PUT", "/aspects", {}, 400, /./],
  ["an unknown path", "GET", "/nowhere", undefined, 404, /nowhere/],
  [
    "a negative count",
    "POST",
    "/entities?action=listUrns",
    { entity: "dataset", start: 0, count: -1 },
    400,
    /-1/,
  ],
  [
    "a count that is a text",
    "POST",
    "/entities?action=listUrns",
    { entity: "dataset", start: 0, count: "5" },
    400,
    /count/,
  ],
  ["no count", "POST", "/entities?action=listUrns", { entity: "dataset", start: 0 }, 400, /count/],
  [
    "an unknown type to list",
    "POST",
    "/entities?action=listUrns",
    { entity: "starship", start: 0, count: 1 },
    422,
    /starship/,
  ],
  [
    "a versioned aspect as a timeseries",
    "POST",
    "/aspects?action=getTimeseriesAspectValues",
    { urn: DATASET, entity: "dataset", aspect: "status" },
    422,
    /status/,
  ],
  [
    "an unknown condition",
    "POST",
    "/aspects?action=getTimeseriesAspectValues",
    {
      urn: DATASET,
      entity: "dataset",
      aspect: "datasetProfile",
      filter: { or: [{ and: [{ field: "rowCount", condition: "RESEMBLES", values: ["1"] }] }] },
    },
    400,
    /RESEMBLES/,
  ],
  ...["rowCont", "fieldProfiles.max.deep", "rowCount.x", "", "fieldProfiles..max", "urn.x"].map(
    (field): Read => [
      `a field "${field}" that events do not have`,
      "POST",
      "/aspects?action=getTimeseriesAspectValues",
      {
        urn: DATASET,
        entity: "dataset",
        aspect: "datasetProfile",
        filter: { or: [{ and: [{ field, values: ["1"] }] }] },
      },
      400,
      /field/,
    ],
  ),
  [
    "an unknown snapshot",
    "POST",
    "/entities?action=ingest",
    { entity: { value: { "com.linkedin.metadata.snapshot.StarshipSnapshot": {} } } },
    400,
    /StarshipSnapshot/,
  ],
  ...[
    ["nonsense", 400, /"nonsense" is not a urn/] as const,
    ["urn:li:corpuser:ann", 422, /"corpuser".*"tag"/] as const,
  ].map(
    ([urn, status, names]): Read => [
      `a snapshot without aspects of ${urn}`,
      "POST",
      "/entities?action=ingest",
      { entity: { value: { "com.linkedin.metadata.snapshot.TagSnapshot": { urn, aspects: [] } } } },
      status,
      names,
    ],
  ),
  ...(
    [
      ["limit=abc", "limit"],
      ["limit=-1", "limit is -1"],
      ["limit=0", "limit is 0"],
      ["limit=1e99", "limit"],
      ["limit=9223372036854775807", "limit is a number near"],
      ["pollTimeoutSeconds=-1", "pollTimeoutSeconds is -1"],
      ["pollTimeoutSeconds=1.5", "pollTimeoutSeconds"],
      ["lookbackWindowDays=-1", "lookbackWindowDays is -1"],
      ["offsetId=-1", "offsetId"],
    ] as const
  ).map(
    ([query, names]) =>
      [
        `polled events of ${query}`,
        "GET",
        `/openapi/v1/events/poll?topic=PlatformEvent_v1&${query}`,
        undefined,
        400,
        new RegExp(names),
      ] as const,
  ),
  // With members of an unknown type, and empty.
  ...[
    [],
    [{ urn: "urn:li:datasett:a" }],
    [{ urn: "urn:li:datasett:a", status: { value: {} } }],
  ].flatMap((list) =>
    (
      [
        ["POST", "/openapi/v3/entity/datasett", list, 400],
        ["PATCH", "/openapi/v3/entity/datasett", list, 400],
        ["POST", "/openapi/v2/entity/datasett", list, 400],
        ["POST", "/openapi/v3/entity/generic", { datasett: list }, 400],
        ["PATCH", "/openapi/v3/entity/generic", { datasett: list }, 400],
        ["POST", "/openapi/v3/entity/datasett/batchGet", list, 404],
        ["POST", "/openapi/v2/entity/datasett/batchGet", list, 404],
        ["POST", "/openapi/v3/entity/generic/batchGet", { datasett: list }, 404],
        [
          ...["POST", "/openapi/v2/entity/batch/datasett"],
          { urns: list.map(({ urn }) => urn), aspectNames: [] },
          404,
        ],
      ] as [string, string, unknown, number][]
    ).map(
      ([method, path, body, status]) =>
        [
          `${method} ${path} of ${JSON.stringify(list)}`,
          ...([method, path, body, status] as const),
          /^unknown entity type "datasett"\. Did you mean "dataset"/,
        ] as const,
    ),
  ),
  ...["/openapi/v3/entity/dataset", "/openapi/v3/relationship/OwnedBy"].map(
    (path) =>
      [
        `a negative number of slices of ${path}`,
        "GET",
        `${path}?sliceMax=-1`,
        undefined,
        400,
        /sliceMax is -1\. Send 1 or more/,
      ] as const,
  ),
  [
    "a member with an invalid urn and no aspects",
    "POST",
    "/openapi/v3/entity/tag",
    [{ urn: "nonsense" }],
    400,
    /"nonsense" is not a urn/,
  ],
  [
    "an aspect that the snapshot does not accept",
    "POST",
    "/entities?action=ingest",
    {
      entity: {
        value: {
          "com.linkedin.metadata.snapshot.TagSnapshot": {
            urn: "urn:li:tag:t",
            aspects: [{ "com.linkedin.chart.ChartInfo": {} }],
          },
        },
      },
    },
    400,
    /ChartInfo/,
  ],
];

describe("a request with", () => {
  test.each(reads)("%s is rejected", async (_, method, path, body, status, names) => {
    const reply = await service.client.call(method, path, body);
    expect(reply.status, JSON.stringify(reply.body)).toBe(status);
    expect(reply.body).toMatchObject({
      status,
      message: expect.stringMatching(names),
      exceptionClass: expect.any(String),
    });
  });

  test.each([
    ["application/xml", "<proposal/>"],
    ["multipart/form-data; boundary=x", "--x--"],
    ["application/octet-stream", "\u0001"],
  ])("the content type %s is rejected", async (type, body) => {
    const reply = await service.client.call("POST", INGEST, body, { "Content-Type": type });
    expect(reply.status).toBe(400);
    expect(reply.body.message).toContain(type.split(";")[0]);
  });

  test("an unknown protocol version is rejected", async () => {
    const reply = await service.client.call("GET", "/config", undefined, {
      "X-RestLi-Protocol-Version": "9.0.0",
    });
    expect([200, 400]).toContain(reply.status);
    const ingest = await service.client.call("POST", INGEST, propose({}), {
      "X-RestLi-Protocol-Version": "9.0.0",
    });
    expect(ingest).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("9.0.0") },
    });
  });

  test.each([
    ["/entities?action=delete&action=exists", { urn: DATASET }],
    ["/entities?action=exists&action=delete", { urn: DATASET }],
    ["/aspects?action=ingestProposal&action=ingestProposalBatch", propose({})],
  ])("two actions is rejected: %s", async (path, body) => {
    const before = await head();
    const reply = await service.client.call("POST", path, body);
    expect(reply.status).toBe(400);
    expect(reply.body.message).toContain('"action" is given 2 times');
    expect(await head()).toBe(before);
  });

  test("two different actors is rejected", async () => {
    const reply = await service.client.call("POST", INGEST, propose({}), {
      "X-Service-Actor": "urn:li:corpuser:a",
      "X-DataHub-Actor": "urn:li:corpuser:b",
    });
    expect(reply.status).toBe(400);
  });
});

/** The last position of the log. A rejected request does not change it. */
async function head(): Promise<number> {
  const { openSqliteChangeLog } = await import("../../src/log/sqlite/sqlite-change-log.ts");
  const log = await openSqliteChangeLog({
    file: `${service.directory}/log.sqlite`,
    readOnly: true,
  });
  try {
    return await log.head();
  } finally {
    await log.close();
  }
}

test.each([
  "urn",
  "@timestamp",
  "rowCount",
  "fieldProfiles.fieldPath.keyword",
  "partitionSpec/type",
])("a filter of events accepts the field %s", async (field) => {
  const asked = { urn: DATASET, entity: "dataset", aspect: "datasetProfile" };
  const filter = { or: [{ and: [{ field, condition: "EXISTS" }] }] };
  const path = "/aspects?action=getTimeseriesAspectValues";
  const reply = await service.client.call("POST", path, { ...asked, filter });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
});

test.each(["query", "queryRange"])("usageStats %s rejects an unknown time zone", async (action) => {
  const asked = { resource: DATASET, duration: "DAY", rangeFromEnd: "DAY" };
  const { rangeFromEnd: _, ...query } = asked;
  const read = (timeZone: string) =>
    service.client.call("POST", `/usageStats?action=${action}`, {
      ...(action === "query" ? query : asked),
      timeZone,
    });
  const reply = await read("Mars/Olympus");
  expect(reply).toMatchObject({ status: 400, body: { code: "malformed" } });
  expect(reply.body.message).toContain('timeZone is "Mars/Olympus"');
  for (const zone of ["Europe/Berlin", "Etc/UTC", "UTC", "Z", "GMT+2", "+05:30"]) {
    expect((await read(zone)).status, zone).toBe(200);
  }
});
