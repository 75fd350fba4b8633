/**
 * Which documents fulfil a condition. Where a few documents come into question, they are looked at;
 * else equal values are found by the index, and all other conditions in columns: of each distinct
 * value it is decided once.
 */
import { fulfils, holds, type ValueCondition } from "../evaluate.ts";
import type { Condition, FieldValue } from "../search.ts";
import { wellFormed } from "./column.ts";
import type { Columns } from "./columns.ts";
import type { Documents } from "./documents.ts";
import { placeOf } from "./found.ts";
import type { Postings } from "./postings.ts";
import { type FieldNumber, quoted, valueToken } from "./tokens.ts";

/** The documents that come into question, and a query that they all fulfil, if one is known. */
export interface Limit {
  readonly docs: Uint32Array;
  readonly match?: string | undefined;
}

export interface ConditionSources {
  readonly postings: Postings;
  readonly columns: Columns;
  readonly documents: Documents;
  fieldNumber(field: string): FieldNumber | undefined;
  /** All documents, ascending. */
  live(): Uint32Array;
}

export interface Conditions {
  /** Documents of the limit, or of all, that fulfil the condition; ascending. */
  find(condition: Condition, limit?: Limit): Uint32Array;
  /** Short queries that all documents fulfil that fulfil the condition. */
  matchesOf(condition: Condition): readonly string[];
}

/** So few documents are looked at, whatever the condition. */
export const lookedAtMax = 64;
/** So few are looked at rather than reading a column for them. */
const LOOKED_AT_FOR_COLUMN_MAX = 2_000;
/** A query is narrowed by another that so few documents fulfil. */
export const narrowingMax = 50_000;
/** Alternatives of one query. */
export const alternativesMax = 256;
/** Alternatives of a query that narrows others. */
export const narrowingAlternativesMax = 64;
/** Longer lists are searched as bits. */
const LISTED_MAX = 4_096;

type Holds = (doc: number) => boolean;

export function createConditions(sources: ConditionSources): Conditions {
  const { postings, columns, documents, fieldNumber, live } = sources;

  function compile(condition: Condition, limit: Limit): Holds {
    switch (condition.kind) {
      case "every": {
        const every = condition.every.map((one) => compile(one, limit));
        return (doc) => every.every((one) => one(doc));
      }
      case "any": {
        const any = condition.any.map((one) => compile(one, limit));
        return (doc) => any.some((one) => one(doc));
      }
      case "not": {
        const inner = compile(condition.not, limit);
        return (doc) => !inner(doc);
      }
      case "equal":
        if (columns.peek(condition.field) === undefined) {
          return member(equalDocs(condition, limit), limit);
        }
        return byColumn(condition);
      default:
        if (
          columns.peek(condition.field) === undefined &&
          limit.docs.length <= LOOKED_AT_FOR_COLUMN_MAX
        ) {
          return (doc) => looked(condition, doc);
        }
        return byColumn(condition);
    }
  }

  const looked = (condition: Condition, doc: number): boolean => {
    const found = documents.values(doc);
    return found !== undefined && holds(condition, found);
  };

  function byColumn(condition: ValueCondition | Extract<Condition, { kind: "exists" }>): Holds {
    const column = columns.get(condition.field);
    if (condition.kind === "exists") return (doc) => column.has(doc);
    const marked = new Uint8Array(column.values.length);
    if (condition.kind === "equal") {
      for (const value of condition.values) {
        const number = column.numberOf(wellFormed(value));
        if (number !== undefined) marked[number] = 1;
      }
    } else {
      for (const [number, value] of column.values.entries()) {
        if (fulfils(condition, value)) marked[number] = 1;
      }
    }
    return (doc) => column.some(doc, marked);
  }

  function equalDocs(
    { field, values }: Extract<Condition, { kind: "equal" }>,
    limit: Limit | undefined,
  ): Uint32Array {
    const number = fieldNumber(field);
    if (number === undefined) return new Uint32Array();
    const narrowed = limit !== undefined && limit.docs.length <= narrowingMax && limit.match;
    const lists = chunks(tokensOf(number, values)).map((tokens) => {
      const match = tokens.join(" OR ");
      return postings.docs(narrowed ? `(${narrowed}) AND (${match})` : match);
    });
    const [first = new Uint32Array(), ...others] = lists;
    if (others.length === 0) return first;
    return Uint32Array.from(new Set(lists.flatMap((list) => [...list]))).sort();
  }

  /** The conditions that all have to hold, as far as they ask for equal values. */
  function equals(condition: Condition): readonly Extract<Condition, { kind: "equal" }>[] {
    if (condition.kind === "equal") return [condition];
    return condition.kind === "every" ? condition.every.flatMap(equals) : [];
  }

  return {
    find(condition, limit) {
      if (limit !== undefined && limit.docs.length <= lookedAtMax) {
        return limit.docs.filter((doc) => looked(condition, doc));
      }
      // Any of the equal values is a good beginning; then the others have few to look through.
      const [first] = limit === undefined ? equals(condition) : [];
      const docs = limit?.docs ?? (first === undefined ? live() : equalDocs(first, undefined));
      if (condition === first) return docs;
      if (limit === undefined && docs.length <= lookedAtMax) {
        return docs.filter((doc) => looked(condition, doc));
      }
      return docs.filter(compile(condition, { docs, match: limit?.match }));
    },
    matchesOf: (condition) =>
      equals(condition).flatMap(({ field, values }) => {
        const number = fieldNumber(field);
        const short = values.length > 0 && values.length <= narrowingAlternativesMax;
        return number !== undefined && short ? [tokensOf(number, values).join(" OR ")] : [];
      }),
  };
}

const tokensOf = (field: FieldNumber, values: readonly FieldValue[]): readonly string[] =>
  values.map((value) => quoted(valueToken(field, value)));

export function chunks(alternatives: readonly string[]): readonly (readonly string[])[] {
  const some: (readonly string[])[] = [];
  for (let from = 0; from < alternatives.length; from += alternativesMax) {
    some.push(alternatives.slice(from, from + alternativesMax));
  }
  return some;
}

/** Whether a document is in an ascending list. */
function member(list: Uint32Array, { docs }: Limit): Holds {
  if (list.length <= LISTED_MAX || docs.length <= LISTED_MAX) {
    return (doc) => list[placeOf(list, doc)] === doc;
  }
  const bits = new Uint8Array(((list.at(-1) ?? 0) >>> 3) + 1);
  for (const doc of list) bits[doc >>> 3] = (bits[doc >>> 3] ?? 0) | (1 << (doc & 7));
  return (doc) => ((bits[doc >>> 3] ?? 0) & (1 << (doc & 7))) !== 0;
}
