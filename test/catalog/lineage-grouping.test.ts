/** What lineage is grouped by, asked of all that was reached. */
import { expect, test } from "vitest";
import type { Reached } from "../../src/catalog/lineage.ts";
import { groupingOf } from "../../src/catalog/lineage-grouping.ts";

type Fields = Parameters<typeof groupingOf>[1];
const fields = { entityType: (name: string) => name } as unknown as Fields;
const dataset = (n: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,t${n},PROD)`;
const column = (n: number) => `urn:li:schemaField:(${dataset(n)},c)`;
const reached = (urns: readonly string[]) => urns.map((urn) => ({ urn }) as Reached);

test("criteria that are given again and again cost what they cost once", () => {
  const urns = Array.from({ length: 20_000 }, (_, n) => (n % 2 === 0 ? column(n) : dataset(n - 1)));
  const charts = { baseEntityType: "chart", groupingEntityType: "dashboard" };
  const columns = { baseEntityType: "schemaField", groupingEntityType: "dataset" };
  const groupingCriteria = [...Array.from({ length: 200_000 }, () => charts), columns];
  const found = groupingOf({ groupingCriteria }, fields)("urn:li:dataset:start", reached(urns));
  expect(found.map(({ urn }) => urn)).toEqual(
    Array.from({ length: 10_000 }, (_, n) => dataset(2 * n)),
  );
});
