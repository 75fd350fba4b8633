/** Compiles the rules of one aspect into a function that adds its values to a document. */
import type { AspectRule, Weights } from "./annotations.ts";
import type { DocumentDraft, Slot } from "./document.ts";
import { compileExtract } from "./extract.ts";
import { PROPERTIES } from "./rules.ts";
import { propertyValues, valuesByKey, valuesOf } from "./values.ts";

/** Takes the aspect's parsed value and the time of its last change, in epoch milliseconds. */
export type Fill = (draft: DocumentDraft, value: unknown, time: number) => void;

/** Fields by name; those of the rules are among them. */
type SlotOf = (field: string) => Slot;

export function compileFill(aspect: string, rules: readonly AspectRule[], slotOf: SlotOf): Fill {
  const extract = compileExtract(rules.map(({ path }) => path));
  const takers = rules.map((rule) => compileTaker(rule, slotOf));
  return (draft, value, time) => {
    const found = extract(value);
    for (let number = 0; number < takers.length; number++) {
      takers[number]?.(draft, found[number] ?? nothing, time);
    }
    // No annotation can name these fields.
    if (aspect !== PROPERTIES) return;
    for (const [id, one] of propertyValues(value)) draft.addKeyed(PROPERTIES, id, one);
  };
}

const nothing: readonly unknown[] = [];

type Taker = (draft: DocumentDraft, found: readonly unknown[], time: number) => void;

function compileTaker(rule: AspectRule, slotOf: SlotOf): Taker {
  const { field, type } = rule;
  const own = slotOf(field);
  const aliases = rule.aliases.map(slotOf);
  const [has, count, modifiedAt] = [rule.has, rule.count, rule.modifiedAt].map((name) =>
    name === undefined ? undefined : slotOf(name),
  );
  const keyed = type === "MAP_ARRAY" || type === "OBJECT";
  const { weights } = rule;
  return (draft, found, time) => {
    const values = keyed ? addKeyed(draft, field, found) : valuesOf(rule, found);
    if (!keyed && values.length > 0) {
      draft.add(own, values);
      for (const alias of aliases) draft.add(alias, values);
    }
    const [first] = values;
    const size = values.length;
    if (has) draft.addFlag(has, typeof first === "boolean" ? first : size > 0);
    if (count) draft.addCount(count, typeof first === "number" ? first : size);
    if (modifiedAt && size > 0) draft.add(modifiedAt, [time]);
    if (weights) for (const value of values) draft.weigh(weightOf(weights, String(value)));
  };
}

const weightOf = ({ of, others }: Weights, value: string): number =>
  Object.hasOwn(of, value) ? (of[value] ?? others) : others;

function addKeyed(
  draft: DocumentDraft,
  field: string,
  found: readonly unknown[],
): readonly string[] {
  const entries = valuesByKey(found);
  for (const [key, value] of entries) draft.addKeyed(field, key, value);
  return entries.map(([key]) => key);
}
