import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createDraft,
  documentWordsMax,
  fieldValuesMax,
  type Slot,
  valueCharsMax,
} from "../../projections/search/document.ts";
import { runsMax } from "../../projections/search/search.ts";
import { mapValueCharsMax } from "../../projections/search/values.ts";
import type { EntityState } from "../../src/core/entity-state.ts";
import type { SearchDocument } from "../../src/views/search/search.ts";
import catalog from "../data/sample/catalog.json" with { type: "json" };
import { defaultModel } from "../model/default-model.ts";
import {
  aspectState,
  changedAt,
  documentOf,
  entityTypeOf,
  project,
  projection,
  rules,
  stateOf,
} from "./search-state.ts";

const tides = "urn:li:dataset:(urn:li:dataPlatform:hive,harbour.tides,PROD)";
const ada = "urn:li:corpuser:ada";
const stamp = { time: 1_600_000_000_000, actor: ada };

/** The aspects of a snapshot in the sample. */
function sample(urn: string): Record<string, unknown> {
  for (const { proposedSnapshot } of catalog as { proposedSnapshot?: object }[]) {
    const [snapshot] = Object.values(proposedSnapshot ?? {});
    if (snapshot?.urn !== urn) continue;
    const aspects: object[] = snapshot.aspects;
    return Object.fromEntries(
      aspects
        .flatMap((aspect) => Object.entries(aspect))
        .map(([record, value]) => [defaultModel.findAspectByRecord(record)?.name, value]),
    );
  }
  throw new Error(`the sample has no ${urn}`);
}

/** Texts as `field boost: words`; "!" marks suggested ones. */
const textsOf = ({ texts }: SearchDocument): readonly string[] =>
  texts.map(
    ({ field, boost, suggested, words }) =>
      `${field} ${boost}${suggested ? "!" : ""}: ${words.join(" ")}`,
  );

describe("the document of", () => {
  test("a user", () => {
    const urn = "urn:li:corpuser:imke.sorland";
    const document = documentOf(urn, sample(urn));
    expect(document.values).toEqual({
      urn: [urn],
      _entityType: ["corpuser"],
      systemCreated: [changedAt],
      runId: ["run-1"],
      ldap: ["imke.sorland"],
      active: [true],
      system: [false],
      displayName: ["Imke Sørland"],
      _entityName: ["Imke Sørland"],
      email: ["imke.sorland@marrowhill.example"],
      fullName: ["Imke Sørland"],
      title: ["Head seed librarian"],
    });
    expect(document.texts[1]).toEqual({
      field: "ldap",
      value: "imke.sorland",
      folded: "imke.sorland",
      words: ["imke", "sorland"],
      boost: 40,
      suggested: true,
    });
    expect(textsOf(document)).toEqual([
      "urn 4: imke sorland",
      "ldap 40!: imke sorland",
      "displayName 40!: imke sorland",
      "email 1: imke sorland marrowhill example",
      "title 1: head seed librarian",
      "fullName 40!: imke sorland",
    ]);
  });

  test("a dataset", () => {
    const urn = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";
    const document = documentOf(urn, sample(urn));
    expect(document.values).toEqual({
      urn: [urn],
      _entityType: ["dataset"],
      systemCreated: [changedAt],
      runId: ["run-1"],
      platform: ["urn:li:dataPlatform:snowflake"],
      id: ["vault.viability.forecast"],
      origin: ["PROD"],
      name: ["forecast"],
      _entityName: ["forecast"],
      qualifiedName: ["vault.viability.forecast"],
      description: [
        "For each accession the viability expected next spring, and whether it has to be regrown.",
      ],
      hasDescription: [true],
      fieldPaths: ["accession_id", "viability_next_spring", "regrow", "last_of_its_kind"],
      fieldDescriptions: [
        "Which packet",
        "Expected share of seeds that germinate",
        "Expected to fall below 0.85",
        "No other library holds the variety",
      ],
      fieldTags: ["urn:li:tag:RegrowSoon", "urn:li:tag:LastOfItsKind"],
      fieldGlossaryTerms: ["urn:li:glossaryTerm:ViabilityRate"],
      upstreams: [
        "urn:li:dataset:(urn:li:dataPlatform:postgres,seeds.public.accession,PROD)",
        "urn:li:dataset:(urn:li:dataPlatform:postgres,seeds.public.germination_test,PROD)",
        "urn:li:dataset:(urn:li:dataPlatform:s3,marrow-hill/cold-store/readings,PROD)",
      ],
      hasUpstreams: [true],
      hasFineGrainedUpstreams: [false],
      owners: ["urn:li:corpuser:tomasz.wren", "urn:li:corpuser:adaeze.obi"],
      hasOwners: [true],
      hasGlossaryTerms: [true],
      tags: ["urn:li:tag:RegrowSoon"],
      hasTags: [true],
    });
    expect(textsOf(document)).toEqual([
      "urn 4: snowflake vault viability forecast prod",
      "platform 1!: snowflake",
      "id 40!: vault viability forecast",
      "fieldPaths 1: accession id",
      "fieldPaths 1: viability next spring",
      "fieldPaths 1: regrow",
      "fieldPaths 1: last of its kind",
      "fieldDescriptions 1: which packet",
      "fieldDescriptions 1: expected share of seeds that germinate",
      "fieldDescriptions 1: expected to fall below 0 85",
      "fieldDescriptions 1: no other library holds the variety",
      "fieldTags 0.5: regrow soon ␟ regrowsoon",
      "fieldTags 0.5: last of its kind ␟ lastofitskind",
      "fieldGlossaryTerms 0.5: viability rate ␟ viabilityrate",
      "name 40!: forecast",
      "qualifiedName 40!: vault viability forecast",
      "description 1: for each accession the viability expected next spring and whether it has to be regrown",
      "tags 0.5: regrow soon ␟ regrowsoon",
    ]);
  });

  test("a dashboard", () => {
    const urn = "urn:li:dashboard:(superset,regrow-this-spring)";
    const { values } = documentOf(urn, sample(urn));
    expect(values).toMatchObject({
      _entityType: ["dashboard"],
      tool: ["superset"],
      title: ["Regrow this spring"],
      _entityName: ["Regrow this spring"],
      access: ["PUBLIC"],
      lastModifiedAt: [1_772_496_000_000],
      hasDescription: [true],
    });
  });

  test("a term", () => {
    const urn = "urn:li:glossaryTerm:ViabilityRate";
    const document = documentOf(urn, sample(urn));
    expect(document.values).toMatchObject({
      id: ["ViabilityRate"],
      name: ["Viability rate"],
      parentNode: ["urn:li:glossaryNode:SeedPhysiology"],
      hasParentNode: [true],
      termSource: ["INTERNAL"],
      customProperties: ["threshold=0.85"],
    });
    expect(textsOf(document)).toContain("customProperties 1: threshold 0 85");
  });

  test("an entity with a key aspect alone", () => {
    expect(documentOf("urn:li:tag:pii").values).toEqual({
      urn: ["urn:li:tag:pii"],
      _entityType: ["tag"],
      systemCreated: [changedAt],
      runId: ["run-1"],
      id: ["pii"],
    });
  });
});

describe("the search projection returns no document", () => {
  test("without a key, or for a deleted entity", () => {
    const state = stateOf(tides, { status: { removed: false } });
    const removed = stateOf(tides, {}, [aspectState("datasetKey", {}, { removed: true })]);
    expect(project(state, "dataset")).toBeDefined();
    expect(project(removed, "dataset")).toBeUndefined();
    const aspects = new Map([...state.aspects].filter(([name]) => name !== "datasetKey"));
    expect(project({ ...state, aspects }, "dataset")).toBeUndefined();
  });

  test.each(["nothing", "constructor", "toString"])("of an unknown entity type %j", (type) => {
    expect(project(stateOf(tides), type)).toBeUndefined();
  });
});

test("the projection decides whether there is a document before it reads values", () => {
  const invalid = { ...aspectState("status", {}), value: "{" };
  const make = projection(stateOf(tides, {}, [invalid]), "dataset");
  expect(make).toBeDefined();
  expect(make).toThrow(SyntaxError);
  const gone = aspectState("datasetKey", {}, { removed: true });
  expect(projection(stateOf(tides, {}, [invalid, gone]), "dataset")).toBeUndefined();
});

describe("with a policy for values, a document is built without", () => {
  const invalid = { ...aspectState("status", {}), value: "{", version: 7 };
  const state = stateOf(tides, { datasetProperties: { name: "tides" } }, [invalid]);
  const at = 1_700_000_000_000;
  const event = (value: string, position: number) =>
    new Map([["operation", { time: at, value, position }]]);
  const good = JSON.stringify({ timestampMillis: at, lastUpdatedTimestamp: at });
  function built(latest: Parameters<typeof projection>[2], dropped: readonly string[] = []) {
    const settled: (readonly [aspect: string, version: number])[][] = [];
    const make = projection(state, "dataset", latest, {
      omits: (aspect, version) => dropped.includes(`${aspect} ${version}`),
      reportFailed: (failed) =>
        void settled.push(failed.map(({ aspect, version }) => [aspect, version] as const)),
    });
    return { values: make?.().values, settled };
  }

  test("the values that cannot be projected, which the policy receives", () => {
    const { values, settled } = built(event("{", 40));
    expect(values).toMatchObject({ urn: [tides], name: ["tides"] });
    expect(values).not.toHaveProperty("lastOperationTime");
    expect(settled).toEqual([
      [
        ["status", 7],
        ["operation", 40],
      ],
    ]);
  });

  test("the values that were dropped, but with other values of the same aspect", () => {
    const dropped = built(event(good, 41), ["status 7", "operation 40"]);
    expect(dropped.values).toMatchObject({ name: ["tides"], lastOperationTime: [at] });
    expect(dropped.settled).toEqual([[]]);
    const omitted = built(event(good, 41), ["status 6", "operation 41"]);
    expect(omitted.values).not.toHaveProperty("lastOperationTime");
    expect(omitted.settled).toEqual([[["status", 7]]]);
  });
});

describe("a document has", () => {
  const values = (...args: Parameters<typeof documentOf>) => documentOf(...args).values;
  const properties = (more: object) => ({ datasetProperties: { customProperties: {}, ...more } });

  test("`removed` if the status has it", () => {
    expect(values(tides)).not.toHaveProperty("removed");
    expect(values(tides, { status: { removed: true } }).removed).toEqual([true]);
    expect(values(tides, { status: { removed: false } }).removed).toEqual([false]);
  });

  test("no values of a deleted aspect", () => {
    const gone = aspectState("status", { removed: true }, { removed: true });
    expect(values(tides, {}, [gone])).not.toHaveProperty("removed");
  });

  test("a limited number of runs of its aspects, newest first", () => {
    const run = (name: string, runId: string, lastObserved: number, removed = false) =>
      aspectState(name, {}, { system: { runId, lastObserved }, removed });
    const some = [
      run("status", "b", 30),
      run("globalTags", "a", 30),
      run("ownership", "c", 20),
      run("domains", "c", 40),
      run("deprecation", "d", 90, true),
    ];
    expect(values(tides, {}, some).runId).toEqual(["run-1", "c", "a", "b"]);
    const names = defaultModel.entities.get("dataset")?.aspects ?? [];
    const many = names.slice(0, runsMax + 9).map((name, at) => run(name, `run ${at}`, -at));
    const all = stateOf(
      tides,
      {},
      many.filter(({ name }) => !rules.rules[name]),
    );
    const wide: EntityState = {
      ...all,
      aspects: new Map([...all.aspects, ...many.map((state) => [state.name, state] as const)]),
    };
    const runs = project(wide, "dataset")?.values.runId;
    expect(runs).toHaveLength(runsMax);
    expect(runs?.slice(0, 2)).toEqual(["run-1", "run 0"]);
  });

  test("has-fields and counts, for present and for absent values", () => {
    const edge = (urn: string) => ({ destinationUrn: urn });
    const job = "urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,PROD),load)";
    const lineage = {
      inputDatasets: [tides],
      outputDatasets: [],
      inputDatasetEdges: [edge(tides), edge(`${tides.slice(0, -6)}_raw,PROD)`)],
    };
    const document = values(job, { dataJobInputOutput: lineage });
    expect(document).toMatchObject({ numInputDatasets: [2], numOutputDatasets: [0] });
    expect(document.inputs).toEqual([tides]);
    expect(document).not.toHaveProperty("outputs");
    expect(values(tides, properties({ description: "" })).hasDescription).toEqual([false]);
    expect(values(tides)).not.toHaveProperty("hasDescription");
  });

  test("true and the highest count if several values set the same field", () => {
    const draft = createDraft();
    const plain = { boost: 1, queried: false, suggested: false };
    const flag: Slot = { number: 0, field: { ...plain, name: "hasTides", type: "BOOLEAN" } };
    const count: Slot = { number: 1, field: { ...plain, name: "numTides", type: "COUNT" } };
    for (const value of [false, true, false]) draft.addFlag(flag, value);
    for (const value of [2, 3, 0]) draft.addCount(count, value);
    expect(draft.document(tides, "dataset").values).toEqual({ hasTides: [true], numTides: [3] });
  });

  test("texts with weights that depend on values of the entity", () => {
    const boosts = (urn: string, aspects: Parameters<typeof documentOf>[1]) =>
      Object.fromEntries(documentOf(urn, aspects).texts.map(({ field, boost }) => [field, boost]));
    const named = properties({ name: "tides", description: "ebb and flow" });
    const [name, description] = [40, 1];
    expect(boosts(tides, named)).toMatchObject({ name, description, urn: 4 });
    const withDeprecation = (deprecated: boolean) => ({
      ...named,
      deprecation: { deprecated, note: "", actor: ada },
    });
    expect(boosts(tides, withDeprecation(false))).toMatchObject({ name, description, urn: 4 });
    expect(boosts(tides, withDeprecation(true))).toMatchObject({
      name: 20,
      description: 0.5,
      urn: 2,
    });
    const user = (active: boolean) => boosts(ada, { corpUserInfo: { active, displayName: "Ada" } });
    expect(user(true).displayName).toBe(name);
    expect(user(false).displayName).toBe(name / 2);
  });

  test("no empty texts, and each value once", () => {
    const document = documentOf(tides, {
      ...properties({ name: "", qualifiedName: "harbour.tides" }),
      globalTags: {
        tags: [{ tag: "urn:li:tag:a" }, { tag: "urn:li:tag:b" }, { tag: "urn:li:tag:a" }],
      },
      dataPlatformInstance: { platform: "urn:li:dataPlatform:hive" },
    });
    expect(document.values).not.toHaveProperty("name");
    expect(document.values).not.toHaveProperty("_entityName");
    expect(document.values.tags).toEqual(["urn:li:tag:a", "urn:li:tag:b"]);
    expect(document.values.platform).toEqual(["urn:li:dataPlatform:hive"]);
    expect(document.texts.filter(({ field }) => field === "platform")).toHaveLength(1);
  });

  test("the values of both aspects that define a field, in the order of the registry", () => {
    const editable = { corpUserEditableInfo: { displayName: "Countess" } };
    const info = { corpUserInfo: { active: true, displayName: "Ada" } };
    const expected = ["Ada", "Countess"];
    expect(values(ada, { ...editable, ...info }).displayName).toEqual(expected);
    expect(values(ada, { ...info, ...editable }).displayName).toEqual(expected);
  });

  test("entries of maps, except those with values too long", () => {
    const long = "x".repeat(mapValueCharsMax);
    const customProperties = { team: "harbour", empty: "", long, less: long.slice(1) };
    expect(values(tides, properties({ customProperties })).customProperties).toEqual([
      "team=harbour",
      "empty=",
      `less=${long.slice(1)}`,
    ]);
  });

  test("a separate field for each key of a map of lists", () => {
    const technical = "urn:li:ownershipType:__system__technical_owner";
    const ownerTypes = { [technical]: [ada, "urn:li:corpuser:otto", ada] };
    const owners = [{ owner: ada, type: "TECHNICAL_OWNER" }];
    const document = values(tides, { ownership: { owners, ownerTypes } });
    expect(document[`ownerTypes.${technical}`]).toEqual([ada, "urn:li:corpuser:otto"]);
    expect(document.ownerTypes).toEqual([technical]);
  });

  test("structured properties with their ids as field names", () => {
    const property = (id: string, ...values: object[]) => ({
      propertyUrn: `urn:li:structuredProperty:${id}`,
      values,
    });
    const properties = [
      property("io.acme.retention", { double: 30 }, { double: 90 }),
      property("io.acme.class", { string: "secret" }, { string: "" }),
    ];
    expect(values(tides, { structuredProperties: { properties } })).toMatchObject({
      "structuredProperties.io.acme.retention": [30, 90],
      "structuredProperties.io.acme.class": ["secret"],
      structuredProperties: ["io.acme.retention", "io.acme.class"],
    });
  });

  test("paths with one slash before each folder, and joined ids of folders", () => {
    const document = values(tides, {
      browsePaths: { paths: ["/prod/hive/harbour", "prod//hive/", "/", ""] },
      browsePathsV2: {
        path: [{ id: "urn:li:container:a", urn: "urn:li:container:a" }, { id: "b" }],
      },
    });
    expect(document.browsePaths).toEqual(["/prod/hive/harbour", "/prod/hive", "/"]);
    expect(document.browsePathV2).toEqual(["␟urn:li:container:a␟b"]);
    expect(values(tides, { browsePathsV2: { path: [] } })).not.toHaveProperty("browsePathV2");
  });

  test("dates and counts as numbers", () => {
    const created = properties({ created: { time: 1_690_000_000_000 } });
    expect(values(tides, created).createdAt).toEqual([1_690_000_000_000]);
    const incident = { type: "CUSTOM", entities: [tides], priority: 2, created: stamp };
    const status = { state: "ACTIVE", lastUpdated: stamp };
    const incidentInfo = { ...incident, status, source: { type: "MANUAL" } };
    expect(values("urn:li:incident:leak", { incidentInfo })).toMatchObject({
      type: ["CUSTOM"],
      source_type: ["MANUAL"],
      priority: [2],
      created: [stamp.time],
      state: ["ACTIVE"],
    });
  });

  test("the time of change of the terms, if there are any", () => {
    const terms = (urns: readonly string[]) => ({
      glossaryTerms: { terms: urns.map((urn) => ({ urn })), auditStamp: stamp },
    });
    expect(values(tides, terms(["urn:li:glossaryTerm:Tide"])).termsModifiedAt).toEqual([changedAt]);
    expect(values(tides, terms([]))).not.toHaveProperty("termsModifiedAt");
  });

  test("the plain text of a text with mark-up", () => {
    const description = "**High** and <b>low</b> water, see [the chart](https://x.example/a?b=c)";
    const document = documentOf(tides, properties({ description }));
    expect(document.values.description).toEqual(["High and  low  water, see the chart"]);
    expect(textsOf(document)).toContain("description 1: high and low water see the chart");
    const picture = `![](data:image/png;base64,${"iVBORw0KGgo".repeat(99)}=)`;
    expect(values(tides, properties({ description: picture })).hasDescription).toEqual([false]);
  });

  test("the business attribute of a schema field", () => {
    const attribute = "urn:li:businessAttribute:tide";
    const document = values(`urn:li:schemaField:(${tides},height)`, {
      businessAttributes: { businessAttribute: { businessAttributeUrn: attribute } },
    });
    expect(document).toMatchObject({
      businessAttributeRef: [attribute],
      schemaFieldBusinessAttribute: [attribute],
      schemaFieldBusinessAttributeModifiedAt: [changedAt],
    });
  });
});

describe("a document is bounded:", () => {
  const columns = (count: number, description: string) => ({
    schemaMetadata: {
      schemaName: "tides",
      platform: "urn:li:dataPlatform:hive",
      version: 0,
      hash: "",
      platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
      fields: Array.from({ length: count }, (_, index) => ({
        fieldPath: `column_${index}`,
        description: `${index}: ${description}`,
        nativeDataType: "int",
        type: { type: { "com.linkedin.schema.NumberType": {} } },
      })),
    },
  });

  test("a document has all of 12,000 columns, with the words of their names and descriptions", () => {
    const { values, texts } = documentOf(tides, columns(12_000, "the height of high water"));
    expect(values.fieldPaths).toHaveLength(12_000);
    expect(values.fieldDescriptions).toHaveLength(12_000);
    const wordsOf = (name: string) => texts.filter(({ field }) => field === name);
    expect(wordsOf("fieldPaths").at(-1)?.words).toEqual(["column", "11999"]);
    expect(wordsOf("fieldDescriptions").at(-1)?.words).toContain("water");
  });

  test("by the number of values of a field", () => {
    const { values } = documentOf(tides, columns(fieldValuesMax + 1, "a"));
    expect(values.fieldPaths).toHaveLength(fieldValuesMax);
    expect(values.fieldPaths?.at(-1)).toBe(`column_${fieldValuesMax - 1}`);
  });

  test("by the number of different values", () => {
    const tag = (index: number) => ({ tag: `urn:li:tag:t${index % 30}` });
    const tags = Array.from({ length: 90 }, (_, index) => tag(index));
    const document = documentOf(tides, { globalTags: { tags } });
    expect(document.values.tags).toHaveLength(30);
    expect(document.texts.filter(({ field }) => field === "tags")).toHaveLength(30);
  });

  test("by the length of a text, all words of which are searchable", () => {
    const description = `${"x".repeat(valueCharsMax - 1)}🌊 and the end`;
    const document = documentOf(tides, { datasetProperties: { description } });
    expect(document.values.description).toEqual(["x".repeat(valueCharsMax - 1)]);
    const text = document.texts.find(({ field }) => field === "description");
    expect(text?.words.slice(1)).toEqual(["🌊", "and", "the", "end"]);
    expect(text?.value).toHaveLength(valueCharsMax - 1);
  });

  test("by the number of words, names before descriptions", () => {
    const description = "a tide is a long wave ".repeat(20);
    const { texts } = documentOf(tides, {
      ...columns(fieldValuesMax, description),
      datasetProperties: { name: "tides", customProperties: {} },
    });
    expect(texts.reduce((sum, { words }) => sum + words.length, 0)).toBe(documentWordsMax);
    expect(texts[0]?.boost).toBe(40);
    const paths = texts.filter(({ field }) => field === "fieldPaths");
    expect(paths).toHaveLength(fieldValuesMax);
    expect(paths.every(({ words }) => words.length > 0)).toBe(true);
    expect(texts.at(-1)).toMatchObject({ field: "fieldDescriptions", words: [] });
  });
});

describe("the latest events", () => {
  const dataset = "urn:li:dataset:(urn:li:dataPlatform:p,n,PROD)";
  const latest = (events: Readonly<Record<string, object>>) =>
    new Map(
      Object.entries(events).map(([aspect, value]) => [
        aspect,
        { time: 5, value: JSON.stringify({ timestampMillis: 5, ...value }) },
      ]),
    );

  test("fields of the latest events are added to those of the aspects", () => {
    const events = latest({
      operation: { lastUpdatedTimestamp: 17, operationType: "INSERT" },
      datasetProfile: { rowCount: 3, columnCount: 0 },
      datasetUsageStatistics: { uniqueUserCount: 4, totalSqlQueries: 9 },
    });
    const document = project(stateOf(dataset, { status: { removed: false } }), "dataset", events);
    expect(document?.values).toMatchObject({
      ...{ removed: [false], lastOperationTime: [17], uniqueUserCount: [4], totalSqlQueries: [9] },
      ...{ rowCount: [3], hasRowCount: [true], columnCount: [0], hasColumnCount: [true] },
    });
    expect(document?.values).not.toHaveProperty("sizeInBytes");
    expect(project(stateOf(dataset), "dataset")?.values).not.toHaveProperty("rowCount");
  });

  test("events of a missing entity or of another type are ignored", () => {
    const events = latest({ operation: { lastUpdatedTimestamp: 17 }, assertionRunEvent: {} });
    const gone = { ...stateOf(dataset), aspects: new Map() };
    expect(project(gone, "dataset", events)).toBeUndefined();
    const user = "urn:li:corpuser:ada";
    expect(project(stateOf(user), "corpuser", events)).toEqual(documentOf(user));
  });

  test("results of assertions are fields, also as text", () => {
    const events = latest({ assertionRunEvent: { result: { type: "FAILURE" } } });
    const document = project(stateOf("urn:li:assertion:a"), "assertion", events);
    expect(document?.values).toMatchObject({ type: ["FAILURE"], lastCompletedTime: [5] });
    expect(document?.texts.map(({ words }) => words)).toContainEqual(["failure"]);
  });
});

describe("for any values of the aspects,", () => {
  const urns = ["corpuser:a", "dataset:(urn:li:dataPlatform:p,n,PROD)", "tag:t", "chart:(c,1)"];
  const json = fc.jsonValue({ maxDepth: 4 });

  test("a document has known fields, whatever the order of the aspects", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...urns.map((id) => `urn:li:${id}`)),
        fc.array(fc.tuple(fc.nat(), json), { maxLength: 6 }),
        (urn, drawn) => {
          const type = entityTypeOf(urn);
          const names = rules.sources[type]?.slice(1) ?? [];
          const states = drawn.map(([n, value]) =>
            aspectState(names[n % names.length] ?? "status", value),
          );
          const document = project(stateOf(urn, {}, states), type);
          const byName = new Map(states.map((state) => [state.name, state]));
          const other = project(stateOf(urn, {}, [...byName.values()].reverse()), type);
          expect(other).toEqual(document);
          const known = new Set(rules.fields[type]?.map(({ name }) => name));
          for (const [field, values] of Object.entries(document?.values ?? {})) {
            expect(known.has(field) || /^(ownerTypes|structuredProperties)\./.test(field)).toBe(
              true,
            );
            expect(values.length).toBeGreaterThan(0);
            expect(new Set(values).size).toBe(values.length);
          }
          for (const { field, value, boost } of document?.texts ?? []) {
            expect(document?.values[field]).toContain(value);
            expect(boost * 64).toBe(Math.round(boost * 64));
            expect(boost).toBeGreaterThan(0);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
