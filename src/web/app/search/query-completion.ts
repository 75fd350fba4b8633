/** Completion of the query language: the part of a query at the caret, and what may replace it. */
import { isUrn, keyOf } from "../../api/urn.ts";
import { fieldNamed, queryFields } from "./query-fields.ts";

/** The part of a query that the caret is in. */
interface QueryPart {
  /** Where the part begins; a completion replaces the text from here to the caret. */
  readonly from: number;
  readonly to: number;
  /** The field whose value the part is. */
  readonly field: string | undefined;
  readonly text: string;
}

export interface Completion {
  readonly label: string;
  readonly detail: string;
  /** Replaces the part. */
  readonly insert: string;
  /** The entity that the value names. */
  readonly urn?: string;
}

export function partAt(query: string, caret: number): QueryPart {
  let from = 0;
  let quoted = false;
  for (let n = 0; n < caret; n++) {
    const character = query[n] ?? "";
    if (character === '"') quoted = !quoted;
    else if (!quoted && /[\s()]/.test(character)) from = n + 1;
  }
  if (query[from] === "-" && from < caret) from++;
  const part = query.slice(from, caret);
  const [, field, value = ""] = /^([A-Za-z_][\w.]*):"?(.*)$/su.exec(part) ?? [];
  if (field === undefined) return { from, to: caret, field, text: part };
  return { from: from + field.length + 1, to: caret, field, text: value };
}

const operators: readonly (readonly [string, string])[] = [
  ["AND", "both sides"],
  ["OR", "either side"],
  ["NOT", "without the next part"],
];

const isSimple = (text: string): boolean => /^[\p{L}\p{N}_.-]+$/u.test(text);

/** A value as the language writes it: quoted if it has other characters than those of a word. */
const quotedValue = (value: string): string =>
  isSimple(value) ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`;

/** The shortest form of a urn: its key, where that is a word. */
function valueOfUrn(urn: string): string {
  const key = keyOf(urn);
  return isSimple(key) ? key : quotedValue(urn);
}

/** Completions of the name of a field or of an operator. Without a text, only on demand. */
function nameCompletions(text: string, onDemand: boolean): readonly Completion[] {
  if (!onDemand && text.length < 2) return [];
  const lower = text.toLowerCase();
  const fields = queryFields.filter(
    ({ name, label }) =>
      name.toLowerCase().startsWith(lower) || label.toLowerCase().startsWith(lower),
  );
  return [
    ...fields.map(({ name, label }) => ({
      label: `${name}:`,
      detail: label,
      insert: `${name}:`,
    })),
    ...operators
      .filter(([name]) => name.startsWith(text) && name !== text)
      .map(([name, detail]) => ({ label: name, detail, insert: `${name} ` })),
  ];
}

const dayMs = 86_400_000;
const dayBefore = (now: number, days: number): string =>
  new Date(now - days * dayMs).toISOString().slice(0, 10);

/** Values that the kind of a field offers without asking the service. */
function fixedValues(kind: string, now: number): readonly (readonly [string, string])[] {
  if (kind === "flag") {
    return [
      ["true", "yes"],
      ["false", "no"],
    ];
  }
  if (kind === "date") {
    return [
      [`>${dayBefore(now, 1)}`, "since yesterday"],
      [`>${dayBefore(now, 7)}`, "in the last 7 days"],
      [`>${dayBefore(now, 30)}`, "in the last 30 days"],
      [`[${dayBefore(now, 30)} TO ${dayBefore(now, 0)}]`, "between two days"],
    ];
  }
  if (kind === "number") {
    return [
      [">1000", "more than"],
      ["<1000", "less than"],
      ["[1 TO 1000]", "between, with both ends"],
    ];
  }
  return [];
}

/** A value of a field that the service has. */
export interface KnownValue {
  readonly value: string;
  readonly detail: string;
}

/** Completions of a part; `values` are those of the service for its field. */
export function completionsOf(
  part: QueryPart,
  values: readonly KnownValue[],
  now: number,
  onDemand: boolean,
): readonly Completion[] {
  if (part.field === undefined) return nameCompletions(part.text, onDemand);
  const kind = fieldNamed(part.field)?.kind;
  if (kind === undefined) return [];
  const lower = part.text.toLowerCase();
  const fixed = fixedValues(kind, now)
    .filter(([value]) => value.startsWith(lower))
    .map(([value, detail]) => ({ label: value, detail, insert: `${value} ` }));
  const known = values.map(({ value, detail }) =>
    isUrn(value)
      ? { label: value, detail, insert: `${valueOfUrn(value)} `, urn: value }
      : { label: value, detail, insert: `${quotedValue(value)} ` },
  );
  const any = lower === "" ? [{ label: "*", detail: "has any value", insert: "* " }] : [];
  return [...fixed, ...known, ...any];
}
