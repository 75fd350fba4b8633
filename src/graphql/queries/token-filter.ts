/** Filters and order of the list of tokens. The list is short, so it is scanned. */
import type { TokenRecord } from "../../auth/tokens/access-tokens.ts";
import { CatalogError } from "../../core/errors.ts";
import { withNamespace } from "../../core/urn.ts";
import { nearest } from "../../lib/did-you-mean.ts";
import { ownValue } from "../../lib/own-value.ts";

export interface FacetFilter {
  readonly field: string;
  readonly values?: readonly string[] | null;
  readonly value?: string | null;
  readonly negated?: boolean | null;
  readonly condition?: string | null;
}

const fields = {
  id: ({ id }: TokenRecord) => id,
  name: ({ name }: TokenRecord) => name,
  description: ({ description }: TokenRecord) => description,
  actorUrn: ({ actorUrn }: TokenRecord) => actorUrn,
  ownerUrn: ({ ownerUrn }: TokenRecord) => ownerUrn,
  createdAt: ({ createdAt }: TokenRecord) => createdAt,
  expiresAt: ({ expiresAt }: TokenRecord) => expiresAt,
} as const;

const urnFields = ["actorUrn", "ownerUrn"];

/** Combines `values` and `value`. Urns may have any namespace. */
function valuesOf({ field, values, value }: FacetFilter, namespace: string): readonly string[] {
  const given = [...(values ?? []), ...(value === null || value === undefined ? [] : [value])];
  const urns = urnFields.includes(field);
  return [...new Set(urns ? given.map((urn) => withNamespace(urn, namespace)) : given)];
}

/** The urns of a filter that admits the tokens of these users only. */
export function ownValuesOf(filter: FacetFilter, namespace: string): readonly string[] {
  const { field, negated, condition } = filter;
  const exact = condition === undefined || condition === null || /^(EQUAL|IN)$/.test(condition);
  return urnFields.includes(field) && negated !== true && exact ? valuesOf(filter, namespace) : [];
}

type Compare = (found: string | number | undefined, value: string) => boolean;

const text = (compare: (found: string, value: string) => boolean): Compare => {
  return (found, value) => found !== undefined && compare(String(found), value);
};
const ordered = (compare: (found: number, value: number) => boolean): Compare => {
  return (found, value) => typeof found === "number" && compare(found, numberOf(value));
};
const equal = text((found, value) => found === value);

const conditions: Readonly<Record<string, Compare>> = {
  EQUAL: equal,
  IN: equal,
  IEQUAL: text((found, value) => found.toLowerCase() === value.toLowerCase()),
  CONTAIN: text((found, value) => found.toLowerCase().includes(value.toLowerCase())),
  START_WITH: text((found, value) => found.toLowerCase().startsWith(value.toLowerCase())),
  END_WITH: text((found, value) => found.toLowerCase().endsWith(value.toLowerCase())),
  GREATER_THAN: ordered((found, value) => found > value),
  GREATER_THAN_OR_EQUAL_TO: ordered((found, value) => found >= value),
  LESS_THAN: ordered((found, value) => found < value),
  LESS_THAN_OR_EQUAL_TO: ordered((found, value) => found <= value),
};

/** Throws `malformed` for an invalid filter. */
export function tokenFilter(
  filters: readonly FacetFilter[],
  namespace: string,
): (record: TokenRecord) => boolean {
  const tests = filters.map((filter) => testOf(filter, namespace));
  return (record) => tests.every((test) => test(record));
}

function testOf(filter: FacetFilter, namespace: string): (record: TokenRecord) => boolean {
  const field = Object.hasOwn(fields, filter.field)
    ? fields[filter.field as keyof typeof fields]
    : undefined;
  if (field === undefined) {
    throw new CatalogError("malformed", `tokens have no field "${filter.field.slice(0, 120)}"`, {
      hint: nearest(filter.field, Object.keys(fields)) ?? `Use ${Object.keys(fields).join(", ")}`,
    });
  }
  const negated = filter.negated === true;
  const condition = filter.condition ?? "EQUAL";
  if (condition === "EXISTS") return (record) => (field(record) !== undefined) !== negated;
  const compare = ownValue(conditions, condition);
  const values = valuesOf(filter, namespace);
  if (compare === undefined || values.length === 0) {
    throw new CatalogError(
      "malformed",
      compare === undefined
        ? `tokens cannot be filtered by ${condition}`
        : `the filter on "${filter.field}" has no values`,
      { hint: `Send values and one of ${Object.keys(conditions).join(", ")}, or EXISTS` },
    );
  }
  return (record) => values.some((value) => compare(field(record), value)) !== negated;
}

function numberOf(value: string): number {
  const number = Number(value);
  if (value.trim() !== "" && Number.isFinite(number)) return number;
  throw new CatalogError("malformed", `"${value.slice(0, 120)}" is no number`, {
    hint: "Send epoch milliseconds",
  });
}

/** Latest expiry first, tokens without expiry last, then newest first. */
export function byExpiry(one: TokenRecord, other: TokenRecord): number {
  const expiry = (other.expiresAt ?? 0) - (one.expiresAt ?? 0);
  if (expiry !== 0) return expiry;
  return other.createdAt - one.createdAt || (one.id < other.id ? -1 : 1);
}
