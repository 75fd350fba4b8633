/** Grouping of lineage results by criteria. */
import { expect, test } from "vitest";
import type { Reached } from "../../src/catalog/graph/lineage.ts";
import { groupingOf } from "../../src/catalog/graph/lineage-grouping.ts";

type Fields = Parameters<typeof groupingOf>[1];
const fields = { entityType: (name: string) => name } as unknown as Fields;
const dataset = (n: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,t${n},PROD)`;
const column = (n: number, path = "c") => `urn:li:schemaField:(${dataset(n)},${path})`;
const START = column(9);
const reached = (urns: readonly string[]) => urns.map((urn) => ({ urn }) as Reached);

test("repeated grouping criteria cost no more than a single one", () => {
  const urns = Array.from({ length: 20_000 }, (_, n) => (n % 2 === 0 ? column(n) : dataset(n - 1)));
  const charts = { baseEntityType: "chart", groupingEntityType: "dashboard" };
  const columns = { baseEntityType: "schemaField", groupingEntityType: "dataset" };
  const groupingCriteria = [...Array.from({ length: 200_000 }, () => charts), columns];
  const found = groupingOf(
    { groupingCriteria },
    fields,
    "search",
  )("urn:li:dataset:start", reached(urns));
  expect(found.map(({ urn }) => urn)).toEqual(
    Array.from({ length: 10_000 }, (_, n) => dataset(2 * n)),
  );
});

test("a search groups columns under their datasets unless the request groups otherwise", () => {
  const all = reached([column(1, "a"), column(2), column(1, "b")]);
  const found = (spec: Parameters<typeof groupingOf>[0], form: "search" | "scroll") =>
    groupingOf(
      spec,
      fields,
      form,
    )(START, all).map(({ urn, members }) => [urn, members?.map((one) => one.urn)]);
  const grouped = [
    [dataset(1), [column(1, "a"), column(1, "b")]],
    [dataset(2), [column(2)]],
  ];
  const columns = all.map(({ urn }) => [urn, undefined]);
  const asColumns = {
    groupingCriteria: [{ baseEntityType: "schemaField", groupingEntityType: "schemaField" }],
  };
  expect(found(undefined, "search")).toEqual(grouped);
  expect(found(asColumns, "search")).toEqual(columns);
  expect(found({ groupingCriteria: [] }, "search")).toEqual(columns);
  // A scroll always groups them.
  for (const spec of [undefined, asColumns, { groupingCriteria: [] }]) {
    expect(found(spec, "scroll")).toEqual(grouped);
  }
});

test("a model without columns or datasets has no default grouping", () => {
  const none = { entityType: () => undefined, entityTypes: () => [] } as unknown as Fields;
  const all = reached([column(1), column(2)]);
  expect(groupingOf(undefined, none, "scroll")(START, all)).toEqual(all);
});
