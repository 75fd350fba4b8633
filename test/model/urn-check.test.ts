/** The urns that the model allows at a location, by urn types, annotations and keys of entity types. */
import { describe, expect, test } from "vitest";
import { aspectNamed, defaultModel as model } from "./default-model.ts";

const hive = "urn:li:dataPlatform:hive";
const dataset = `urn:li:dataset:(${hive},a.b,PROD)`;
const column = `urn:li:schemaField:(${dataset},id)`;
const chart = "urn:li:chart:(looker,1)";
const stamp = { time: 0, actor: "urn:li:corpuser:mira" };

function wrongIn(aspect: string, value: object) {
  const checked = model.check(aspectNamed(aspect), structuredClone(value));
  if (!checked.ok) throw new Error(JSON.stringify(checked.validationErrors));
  return (checked.wrongUrns ?? []).map(({ urn, path, expected }) => ({ urn, path, expected }));
}

const upstream = (urn: string) => ({
  upstreams: [{ auditStamp: stamp, dataset: urn, type: "COPY" }],
});
const fineGrained = (...upstreams: readonly string[]) => ({
  upstreams: [],
  fineGrainedLineages: [{ upstreamType: "FIELD_SET", downstreamType: "FIELD", upstreams }],
});
const tagged = (tag: string) => ({ tags: [{ tag }] });
const edge = (destinationUrn: string) => ({
  ...{ created: stamp, lastModified: stamp },
  destinationUrn,
});

describe("a urn of another entity type is wrong", () => {
  const cases: readonly [
    where: string,
    aspect: string,
    value: (urn: string) => object,
    right: string,
    wrong: string,
    path: string,
    expected: string,
  ][] = [
    ["a typed urn", "upstreamLineage", upstream, dataset, chart, "/upstreams/0/dataset", "dataset"],
    ["a tag", "globalTags", tagged, "urn:li:tag:x", stamp.actor, "/tags/0/tag", "tag"],
    [
      "the entity types of a relationship",
      "container",
      (container) => ({ container }),
      "urn:li:container:c",
      "urn:li:crate:c",
      "/container",
      "container",
    ],
    [
      "a relationship that an enclosing field states",
      "upstreamLineage",
      fineGrained,
      column,
      "urn:li:tag:x",
      "/fineGrainedLineages/0/upstreams/0",
      "dataset or schemaField",
    ],
    [
      "a record that several aspects share, by the annotation of this one",
      "chartInfo",
      (urn) => ({ title: "c", description: "", lastModified: {}, inputEdges: [edge(urn)] }),
      chart,
      "urn:li:dashboard:(looker,1)",
      "/inputEdges/0/destinationUrn",
      "dataset or chart",
    ],
    [
      "the same record under another annotation",
      "dashboardInfo",
      (urn) => ({ title: "d", description: "", lastModified: {}, chartEdges: [edge(urn)] }),
      chart,
      dataset,
      "/chartEdges/0/destinationUrn",
      "chart",
    ],
    [
      "a member of a union",
      "chartInfo",
      (urn) => ({ title: "c", description: "", lastModified: {}, inputs: [{ string: urn }] }),
      dataset,
      chart,
      "/inputs/0/string",
      "dataset",
    ],
    [
      "the platform of an aspect, whose annotations name no type",
      "dataPlatformInstance",
      (platform) => ({ platform }),
      hive,
      "urn:li:tag:x",
      "/platform",
      "dataPlatform",
    ],
    [
      "the entity types of a urn validation",
      "assertionInfo",
      (urn) => ({ type: "FIELD", fieldAssertion: { type: "FIELD_VALUES", entity: urn } }),
      dataset,
      chart,
      "/fieldAssertion/entity",
      "dataset",
    ],
    [
      "the items of a list that a urn validation describes",
      "propertyDefinition",
      (urn) => ({
        qualifiedName: "p",
        valueType: "urn:li:dataType:datahub.string",
        entityTypes: [urn],
      }),
      "urn:li:entityType:datahub.dataset",
      dataset,
      "/entityTypes/0",
      "entityType",
    ],
  ];
  test.each(cases)(
    "a urn of another type is wrong at %s",
    (_where, aspect, value, right, wrong, path, expected) => {
      expect(wrongIn(aspect, value(right))).toEqual([]);
      expect(wrongIn(aspect, value(wrong))).toEqual([
        { urn: wrong, path, expected: `a urn of entity type ${expected}` },
      ]);
    },
  );

  test("an unrestricted urn has a type of the model, in any letter case", () => {
    const by = (actor: string) => ({
      ...upstream(dataset),
      upstreams: [{ ...upstream(dataset).upstreams[0], auditStamp: { time: 0, actor } }],
    });
    expect(wrongIn("upstreamLineage", by("urn:li:corpUser:mira"))).toEqual([]);
    expect(wrongIn("upstreamLineage", by(hive))).toEqual([]);
    expect(wrongIn("upstreamLineage", by("urn:li:constructor:x"))).toMatchObject([
      { path: "/upstreams/0/auditStamp/actor" },
    ]);
  });

  test("all wrong urns of a value are reported, and the value is normalised", () => {
    const checked = model.check(aspectNamed("globalTags"), {
      tags: [{ tag: "urn:x:corpuser:a" }, { tag: "urn:x:tag:b" }, { tag: chart }],
    });
    expect(checked).toMatchObject({
      value: { tags: [{ tag: "urn:li:corpuser:a" }, { tag: "urn:li:tag:b" }, { tag: chart }] },
      wrongUrns: [{ urn: "urn:li:corpuser:a" }, { urn: chart }],
    });
    expect(model.check(aspectNamed("globalTags"), tagged("urn:li:tag:b"))).not.toHaveProperty(
      "wrongUrns",
    );
  });
});

describe("the id of a urn fits the key of its type", () => {
  test.each([
    dataset,
    `urn:li:dataset:(${hive},f(a,b),PROD)`,
    `urn:li:dataset:(${hive},a%2Cb,PROD)`,
    column,
    `urn:li:schemaField:(${dataset},[version=2.0].[type=struct].x)`,
    `urn:li:schemaField:(${chart},x)`,
    "urn:li:dataJob:(urn:li:dataFlow:(airflow,dag,prod),task)",
    "urn:li:tag:a,b (c)",
    "urn:li:corpuser:mira",
    `urn:li:mlModel:(${hive},m,PROD)`,
  ])("the id of %s fits its key", (urn) => {
    expect(model.faultOfUrn(urn)).toBeUndefined();
  });

  test.each([
    [`urn:li:dataset:(${hive},a,b,PROD)`, "4 key parts where 3 are needed", "%2C"],
    [`urn:li:dataset:(${hive},a(b,c,PROD)`, "4 key parts where 3 are needed", "%2C"],
    [`urn:li:dataset:(${hive},a)`, "2 key parts where 3 are needed"],
    ["urn:li:dataset:a", "1 key part where 3 are needed"],
    [`urn:li:dataset:(${hive},a,NOWHERE)`, 'the origin "NOWHERE"', "PROD"],
    ["urn:li:dataset:(urn:li:tag:x,a,PROD)", "its platform", '"tag"'],
    ["urn:li:dataset:(hive,a,PROD)", "not a urn"],
    [`urn:li:schemaField:(${dataset.replace("PROD", "NOWHERE")},id)`, "its parent", "NOWHERE"],
    [`urn:li:schemaField:(urn:li:constructor:x,id)`, "its parent", "not an entity type"],
    ["urn:li:dataJob:(urn:li:dashboard:(a,b),task)", "its flow", '"dashboard"'],
    ["urn:li:chart:(looker,a,b)", "3 key parts where 2 are needed", "%2C"],
    ["urn:li:constructor:x", '"constructor" is not an entity type'],
  ])("the id of %s does not fit its key", (urn, ...says) => {
    for (const words of says) expect(model.faultOfUrn(urn)).toContain(words);
  });

  test("a strict location accepts no parenthesis and no comma inside a part", () => {
    const about = (urn: string) =>
      wrongIn("assertionInfo", {
        type: "FIELD",
        fieldAssertion: { type: "FIELD_VALUES", entity: urn },
      });
    expect(about(`urn:li:dataset:(${hive},f(a),PROD)`)).toHaveLength(1);
    expect(about(`urn:li:dataset:(${hive},f%28a%29,PROD)`)).toEqual([]);
  });

  test("a urn of many megabytes or thousands of levels is rejected", () => {
    const deep = `${"urn:li:schemaField:(".repeat(50_000)}x${",y)".repeat(50_000)}`;
    const open = `urn:li:dataset:(${hive},${"(,".repeat(2_000_000)},PROD)`;
    expect(model.faultOfUrn(deep)).toBeDefined();
    expect(model.faultOfUrn(open)).toContain("2000003 key parts");
  });
});
