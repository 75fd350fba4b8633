/**
 * Compiles a request's filter to a condition on documents: any of its groups, each with all of its
 * criteria, on every field of the entity types, under all its names.
 */
import { CatalogError } from "../../../core/errors.ts";
import {
  type CheckedCriterion,
  type Filter,
  filterInNamespace,
  type HierarchyName,
  isHierarchyName,
  plainField,
  readFilter,
} from "../../../core/query/filter.ts";
import { nearest } from "../../../lib/did-you-mean.ts";
import { appendAll } from "../../../lib/lists.ts";
import { ownValue } from "../../../lib/own-value.ts";
import { shortened } from "../../../lib/shortened.ts";
import type { Condition } from "../../../views/search/search.ts";
import type { Named, NamedValue } from "../selected-facet-values.ts";
import { anyOf, conditionOn, everyOf, type FieldMatch } from "./conditions.ts";
import { FACET_SEPARATOR, type KnownField, type SearchFields } from "./fields.ts";

/** Expands urns to those above or below them in a hierarchy. */
export type ExpandHierarchy = (
  urns: readonly string[],
  condition: HierarchyName,
) => Promise<readonly string[]>;

/** Compiles a criterion on data outside the documents; undefined: it is on a document field. */
export type ForeignCriterion = (criterion: CheckedCriterion) => Condition | undefined;

export interface CompiledFilter {
  /** Undefined: every document matches. */
  readonly condition: Condition | undefined;
  /** The fields that the filter names, by their plain names. */
  readonly fields: ReadonlySet<string>;
  /** The selected values, by field name as in the request. */
  readonly wanted: Named;
}

interface CompileOptions {
  /** The fields resolved for the request. */
  readonly fields: SearchFields;
  readonly foreign?: ForeignCriterion | undefined;
}

export interface FilterCompiler {
  /**
   * Throws `malformed` for a filter of the wrong form, a field that no entity type has, and a value
   * that does not fit its field.
   */
  compile(filter: Filter | undefined, options: CompileOptions): Promise<CompiledFilter>;
}

interface Dependencies {
  readonly namespace: string;
  readonly expand: ExpandHierarchy;
}

export function createFilterCompiler({ namespace, expand }: Dependencies): FilterCompiler {
  /** The condition without the criterion's negation. */
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
    if ("invalidText" in found) throw invalidValue(criterion, known, found.invalidText);
    return found;
  }

  /**
   * A value on two fields: dataset␞View. The first part alone matches any value of the second
   * field.
   */
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
          // IS_NULL and `negated` both invert the condition, so together they cancel out.
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

function askedBy({ condition, texts }: CheckedCriterion): FieldMatch {
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

/** Values selected by equality: facets show them, found or not. */
function wantedBy(criteria: readonly CheckedCriterion[], fields: SearchFields): Named {
  const wanted = new Map<string, NamedValue[]>();
  for (const { field, condition, texts, negated } of criteria) {
    const name = fields.nameOf(field);
    const values = wanted.get(name) ?? [];
    const anyCase = condition === "IEQUAL";
    const exact = condition === "EQUAL" || condition === "IN" || anyCase;
    if (exact && !negated)
      appendAll(
        values,
        texts.map((text) => ({ text, anyCase })),
      );
    wanted.set(name, values);
  }
  return wanted;
}

/** The error for a field that no entity type has. */
export function unknownField(field: string, fields: SearchFields): CatalogError {
  return new CatalogError(
    "malformed",
    `no entity type has a searchable field "${shortened(field)}"`,
    {
      hint: nearest(plainField(field), fields.names()) ?? "Use a searchable field of the model",
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

function invalidValue(
  { field }: CheckedCriterion,
  known: readonly KnownField[],
  text: string,
): CatalogError {
  const kinds = [...new Set(known.flatMap((one) => [...one.kinds]))];
  const what = kinds.map((kind) => ownValue(kindNames, kind) ?? "text").join(" or ");
  return new CatalogError(
    "malformed",
    `"${shortened(text)}" is not a value of the field "${shortened(field)}"`,
    { hint: `Send ${what}` },
  );
}
