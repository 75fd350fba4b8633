/** Pure functions of the pages: search, export, columns, differences, lineage. */
import { describe, expect, test } from "vitest";
import { batchesOf } from "../../src/web/api/ingest.ts";
import { edgesOfPaths } from "../../src/web/api/lineage.ts";
import { serviceStateOf } from "../../src/web/api/metrics.ts";
import { summaryOf } from "../../src/web/api/summary.ts";
import { nameOfUrn, partsOf, platformOfUrn } from "../../src/web/api/urn.ts";
import { formatUrlQuery, parseUrlQuery } from "../../src/web/app/url-query.ts";
import { csvOf } from "../../src/web/components/csv.ts";
import { offsetOfPath, pathInMessage } from "../../src/web/components/json-path.ts";
import { safeUrl } from "../../src/web/components/safe-url.ts";
import { columnsOf, filterColumns } from "../../src/web/pages/entity/column-rows.ts";
import { alignLines } from "../../src/web/pages/entity/history/line-difference.ts";
import { columnEdgesOf } from "../../src/web/pages/entity/lineage/column-edges.ts";
import { columnOf } from "../../src/web/pages/entity/lineage/column-urn.ts";
import {
  columnsAround,
  joinGraphs,
  pathBetween,
} from "../../src/web/pages/entity/lineage/graph.ts";
import { definitionOf, parseValue } from "../../src/web/pages/entity/properties/definition.ts";
import { summaryOfRuns, titleOfAssertion } from "../../src/web/pages/entity/quality/results.ts";
import { statementsOf } from "../../src/web/pages/entity/relationships/statements.ts";
import { groupsOf } from "../../src/web/pages/home/change-groups.ts";
import { filtersOf, filterTexts, toggleFilter } from "../../src/web/pages/search/filters.ts";
import {
  excerptOf,
  splitAtMatches,
  withoutMarks,
  wordsOfQuery,
} from "../../src/web/pages/search/highlight.ts";
import { problemsOf } from "../../src/web/pages/search/query-problems.ts";

const aspect = (name: string, value: Readonly<Record<string, unknown>>) =>
  [name, { name, value, actor: "", time: 0, version: "1", runId: undefined }] as const;

const forecast = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.forecast,PROD)";

describe("urns", () => {
  test("split at the commas of the outer level only", () => {
    expect(partsOf("urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,PROD),forecast)")).toEqual([
      "urn:li:dataFlow:(airflow,nightly,PROD)",
      "forecast",
    ]);
  });

  test("have a name and a platform", () => {
    expect(nameOfUrn(forecast)).toBe("vault.forecast");
    expect(nameOfUrn("urn:li:tag:Two%20words")).toBe("Two words");
    expect(platformOfUrn(forecast)).toBe("urn:li:dataPlatform:snowflake");
    expect(platformOfUrn("urn:li:tag:Rare")).toBeUndefined();
    const flow = "urn:acme:dataFlow:(airflow,nightly,PROD)";
    expect(nameOfUrn(`urn:acme:dataJob:(${flow},load)`)).toBe("load");
    expect(platformOfUrn(`urn:acme:dataJob:(${flow},load)`)).toBe("urn:acme:dataPlatform:airflow");
  });
});

describe("the URL", () => {
  test("keeps texts that look like numbers or JSON, and repeated parameters", () => {
    const query = { q: "007", f: ["platform:a", "tags:b"], asOf: '{"x":1}' };
    expect(parseUrlQuery(formatUrlQuery(query))).toEqual(query);
  });

  test("holds filters whose values contain colons", () => {
    const filters = filtersOf([`platform:urn:li:dataPlatform:kafka`, "origin:PROD"]);
    expect(filters.get("platform")).toEqual(["urn:li:dataPlatform:kafka"]);
    const without = toggleFilter(filters, "origin", "PROD");
    expect(filterTexts(without)).toEqual(["platform:urn:li:dataPlatform:kafka"]);
  });
});

describe("highlights", () => {
  test("mark the words of a query without its operators and field names", () => {
    expect(wordsOfQuery('name:seed* OR "cold store"')).toEqual(["seed", "cold", "store"]);
    expect(splitAtMatches("Cold seeds", ["seed", "cold"]).filter(({ matches }) => matches)).toEqual(
      [
        { part: "Cold", start: 0, matches: true },
        { part: "seed", start: 5, matches: true },
      ],
    );
  });

  test("shorten a text around its first match", () => {
    const text = `${"x ".repeat(200)}seed ${"y ".repeat(200)}`;
    expect(excerptOf(text, ["seed"], 60)).toContain("seed");
    expect(excerptOf(text, ["seed"], 60).length).toBeLessThanOrEqual(62);
  });
});

describe("the problems of a query", () => {
  test.each([
    ["owners:(a OR b", ["A bracket is not closed."]],
    ["a) b", ["A bracket is closed that was not opened."]],
    ['name:"two words', ["A quote is not closed."]],
    ["a AND", ["Nothing follows AND."]],
    ["(a OR ) NOT", ["Nothing follows OR.", "Nothing follows NOT."]],
    ["owners:", ["owners: has no value."]],
    ["rowCount:[1 TO 5", ["The range of rowCount is not closed."]],
    ['(a OR "b) c") -tags:x rowCount:[1 TO 5} \\( AND urn:li:tag:y', []],
    ["tags: x", []],
  ])("%s", (query, expected) => {
    expect(problemsOf(query).found).toEqual(expected);
  });

  test("may be fields that the catalog does not have", () => {
    const { fields } = problemsOf('owner:x (-tags:y OR urn:li:tag:z) "colour:red" https://a.b');
    expect(fields).toEqual(["owner", "tags"]);
  });
});

test("CSV quotes separators and keeps formulas text", () => {
  expect(csvOf(["a", "b"], [['x"y', "=1+1"]])).toBe('a,b\r\n"x""y",\'=1+1');
});

test("links lead to http, https and mailto only", () => {
  expect(safeUrl("https://example.org/a")).toBe("https://example.org/a");
  expect(safeUrl(" javascript:alert(1)")).toBeUndefined();
  expect(safeUrl("data:text/html,x")).toBeUndefined();
  expect(safeUrl("no address")).toBeUndefined();
});

test("an error of validation is found at its line", () => {
  const path = pathInMessage('ERROR :: /owners/1/type :: "EMPEROR" is not an enum symbol');
  expect(path).toEqual(["owners", "1", "type"]);
  const owner = (type: string) => ({ owner: "a", type });
  const text = JSON.stringify({ owners: [owner("X"), owner("EMPEROR")] }, null, 2);
  const offset = offsetOfPath(text, path) ?? 0;
  expect(text.slice(offset)).toMatch(/^"type": "EMPEROR"/);
});

test("the place of a path is not that of the same name elsewhere, however the JSON is written", () => {
  const text = '{"custom" : {"name" : "inner", "list" : ["a,]", [1], {"name" : 1}]}, "name" : 7}';
  const at = (...path: readonly string[]) => text.slice(offsetOfPath(text, path));
  expect(at("name")).toBe('"name" : 7}');
  expect(at("custom", "list", "2", "name")).toMatch(/^"name" : 1/);
  expect(at("custom", "list", "1")).toMatch(/^\[1\]/);
  expect(at("custom", "absent")).toMatch(/^"custom" :/);
  expect(offsetOfPath(text, ["constructor"])).toBeUndefined();
});

test("columns join the schema with edited texts, and are filtered by all words", () => {
  const columns = columnsOf(
    new Map([
      aspect("schemaMetadata", {
        primaryKeys: ["id"],
        fields: [
          { fieldPath: "id", nativeDataType: "NUMBER" },
          { fieldPath: "[version=2.0].[type=struct].address.[type=string].city" },
        ],
      }),
      aspect("editableSchemaMetadata", {
        editableSchemaFieldInfo: [{ fieldPath: "id", description: "The number" }],
      }),
    ]),
  );
  expect(columns.map(({ name, depth, isKey }) => [name, depth, isKey])).toEqual([
    ["id", 0, true],
    ["address.city", 1, false],
  ]);
  expect(filterColumns(columns, "number ID").map(({ name }) => name)).toEqual(["id"]);
});

test("a difference aligns equal lines and shortens long runs of them", () => {
  const lines = Array.from({ length: 10 }, (_, n) => String(n));
  const rows = alignLines(lines, [...lines.slice(0, 9), "new", "9"]);
  expect(rows[0]).toEqual({ kind: "gap", count: 7 });
  expect(rows.filter(({ kind }) => kind === "changed")).toEqual([
    { kind: "changed", before: undefined, after: "new" },
  ]);
});

test("an excerpt shows no marks of Markdown, and keeps names", () => {
  const text = "# Seeds\n**All** of `seeds_left`, see [the runbook](https://example.org/a_b).";
  expect(withoutMarks(text)).toBe("Seeds\nAll of seeds_left, see the runbook.");
});

test("a difference shows a single equal line in place of its number", () => {
  const lines = ["0", "1", "2"];
  const rows = alignLines(lines, [...lines, "new"]);
  expect(rows.map(({ kind }) => kind)).toEqual(["equal", "equal", "equal", "changed"]);
});

test("the description of a document is its text", () => {
  const aspects = new Map([
    aspect("documentInfo", { title: "Cold store", contents: { text: "Close the doors" } }),
  ]);
  const { name, description, exists } = summaryOf("urn:li:document:cold-store", aspects);
  expect([name, description, exists]).toEqual(["Cold store", "Close the doors", true]);
});

describe("lineage", () => {
  test("turns paths into edges along the data", () => {
    expect(edgesOfPaths([["b", "a"]], "UPSTREAM")).toEqual([{ source: "a", target: "b" }]);
    expect(edgesOfPaths([["b", "c"]], "DOWNSTREAM")).toEqual([{ source: "b", target: "c" }]);
  });

  test("joins graphs and finds the shortest path in both directions", () => {
    const edge = (source: string, target: string) => ({ source, target });
    const graph = joinGraphs([
      { urns: ["b"], edges: [edge("a", "b")] },
      { urns: ["b"], edges: [edge("a", "b"), edge("b", "c"), edge("a", "c")] },
    ]);
    expect(graph.urns.toSorted()).toEqual(["a", "b", "c"]);
    expect([...pathBetween(graph, "a", "c")]).toEqual(["a\nc"]);
    expect([...pathBetween(graph, "c", "b")]).toEqual(["b\nc"]);
  });
});

describe("column lineage", () => {
  const column = (urn: string, path: string) => `urn:li:schemaField:(${urn},${path})`;

  test("names a column by its entity and its path without encodings", () => {
    expect(columnOf(column(forecast, "a%28b%2Cc%29"))).toEqual({ urn: forecast, path: "a(b,c)" });
    expect(columnOf(forecast)).toBeUndefined();
  });

  test("joins each source with each target, and input fields with the entity", () => {
    const aspects = new Map([
      aspect("upstreamLineage", {
        fineGrainedLineages: [
          { upstreams: [column("x", "a"), column("x", "b")], downstreams: [column("y", "c")] },
          { upstreams: ["urn:li:dataset:z"], downstreams: [column("y", "c")] },
        ],
      }),
      aspect("inputFields", { fields: [{ schemaFieldUrn: column("x", "a") }] }),
    ]);
    const edges = columnEdgesOf("y", aspects);
    expect(edges.map(({ source, target }) => [source.path, target.path])).toEqual([
      ["a", "c"],
      ["b", "c"],
      ["a", "a"],
    ]);
    const around = columnsAround(edges, { urn: "y", path: "c" });
    expect([...around].toSorted()).toEqual(["x\na", "x\nb", "y\nc"]);
  });
});

test("an edge is stated by the values at the paths of the model", () => {
  const relationship = (name: string, path: string) => ({ name, path: path.split("/") });
  const aspects = new Map([
    aspect("ownership", { owners: [{ owner: "a" }, { owner: "b" }], ownerTypes: { t: ["b"] } }),
  ]);
  const relationships = [
    relationship("OwnedBy", "owners/*/owner"),
    relationship("OwnedBy", "ownerTypes/*/*"),
    relationship("TypedBy", "ownerTypes/$key"),
  ];
  const model = [{ name: "ownership", timeseries: false, relationships }];
  const statements = statementsOf("x", aspects, model);
  const paths = (key: string) => statements.get(key)?.map(({ path }) => path.join("/"));
  expect(paths("OwnedBy\nb")).toEqual(["owners/1/owner", "ownerTypes/t/0"]);
  expect(paths("TypedBy\nt")).toEqual(["ownerTypes/t"]);
  expect(statements.size).toBe(3);
});

describe("structured properties", () => {
  const definition = (value: Readonly<Record<string, unknown>>) =>
    definitionOf("urn:li:structuredProperty:x", new Map([aspect("propertyDefinition", value)]));

  test("take the values that their type allows", () => {
    const number = definition({ valueType: "urn:li:dataType:datahub.number" });
    expect(parseValue(number, " 1.5 ")).toEqual({ double: 1.5 });
    expect(parseValue(number, "many")).toBeUndefined();
    const date = definition({ valueType: "urn:li:dataType:datahub.date" });
    expect(parseValue(date, "2026-07-31")).toEqual({ string: "2026-07-31" });
    expect(parseValue(date, "31.7.2026")).toBeUndefined();
  });

  test("take only allowed values where the definition lists them", () => {
    const allowed = definition({
      valueType: "urn:li:dataType:datahub.string",
      cardinality: "MULTIPLE",
      allowedValues: [{ value: { string: "public" }, description: "All may read" }],
    });
    expect(allowed.multiple).toBe(true);
    expect(parseValue(allowed, "public")).toEqual({ string: "public" });
    expect(parseValue(allowed, "secret")).toBeUndefined();
  });
});

test("assertions have a title, and their runs a summary in words", () => {
  const run = (type: string) => ({ result: { type } });
  const runs = [run("SUCCESS"), run("FAILURE"), run("SUCCESS")];
  expect(summaryOfRuns(runs)).toBe("Last 3 runs: 2 passed, 1 failed");
  const urn = "urn:li:assertion:a1";
  expect(titleOfAssertion({ description: "Rows" }, urn)).toBe("Rows");
  expect(titleOfAssertion({ type: "FRESHNESS" }, urn)).toBe("Freshness (a1)");
});

test("neighbouring changes of one entity by one user are one group", () => {
  const change = (position: number, entityUrn: string) => ({
    position,
    entityUrn,
    entityType: "tag",
    changeType: "UPSERT",
    aspectName: "tagProperties",
  });
  const groups = groupsOf([change(3, "a"), change(2, "a"), change(1, "b")]);
  expect(groups.map(({ position, changes }) => [position, changes.length])).toEqual([
    [3, 2],
    [1, 1],
  ]);
});

test("records of a file are sent in their order, in batches of one kind", () => {
  const snapshot = { proposedSnapshot: {} };
  const proposal = { aspectName: "tags" };
  const sizes = batchesOf([snapshot, snapshot, proposal, snapshot]).map(({ length }) => length);
  expect(sizes).toEqual([2, 1, 1]);
});

test("the state of the service is read from its metrics", () => {
  const state = serviceStateOf(
    'annals_log_position 12\nannals_view_lag_records{view="graph"} 3\nannals_view_failing{view="graph"} 1\n',
  );
  expect(state.logPosition).toBe(12);
  expect(state.views.find(({ name }) => name === "graph")).toMatchObject({ lag: 3, failing: true });
});
