/**
 * A request's filter as a condition on documents: any of its groups, each all of
 * its criteria, on every field that some entity type has, under all its names.
 */
import { CatalogError } from "../core/errors.ts";
import {
  type CheckedCriterion,
  type Filter,
  filterInNamespace,
  type HierarchyName,
  isHierarchyName,
  plainField,
  readFilter,
} from "../core/filter.ts";
import { nearest } from "../core/nearest.ts";
import { ownValue } from "../core/own-value.ts";
import { shortened } from "../core/shortened.ts";
import type { Condition } from "../search/search.ts";
import { type Asked, anyOf, conditionOn, everyOf } from "./search-conditions.ts";
import { FACET_SEPARATOR, type KnownField, type SearchFields } from "./search-fields.ts";
import type { Named, NamedValue } from "./search-named-values.ts";

/** The urns that a hierarchy has above or below some. */
export type ExpandHierarchy = (
  urns: readonly string[],
  condition: HierarchyName,
) => Promise<readonly string[]>;

/** A criterion on what documents do not tell; undefined: it is on a field of theirs. */
export type ForeignCriterion = (criterion: CheckedCriterion) => Condition | undefined;

export interface CompiledFilter {
  /** Undefined: every document fulfils it. */
  readonly condition: Condition | undefined;
  /** The fields that it names, by their plain names. */
  readonly fields: ReadonlySet<string>;
  /** The values that are asked for, by the fields as they were named. */
  readonly wanted: Named;
}

interface CompileOptions {
  /** As the request means them. */
  readonly fields: SearchFields;
  readonly foreign?: ForeignCriterion | undefined;
}

export interface FilterCompiler {
  /**
   * Throws `malformed` for a filter of the wrong form, a field that no entity type has, and a value
   * that no value of its field can be.
   */
  compile(filter: Filter | undefined, options: CompileOptions): Promise<CompiledFilter>;
}

interface Dependencies {
  readonly namespace: string;
  readonly expand: ExpandHierarchy;
}

export function createFilterCompiler({ namespace, expand }: Dependencies): FilterCompiler {
  /** Without the criterion's negation. */
  async function conditionFor(
    criterion: CheckedCriterion,
    fields: SearchFields,
  ): Promise<Condition> {
    const { field, condition, texts } = criterion;
    const facet = fields.facet(field);
    if (facet?.fields.length === 2) return ofBoth(criterion, facet.fields, fields);
    const known = fields.find(field);
    if (known.length === 0) throw unknownField(field, fields);
    const asked = isHierarchyName(condition)
      ? ({ how: "equals", texts: await expand(texts, condition) } as const)
      : askedBy({ ...criterion, condition });
    const found = conditionOn(known, asked, fields);
    if ("misfit" in found) throw misfitOf(criterion, known, found.text);
    return found;
  }

  /** A value of two fields at once: dataset␞View; the first alone means any of the second. */
  async function ofBoth(
    criterion: CheckedCriterion,
    [first, second]: readonly [string, string],
    fields: SearchFields,
  ): Promise<Condition> {
    const each = criterion.texts.map(async (text) => {
      const [one = "", ...rest] = text.split(FACET_SEPARATOR);
      const on = (field: string, value: string) =>
        conditionFor({ ...criterion, field, texts: [value] }, fields);
      const parts = [await on(first, one)];
      if (rest.length > 0) parts.push(await on(second, rest.join(FACET_SEPARATOR)));
      return everyOf(parts) as Condition;
    });
    return anyOf(await Promise.all(each));
  }

  return {
    async compile(filter, { fields, foreign }) {
      const named = filterInNamespace(filter, namespace);
      const groups =
        named === undefined || named === null ? [[]] : readFilter(named, { hierarchy: true });
      const conditions: Condition[] = [];
      let holdsAlways = false;
      for (const criteria of groups) {
        const all: Condition[] = [];
        for (const criterion of criteria) {
          const one = foreign?.(criterion) ?? (await conditionFor(criterion, fields));
          // IS_NULL and `negated` both turn the answer around, and so undo each other.
          const turned = criterion.negated !== (criterion.condition === "IS_NULL");
          all.push(turned ? { kind: "not", not: one } : one);
        }
        const group = everyOf(all);
        if (group === undefined) holdsAlways = true;
        else conditions.push(group);
      }
      const criteria = groups.flat();
      return {
        condition: holdsAlways ? undefined : anyOf(conditions),
        fields: new Set(criteria.map(({ field }) => plainField(field))),
        wanted: wantedBy(criteria, fields),
      };
    },
  };
}

function askedBy({ condition, texts }: CheckedCriterion): Asked {
  const [end = ""] = texts;
  switch (condition) {
    case "EQUAL":
    case "IN":
      return { how: "equals", texts };
    case "IEQUAL":
      return { how: "ignoringCase", texts };
    case "CONTAIN":
      return { how: "contains", texts };
    case "START_WITH":
      return { how: "starts", texts };
    case "END_WITH":
      return { how: "ends", texts };
    case "GREATER_THAN":
      return { how: "range", ends: { above: end } };
    case "GREATER_THAN_OR_EQUAL_TO":
      return { how: "range", ends: { from: end } };
    case "LESS_THAN":
      return { how: "range", ends: { below: end } };
    case "LESS_THAN_OR_EQUAL_TO":
      return { how: "range", ends: { to: end } };
    default:
      return { how: "exists" };
  }
}

/** Values that criteria want as they are: those are shown as facets, found or not. */
function wantedBy(criteria: readonly CheckedCriterion[], fields: SearchFields): Named {
  const wanted = new Map<string, NamedValue[]>();
  for (const { field, condition, texts, negated } of criteria) {
    const name = fields.nameOf(field);
    const values = wanted.get(name) ?? [];
    const anyCase = condition === "IEQUAL";
    const exact = condition === "EQUAL" || condition === "IN" || anyCase;
    if (exact && !negated) values.push(...texts.map((text) => ({ text, anyCase })));
    wanted.set(name, values);
  }
  return wanted;
}

/** Asked for a field that no entity type has. */
export function unknownField(field: string, fields: SearchFields): CatalogError {
  return new CatalogError(
    "malformed",
    `no entity type has a searchable field "${shortened(field)}"`,
    {
      hint:
        nearest(plainField(field), fields.names()) ?? "The model says which fields are searchable",
    },
  );
}

const kindNames: Readonly<Record<string, string>> = {
  flag: "true or false",
  number: "a number",
  numeral: "a number",
  day: "a day, as 2026-03-01, or a time, in epoch milliseconds or as 2026-03-01T12:00:00Z",
  time: "a time, in epoch milliseconds or as 2026-03-01",
};

function misfitOf(
  { field }: CheckedCriterion,
  known: readonly KnownField[],
  text: string,
): CatalogError {
  const kinds = [...new Set(known.flatMap((one) => [...one.kinds]))];
  const what = kinds.map((kind) => ownValue(kindNames, kind) ?? "text").join(" or ");
  return new CatalogError(
    "malformed",
    `"${shortened(text)}" is no value of the field "${shortened(field)}"`,
    { hint: `Its values are ${what}` },
  );
}
