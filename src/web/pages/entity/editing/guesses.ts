/** The aspects that a write leads to, shown until the service confirms it. */
import type { Aspects } from "../../../api/aspect.ts";
import { isObject, type JsonObject, listAt, textAt } from "../../../api/json.ts";
import { descriptionAspects } from "../../../api/privileges.ts";
import { typeOf } from "../../../api/urn.ts";

/** Computes the aspects after a write. */
export type Guess = (aspects: Aspects) => Aspects;

function replaced(aspects: Aspects, name: string, value: JsonObject): Aspects {
  const before = aspects.get(name) ?? {
    actor: "",
    time: Date.now(),
    version: "",
    runId: undefined,
  };
  return new Map([...aspects, [name, { ...before, name, value }]]);
}

const changed = (
  aspects: Aspects,
  name: string,
  list: string,
  items: readonly unknown[],
): Aspects => replaced(aspects, name, { ...aspects.get(name)?.value, [list]: items });

/** A list of an aspect gets an item. */
export const withItem =
  (name: string, list: string, item: JsonObject | string): Guess =>
  (aspects) =>
    changed(aspects, name, list, [...listAt(aspects.get(name)?.value, list), item]);

/** A list of an aspect has only this item. */
export const withOnly =
  (name: string, list: string, items: readonly string[]): Guess =>
  (aspects) =>
    changed(aspects, name, list, items);

/** A list of an aspect loses the items whose member is the urn. */
export const withoutItem =
  (name: string, list: string, member: string, urn: string): Guess =>
  (aspects) => {
    const items = listAt(aspects.get(name)?.value, list);
    return changed(
      aspects,
      name,
      list,
      items.filter((item) => textAt(item, member) !== urn),
    );
  };

/** An aspect gets some members. */
export const withMembers =
  (name: string, members: JsonObject): Guess =>
  (aspects) =>
    replaced(aspects, name, { ...aspects.get(name)?.value, ...members });

/** The description of an entity is another. */
export function withDescription(urn: string, text: string): Guess {
  const type = typeOf(urn);
  const aspect = descriptionAspects.get(type) ?? "";
  if (type === "document") return withMembers(aspect, { contents: { text } });
  const member = type === "glossaryTerm" || type === "glossaryNode" ? "definition" : "description";
  return withMembers(aspect, { [member]: text });
}

const columnTexts = "editableSchemaMetadata";
const columnTextsList = "editableSchemaFieldInfo";

/** The edited texts and labels of a column change. */
export const withColumn =
  (path: string, change: (before: JsonObject) => JsonObject): Guess =>
  (aspects) => {
    const items = listAt(aspects.get(columnTexts)?.value, columnTextsList);
    const n = items.findIndex((item) => textAt(item, "fieldPath") === path);
    const before = items[n];
    const after = change(isObject(before) ? before : { fieldPath: path });
    return changed(
      aspects,
      columnTexts,
      columnTextsList,
      n < 0 ? [...items, after] : items.with(n, after),
    );
  };

/** A column gets a tag or term. */
export const withColumnLabel = (path: string, label: string): Guess => {
  const { aspect, list, member } = columnLabels(label);
  return withColumn(path, (before) => ({
    ...before,
    [aspect]: { [list]: [...listAt(before, aspect, list), { [member]: label }] },
  }));
};

/** A column loses a tag or term. */
export const withoutColumnLabel = (path: string, label: string): Guess => {
  const { aspect, list, member } = columnLabels(label);
  return withColumn(path, (before) => ({
    ...before,
    [aspect]: {
      [list]: listAt(before, aspect, list).filter((item) => textAt(item, member) !== label),
    },
  }));
};

const columnLabels = (label: string) =>
  typeOf(label) === "tag"
    ? { aspect: "globalTags", list: "tags", member: "tag" }
    : { aspect: "glossaryTerms", list: "terms", member: "urn" };
