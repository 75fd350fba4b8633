import { describe, expect, test } from "vitest";
import { fieldPairsMax } from "../../projections/graph/fields.ts";
import { createGraphProjection, forgettingOf } from "../../projections/graph/graph.ts";
import { compileGraphRules } from "../../projections/graph/rules.ts";
import type { PlacedChange } from "../../src/core/change.ts";
import { position, revision } from "../../src/core/position.ts";
import type { Edge, GraphWrite } from "../../src/views/graph/graph.ts";
import { aspectNamed, defaultModel } from "../model/default-model.ts";

const project = createGraphProjection(
  compileGraphRules(defaultModel),
  (type) => defaultModel.entities.get(type)?.keyAspect,
);

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const fieldOf = (urn: string, path: string): string => `urn:li:schemaField:(${urn},${path})`;
const tides = dataset("tides");
const raw = dataset("raw");
const ada = "urn:li:corpuser:ada";
const otto = "urn:li:corpuser:otto";
const stamp = { time: 1_629_331_200_000, actor: ada };

const change = (parts: Partial<PlacedChange>): PlacedChange => ({
  urn: tides,
  entityType: "dataset",
  aspect: "ownership",
  changeType: "UPSERT",
  created: { time: 1_700_000_000_000, actor: otto },
  system: { lastObserved: 1_700_000_000_001, runId: "run-1" },
  position: position(7),
  revision: revision(4),
  timeseries: false,
  ...parts,
});

/** The writes of an aspect's value, checked and normalized as the catalog does it. */
function writesOf(aspect: string, value: unknown, urn = tides): readonly GraphWrite[] {
  const checked = defaultModel.check(aspectNamed(aspect), JSON.parse(JSON.stringify(value)));
  if (!checked.ok) throw new Error(JSON.stringify(checked.validationErrors));
  const entityType = urn.split(":")[2] ?? "";
  return project(change({ aspect, urn, entityType, value: JSON.stringify(checked.value) }));
}

function edgesOf(aspect: string, value: unknown, urn = tides): readonly Edge[] {
  const [write, ...others] = writesOf(aspect, value, urn);
  expect(others).toEqual([]);
  if (write?.op !== "replace") throw new Error("not a replacement");
  expect(write).toMatchObject({ urn, aspect, position: 7 });
  return write.edges;
}

/** `type destination` of each edge, all from the entity itself. */
const endsOf = (aspect: string, value: unknown, urn = tides): readonly string[] =>
  edgesOf(aspect, value, urn).map(({ source, type, destination }) => {
    expect(source).toBe(urn);
    return `${type} ${destination}`;
  });

describe("the graph projection of a change", () => {
  const value = JSON.stringify({ owners: [{ owner: ada, type: "DATAOWNER" }] });
  const stamp = { time: 1_700_000_000_001, actor: otto };
  const common = { urn: tides, aspect: "ownership", position: 7 };

  test("a written aspect replaces its edges, with the stamp of the write", () => {
    expect(project(change({ value }))).toEqual([
      {
        ...common,
        op: "replace",
        stamp,
        edges: [{ source: tides, type: "OwnedBy", destination: ada, path: "/owners/*/owner" }],
      },
    ]);
  });

  test("an aspect without relationships, or a deleted one, removes its edges", () => {
    const none = [{ ...common, op: "replace", stamp, edges: [] }];
    expect(project(change({ value: '{"owners":[]}' }))).toEqual(none);
    expect(project(change({ changeType: "DELETE" }))).toEqual(none);
  });

  test("a restatement with the value restores the edges of the value", () => {
    expect(project(change({ changeType: "RESTATE", value }))).toEqual(project(change({ value })));
  });

  test("a confirmed value, or an aspect without relationships, produces no writes", () => {
    expect(project(change({ changeType: "RESTATE" }))).toEqual([]);
    expect(project(change({ aspect: "status", value: '{"removed":true}' }))).toEqual([]);
    expect(project(change({ aspect: "status", changeType: "DELETE" }))).toEqual([]);
    const event = { aspect: "datasetProfile", timeseries: true, value: '{"timestampMillis":1}' };
    expect(project(change(event))).toEqual([]);
    expect(
      project(change({ aspect: "datasetProfile", changeType: "DELETE", timeseries: true })),
    ).toEqual([]);
  });

  test("a deleted key removes all edges of the entity", () => {
    expect(project(change({ aspect: "datasetKey", changeType: "DELETE" }))).toEqual([
      { op: "remove_entity", urn: tides, position: 7 },
    ]);
    const other = { aspect: "datasetKey", entityType: "chart", changeType: "DELETE" } as const;
    expect(project(change(other))).toEqual([]);
  });

  test("a delete of relationships removes the edges at the entity", () => {
    const forget = { aspect: "$relationships", timeseries: true } as const;
    expect(project(change({ ...forget, changeType: "DELETE" }))).toEqual([
      { op: "forget", urn: tides, position: 7 },
    ]);
    expect(project(change({ ...forget, timeseries: false, changeType: "DELETE" }))).toEqual([]);
  });
});

describe("the edges of", () => {
  test("ownership: owners and types of ownership, an owner of two types once", () => {
    const owners = [
      { owner: ada, type: "CUSTOM", typeUrn: "urn:li:ownershipType:steward" },
      { owner: "urn:li:corpGroup:harbour", type: "DATAOWNER" },
      { owner: ada, type: "DATAOWNER" },
    ];
    expect(endsOf("ownership", { owners, lastModified: stamp })).toEqual([
      `OwnedBy ${ada}`,
      "OwnedBy urn:li:corpGroup:harbour",
      "ownershipType urn:li:ownershipType:steward",
    ]);
  });

  test("globalTags and glossaryTerms", () => {
    const tags = ["urn:li:tag:b", "urn:li:tag:a"].map((tag) => ({ tag }));
    expect(endsOf("globalTags", { tags })).toEqual([
      "TaggedWith urn:li:tag:b",
      "TaggedWith urn:li:tag:a",
    ]);
    const terms = { terms: [{ urn: "urn:li:glossaryTerm:tide" }], auditStamp: stamp };
    expect(endsOf("glossaryTerms", terms)).toEqual(["TermedWith urn:li:glossaryTerm:tide"]);
  });

  test("upstreamLineage, with stamps, properties and query of each upstream", () => {
    const upstreams = [
      {
        auditStamp: stamp,
        created: { time: 5, actor: otto },
        dataset: raw,
        type: "TRANSFORMED",
        properties: { source: "UI" },
        query: "urn:li:query:q",
      },
      { dataset: dataset("other"), type: "VIEW" },
    ];
    const edge = { source: tides, type: "DownstreamOf", path: "/upstreams/*/dataset" };
    expect(edgesOf("upstreamLineage", { upstreams })).toEqual([
      {
        ...edge,
        destination: raw,
        createdOn: 5,
        createdActor: otto,
        updatedOn: stamp.time,
        updatedActor: ada,
        properties: { source: "UI" },
        via: "urn:li:query:q",
      },
      // The model adds a stamp with the time 0, which means no stamp.
      { ...edge, destination: dataset("other") },
    ]);
  });

  test("fine-grained lineage: to the fields, and from field to field through the query", () => {
    const [x, y, z] = ["x", "y", "z"].map((path) => fieldOf(raw, path)) as [string, string, string];
    const [a, b] = ["a", "b"].map((path) => fieldOf(tides, path)) as [string, string];
    const entry = (upstreams?: string[], downstreams?: string[], query?: string) => ({
      upstreamType: "FIELD_SET",
      downstreamType: "FIELD_SET",
      ...{ upstreams, downstreams, query },
    });
    const fineGrainedLineages = [
      entry([x]),
      entry([x, y], [a, b], "urn:li:query:q"),
      entry(undefined, [a]),
      entry([z], [a]),
    ];
    const edges = edgesOf("upstreamLineage", { upstreams: [], fineGrainedLineages });
    expect(edges.map(({ source, destination, via }) => [source, destination, via])).toEqual([
      [tides, x, undefined],
      [tides, y, undefined],
      [tides, z, undefined],
      [a, x, "urn:li:query:q"],
      [a, y, "urn:li:query:q"],
      [b, x, "urn:li:query:q"],
      [b, y, "urn:li:query:q"],
      [a, z, undefined],
    ]);
    expect(new Set(edges.map(({ type }) => type))).toEqual(new Set(["DownstreamOf"]));
  });

  test("fine-grained lineage of a job goes through the job", () => {
    const job = "urn:li:dataJob:(urn:li:dataFlow:(airflow,f,PROD),j)";
    const [x, a] = [fieldOf(raw, "x"), fieldOf(tides, "a")];
    const value = {
      inputDatasets: [raw],
      outputDatasets: [tides],
      inputDatasetEdges: [{ destinationUrn: raw, created: stamp, lastModified: stamp }],
      inputDatajobs: ["urn:li:dataJob:(urn:li:dataFlow:(airflow,f,PROD),i)"],
      fineGrainedLineages: [
        {
          ...{ upstreamType: "FIELD_SET", downstreamType: "FIELD_SET" },
          ...{ upstreams: [x], downstreams: [a] },
        },
      ],
    };
    const edges = edgesOf("dataJobInputOutput", value, job);
    expect(edges.map(({ source, type, destination }) => [source, type, destination])).toEqual([
      [job, "Consumes", raw],
      [job, "Produces", tides],
      [job, "DownstreamOf", value.inputDatajobs[0]],
      [a, "DownstreamOf", x],
    ]);
    // Both lists name the edge: it has the path of the first and the stamps of the second.
    expect(edges[0]).toMatchObject({
      path: "/inputDatasets/*",
      createdOn: stamp.time,
      updatedActor: ada,
    });
    expect(edges[3]?.via).toBe(job);
  });

  test("the number of fine-grained edges is limited", () => {
    const many = (urn: string) => Array.from({ length: 1_000 }, (_, i) => fieldOf(urn, `${i}`));
    const entry = {
      ...{ upstreamType: "FIELD_SET", downstreamType: "FIELD_SET" },
      ...{ upstreams: many(raw), downstreams: many(tides) },
    };
    const edges = edgesOf("upstreamLineage", {
      upstreams: [],
      fineGrainedLineages: [entry, entry],
    });
    expect(edges.filter(({ source }) => source !== tides)).toHaveLength(fieldPairsMax);
  });

  test("inputFields: from the chart and its own fields to the input fields", () => {
    const chart = "urn:li:chart:(looker,c)";
    const schemaField = (fieldPath: string) => ({
      fieldPath,
      nativeDataType: "text",
      type: { type: { "com.linkedin.schema.StringType": {} } },
    });
    const fields = [
      { schemaFieldUrn: fieldOf(raw, "x"), schemaField: schemaField("a(b),c") },
      { schemaFieldUrn: fieldOf(raw, "y") },
    ];
    const edges = edgesOf("inputFields", { fields }, chart);
    expect(edges.map(({ source, type, destination }) => [source, type, destination])).toEqual([
      [chart, "consumesField", fieldOf(raw, "x")],
      [chart, "consumesField", fieldOf(raw, "y")],
      [fieldOf(chart, "a%28b%29%2Cc"), "DownstreamOf", fieldOf(raw, "x")],
    ]);
  });

  test("chartInfo: inputs in a union, and edges with their stamps", () => {
    const value = {
      ...{ title: "Tides", description: "", lastModified: {} },
      inputs: [{ string: raw }],
      inputEdges: [
        { destinationUrn: "urn:li:chart:(looker,d)", lastModified: stamp, properties: { k: "v" } },
      ],
    };
    expect(edgesOf("chartInfo", value, "urn:li:chart:(looker,c)")).toEqual([
      {
        source: "urn:li:chart:(looker,c)",
        type: "Consumes",
        destination: raw,
        path: "/inputs/*/string",
      },
      {
        source: "urn:li:chart:(looker,c)",
        type: "Consumes",
        destination: "urn:li:chart:(looker,d)",
        path: "/inputEdges/*/destinationUrn",
        updatedOn: stamp.time,
        updatedActor: ada,
        properties: { k: "v" },
      },
    ]);
  });

  test("dashboardInfo", () => {
    const board = "urn:li:dashboard:(looker,b)";
    const value = {
      ...{ title: "Harbour", description: "", lastModified: {} },
      charts: ["urn:li:chart:(looker,c)"],
      datasets: [raw],
      dashboards: [{ destinationUrn: "urn:li:dashboard:(looker,a)" }],
    };
    expect(endsOf("dashboardInfo", value, board)).toEqual([
      "Contains urn:li:chart:(looker,c)",
      `Consumes ${raw}`,
      "DashboardContainsDashboard urn:li:dashboard:(looker,a)",
    ]);
  });

  test.each([
    [
      "corpGroupInfo",
      "urn:li:corpGroup:g",
      { admins: [ada], members: [otto, ada], groups: ["urn:li:corpGroup:h"] },
      [`OwnedBy ${ada}`, `IsPartOf ${otto}`, `IsPartOf ${ada}`, "IsPartOf urn:li:corpGroup:h"],
    ],
    [
      "groupMembership",
      ada,
      { groups: ["urn:li:corpGroup:g"] },
      ["IsMemberOfGroup urn:li:corpGroup:g"],
    ],
    ["corpUserInfo", ada, { active: true, managerUrn: otto }, [`ReportsTo ${otto}`]],
    ["container", tides, { container: "urn:li:container:c" }, ["IsPartOf urn:li:container:c"]],
    ["domains", tides, { domains: ["urn:li:domain:d"] }, ["AssociatedWith urn:li:domain:d"]],
    [
      "glossaryRelatedTerms",
      "urn:li:glossaryTerm:t",
      { isRelatedTerms: ["urn:li:glossaryTerm:u"], hasRelatedTerms: ["urn:li:glossaryTerm:v"] },
      ["IsA urn:li:glossaryTerm:u", "HasA urn:li:glossaryTerm:v"],
    ],
    [
      "dataJobKey",
      "urn:li:dataJob:(urn:li:dataFlow:(airflow,f,PROD),j)",
      { flow: "urn:li:dataFlow:(airflow,f,PROD)", jobId: "j" },
      ["IsPartOf urn:li:dataFlow:(airflow,f,PROD)"],
    ],
  ])("%s", (aspect, urn, value, expected) => {
    expect(endsOf(aspect, value, urn)).toEqual(expected);
  });

  test("schemaMetadata: tags and terms of fields, and foreign keys", () => {
    const schemaField = (fieldPath: string, more: object = {}) => ({
      ...{ fieldPath, nativeDataType: "text" },
      type: { type: { "com.linkedin.schema.StringType": {} } },
      ...more,
    });
    const schema = {
      ...{ schemaName: "tides", platform: "urn:li:dataPlatform:hive", version: 0, hash: "" },
      platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
      fields: [
        schemaField("plain"),
        schemaField("a", { globalTags: { tags: [{ tag: "urn:li:tag:pii" }] } }),
        schemaField("b", {
          globalTags: { tags: [{ tag: "urn:li:tag:pii" }, { tag: "urn:li:tag:x" }] },
          glossaryTerms: { terms: [{ urn: "urn:li:glossaryTerm:t" }], auditStamp: stamp },
        }),
      ],
      foreignKeys: [
        {
          name: "fk",
          sourceFields: [fieldOf(tides, "a")],
          foreignFields: [fieldOf(raw, "x")],
          foreignDataset: raw,
        },
      ],
    };
    expect(endsOf("schemaMetadata", schema)).toEqual([
      "SchemaFieldTaggedWith urn:li:tag:pii",
      "SchemaFieldTaggedWith urn:li:tag:x",
      "SchemaFieldWithGlossaryTerm urn:li:glossaryTerm:t",
      `ForeignKeyTo ${fieldOf(raw, "x")}`,
      `ForeignKeyToDataset ${raw}`,
    ]);
    const plain = { ...schema, fields: [schemaField("plain")], foreignKeys: undefined };
    expect(endsOf("schemaMetadata", plain)).toEqual([]);
  });

  test("editableSchemaMetadata: types of their own", () => {
    const value = {
      editableSchemaFieldInfo: [
        {
          fieldPath: "a",
          globalTags: { tags: [{ tag: "urn:li:tag:pii" }] },
          glossaryTerms: { terms: [{ urn: "urn:li:glossaryTerm:t" }], auditStamp: stamp },
        },
      ],
    };
    expect(endsOf("editableSchemaMetadata", value)).toEqual([
      "EditableSchemaFieldTaggedWith urn:li:tag:pii",
      "EditableSchemaFieldWithGlossaryTerm urn:li:glossaryTerm:t",
    ]);
  });

  test("a value of an older model: the edges that are valid", () => {
    const odd = (value: unknown) =>
      project(change({ aspect: "upstreamLineage", value: JSON.stringify(value) }));
    for (const value of [null, [], "upstreams dataset", { upstreams: 7 }, { upstreams: [null] }]) {
      expect(odd(value)).toMatchObject([{ op: "replace", edges: [] }]);
    }
    const upstreams = [{ dataset: "" }, { dataset: 7 }, { dataset: raw, created: "never" }];
    expect(odd({ upstreams, fineGrainedLineages: ["?", { upstreams: 1 }] })).toMatchObject([
      { edges: [{ source: tides, destination: raw }] },
    ]);
  });
});

test("the streams of deleted relationships that affect a write are those of the ends of its edges", () => {
  const edge = { source: tides, type: "DownstreamOf", destination: "urn:li:dataset:x", path: "/" };
  const stamp = { time: 1, actor: "urn:li:corpuser:ada" };
  const common = { urn: tides, aspect: "upstreamLineage", position: position(7), stamp };
  expect(forgettingOf({ op: "replace", ...common, edges: [edge, edge] })).toEqual([
    `timeseries-$relationships-${tides}`,
    "timeseries-$relationships-urn:li:dataset:x",
  ]);
  expect(forgettingOf({ op: "forget", urn: tides, position: position(7) })).toEqual([]);
});
