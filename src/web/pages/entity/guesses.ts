/** The aspects that a write leads to, shown until the service confirms it. */
import type { Aspects } from "../../api/aspect.ts";
import { type JsonObject, listAt, textAt } from "../../api/json.ts";

/** Computes the aspects after a write. */
export type Guess = (aspects: Aspects) => Aspects;

function changed(aspects: Aspects, name: string, list: string, items: readonly unknown[]): Aspects {
  const before = aspects.get(name) ?? {
    actor: "",
    time: Date.now(),
    version: "",
    runId: undefined,
  };
  const after = { ...before, name, value: { ...aspects.get(name)?.value, [list]: items } };
  return new Map([...aspects, [name, after]]);
}

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
