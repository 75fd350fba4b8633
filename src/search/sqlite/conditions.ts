/**
 * Which documents fulfil a condition. Where a few documents come into question, they are looked at;
 * else equal values are found by the index, and all other conditions in columns: of each distinct
 * value it is decided once.
 */
import { fulfils, holds, type ValueCondition } from "../evaluate.ts";
import type { Condition, FieldValue } from "../search.ts";
import { simplifiedCondition } from "../simplified-condition.ts";
import { type Column, type ValueNumber, wellFormed } from "./column.ts";
import { type Columns, lookedAtMax } from "./columns.ts";
import type { Documents } from "./documents.ts";
import { placeOf } from "./found.ts";
import type { Postings } from "./postings.ts";
import { kept, type Steps } from "./slices.ts";
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
  find(condition: Condition, limit?: Limit): Steps<Uint32Array>;
  /** Short queries that all documents fulfil that fulfil the condition. */
  matchesOf(condition: Condition): readonly string[];
}

/** So few are looked at rather than reading a column for them. */
const LOOKED_AT_FOR_COLUMN_MAX = 2_000;
/** A query is narrowed by another that so few documents fulfil. */
export const narrowingMax = 50_000;
/** Alternatives of one query. */
const alternativesMax = 256;
/** Alternatives of a query that narrows others. */
export const narrowingAlternativesMax = 64;
/** With so many more values than documents, values are looked at as documents have them. */
const FEWER_TIMES = 4;
/** Longer lists are searched as bits. */
const LISTED_MAX = 4_096;

/** What makes queries shorter; a long limit would not. */
export function narrowingOf(limit: Limit | undefined) {
  if (limit?.match === undefined || limit.docs.length > narrowingMax) return undefined;
  return { match: limit.match, length: limit.docs.length };
}

type Holds = (doc: number) => boolean;

/** Values that are looked at before others get their turn; a text may be looked for a thousand. */
const VALUES_PART = 4_096;
/** Documents that are looked at one by one before others get their turn. */
const LOOKED_AT_PART = 32;

type Leaf = ValueCondition | Extract<Condition, { kind: "exists" }>;

export function createConditions(sources: ConditionSources): Conditions {
  const { postings, columns, documents, fieldNumber, live } = sources;

  function* compile(condition: Condition, limit: Limit): Steps<Holds> {
    switch (condition.kind) {
      case "every": {
        const every = yield* compileAll(condition.every, limit);
        return (doc) => every.every((one) => one(doc));
      }
      case "any": {
        const any = yield* compileAll(condition.any, limit);
        return (doc) => any.some((one) => one(doc));
      }
      case "not": {
        const inner = yield* compile(condition.not, limit);
        return (doc) => !inner(doc);
      }
      case "equal":
        if (!columns.has(condition.field)) {
          return member(equalDocs(condition, limit), limit);
        }
        return yield* byColumn(condition, limit);
      default:
        return yield* byColumn(condition, limit);
    }
  }

  function* compileAll(conditions: readonly Condition[], limit: Limit): Steps<readonly Holds[]> {
    const all: Holds[] = [];
    for (const one of conditions) {
      all.push(yield* compile(one, limit));
      yield;
    }
    return all;
  }

  const looked = (condition: Condition, doc: number): boolean => {
    const found = documents.values(doc);
    return found !== undefined && holds(condition, found);
  };

  function* lookedAt(condition: Condition, docs: Uint32Array): Steps<Uint32Array> {
    const found: number[] = [];
    for (const [at, doc] of docs.entries()) {
      if (looked(condition, doc)) found.push(doc);
      if (at % LOOKED_AT_PART === LOOKED_AT_PART - 1) yield;
    }
    return Uint32Array.from(found);
  }

  function* byColumn(condition: Leaf, { docs }: Limit): Steps<Holds> {
    yield* columns.ready(docs, [condition.field]);
    const column = columns.get(condition.field);
    if (condition.kind === "exists") return (doc) => column.has(doc);
    const marked = new Uint8Array(column.values.length);
    if (condition.kind === "equal") {
      for (const value of condition.values) {
        const number = column.numberOf(wellFormed(value));
        if (number !== undefined) marked[number] = 1;
      }
      return (doc) => column.some(doc, marked);
    }
    if (docs.length * FEWER_TIMES < column.values.length) return bySight(condition, column);
    if (condition.kind === "like") {
      yield* column.texts().mark(condition, marked);
      return (doc) => column.some(doc, marked);
    }
    for (const [number, value] of column.values.entries()) {
      if (fulfils(condition, value)) marked[number] = 1;
      if (number % VALUES_PART === VALUES_PART - 1) yield;
    }
    return (doc) => column.some(doc, marked);
  }

  function equalDocs(
    { field, values }: Extract<Condition, { kind: "equal" }>,
    limit: Limit | undefined,
  ): Uint32Array {
    const number = fieldNumber(field);
    if (number === undefined) return new Uint32Array();
    const within = narrowingOf(limit);
    const lists = chunks(tokensOf(number, values)).map((tokens) => {
      const match = tokens.join(" OR ");
      return within === undefined ? postings.docs(match) : postings.docsWithin(within, match);
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

  function* find(condition: Condition, limit?: Limit): Steps<Uint32Array> {
    // Any of the equal values is a good beginning; then the others have few to look through.
    const [first] = limit === undefined ? equals(condition) : [];
    const docs = limit?.docs ?? (first === undefined ? live() : equalDocs(first, undefined));
    if (condition === first) return docs;
    const parts = condition.kind === "every" ? condition.every : [condition];
    return yield* findEvery(
      parts.toSorted((a, b) => costOf(a) - costOf(b)),
      {
        docs,
        match: limit?.match,
      },
    );
  }

  /** One after the other, among what the ones before have left. */
  function* findEvery(parts: readonly Condition[], { docs, match }: Limit): Steps<Uint32Array> {
    let left = docs;
    for (const [at, one] of parts.entries()) {
      if (left.length === 0) return left;
      const rest: Condition = { kind: "every", every: parts.slice(at) };
      if (left.length <= lookedAtMax) return yield* lookedAt(rest, left);
      if (left.length <= LOOKED_AT_FOR_COLUMN_MAX && needsColumn(rest)) {
        return yield* lookedAt(rest, left);
      }
      const holdsNow = yield* compile(one, { docs: left, match });
      left = yield* kept(left, holdsNow);
    }
    return left;
  }

  /** Whether a column would have to be read. */
  function needsColumn(condition: Condition): boolean {
    switch (condition.kind) {
      case "every":
        return condition.every.some(needsColumn);
      case "any":
        return condition.any.some(needsColumn);
      case "not":
        return needsColumn(condition.not);
      case "equal":
        return false;
      default:
        return !columns.has(condition.field);
    }
  }

  return {
    find: (condition, limit) => find(simplifiedCondition(condition), limit),
    matchesOf: (condition) =>
      equals(condition).flatMap(({ field, values }) => {
        const number = fieldNumber(field);
        const short = values.length > 0 && values.length <= narrowingAlternativesMax;
        return number !== undefined && short ? [tokensOf(number, values).join(" OR ")] : [];
      }),
  };
}

/** What is found by the index first, then what is told by a look, then what is looked for in texts. */
function costOf(condition: Condition): number {
  switch (condition.kind) {
    case "equal":
      return 0;
    case "exists":
      return 1;
    case "range":
      return 2;
    case "like":
      return 3;
    case "not":
      return costOf(condition.not) + 4;
    default:
      return 10;
  }
}

/** Looks at a value when a document has it: of a few documents, most values are of none. */
function bySight(condition: ValueCondition, column: Column): Holds {
  const known = new Map<ValueNumber, boolean>();
  return (doc) => {
    let found = false;
    column.each(doc, (number) => {
      let one = known.get(number);
      if (one === undefined) {
        one = fulfils(condition, column.values[number] ?? false);
        known.set(number, one);
      }
      found ||= one;
    });
    return found;
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
