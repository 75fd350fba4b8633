/**
 * A model of the search view: documents that are evaluated one by one
 * (src/views/search/evaluate.ts) and sorted as a whole; and random documents, histories and
 * queries.
 */
import fc from "fast-check";
import { type Position, position, START } from "../../src/core/position.ts";
import { evaluate, fieldValues, holds } from "../../src/views/search/evaluate.ts";
import { NearTest, type NearWord, nearest } from "../../src/views/search/near-words.ts";
import type {
  Condition,
  Cursor,
  DocumentText,
  Expression,
  FacetQuery,
  FacetValue,
  FieldValue,
  FolderQuery,
  FolderResult,
  FrequentValues,
  Hit,
  NamedValues,
  Scope,
  SearchDocument,
  SearchQuery,
  SearchResult,
  SearchWrite,
  SortBy,
} from "../../src/views/search/search.ts";

type Key = number | string | null;

export interface SearchModel {
  apply(writes: readonly SearchWrite[], upTo: Position): void;
  search(query: SearchQuery): SearchResult;
  folders(query: FolderQuery): FolderResult;
  documents(urns: readonly string[]): readonly (SearchDocument | undefined)[];
}

export function createSearchModel(): SearchModel {
  const documents = new Map<string, SearchDocument>();
  let checkpoint = START;

  const inScope = ({ entityTypes, expression, condition }: Scope) =>
    [...documents.values()].flatMap((document) => {
      if (!entityTypes.includes(document.entityType)) return [];
      if (condition !== undefined && !holds(condition, document)) return [];
      const evaluation = evaluate(expression, document);
      return evaluation === undefined ? [] : [{ document, score: evaluation.score }];
    });

  return {
    apply(writes, upTo) {
      for (const write of writes) {
        if (write.position <= checkpoint) continue;
        if (write.op === "remove") documents.delete(write.urn);
        else documents.set(write.urn, write.document);
      }
      checkpoint = upTo;
    },
    search({ sort, start, count, after, facets, nearWordsOf, ...scope }) {
      const found = inScope(scope);
      const hits = found
        .map(({ document, score }): Hit => {
          const keys = sort.map((by) => sortKeyOf(document, by));
          return { document, score, cursor: [...keys, score, document.urn] };
        })
        .sort((a, b) => compareCursors(a.cursor, b.cursor, sort))
        .filter(({ cursor }) => after === undefined || compareCursors(cursor, after, sort) > 0);
      const counted = found.map(({ document }) => document);
      return {
        hits: hits.slice(start, start + count),
        total: found.length,
        facets: facets.map((facet) => facetOf(counted, facet)),
        position: checkpoint,
        ...(nearWordsOf !== undefined &&
          found.length === 0 && {
            nearWords: nearWordsOf.map((word) =>
              nearWordsIn(
                inScope({ ...scope, expression: { kind: "all" } }).map(({ document }) => document),
                word,
              ),
            ),
          }),
      };
    },
    folders({ field, separator, path, ...scope }) {
      const counts = new Map<string, { count: number; hasFolders: boolean }>();
      const before = path + separator;
      let total = 0;
      for (const { document } of inScope(scope)) {
        const names = new Map<string, boolean>();
        for (const value of fieldValues(document.values, field)) {
          if (typeof value !== "string" || !value.startsWith(before)) continue;
          const [name = "", next = ""] = value.slice(before.length).split(separator);
          if (name !== "") names.set(name, names.get(name) || next !== "");
        }
        if (names.size > 0) total++;
        for (const [name, hasFolders] of names) {
          const folder = counts.get(name) ?? { count: 0, hasFolders: false };
          counts.set(name, {
            count: folder.count + 1,
            hasFolders: folder.hasFolders || hasFolders,
          });
        }
      }
      const folders = [...counts]
        .map(([name, folder]) => ({ name, ...folder }))
        .sort((a, b) => b.count - a.count || compare(a.name, b.name));
      return { folders, total, position: checkpoint };
    },
    documents: (asked) => asked.map((urn) => documents.get(urn)),
  };
}

function nearWordsIn(documents: readonly SearchDocument[], word: string): readonly NearWord[] {
  const near = new NearTest(word);
  const found = new Map<string, NearWord>();
  for (const { texts } of documents) {
    const words = new Set(texts.flatMap((text) => text.words.map((one) => one.toWellFormed())));
    if ([...words].some((one) => one.startsWith(word.toWellFormed()))) return [];
    for (const one of words) {
      const distance = near.distance(one);
      if (distance === undefined) continue;
      found.set(one, { word: one, distance, documents: (found.get(one)?.documents ?? 0) + 1 });
    }
  }
  return nearest(found.values());
}

/**
 * The least value of a document when ascending, the greatest when descending; null without values.
 */
function sortKeyOf(document: SearchDocument, { field, order }: SortBy): Key {
  const keys = fieldValues(document.values, field)
    .map((value) => (typeof value === "string" ? value.toLowerCase() : Number(value)))
    .sort(compareKeys);
  return keys.at(order === "ASCENDING" ? 0 : -1) ?? null;
}

function compareCursors(a: Cursor, b: Cursor, sort: readonly SortBy[]): number {
  for (const [n, { order }] of sort.entries()) {
    const [left = null, right = null] = [a[n] as Key, b[n] as Key];
    if (left === null || right === null) {
      if (left === right) continue;
      return left === null ? 1 : -1;
    }
    const by = compareKeys(left, right);
    if (by !== 0) return order === "ASCENDING" ? by : -by;
  }
  const [score, urn] = [sort.length, sort.length + 1];
  return Number(b[score]) - Number(a[score]) || compare(String(a[urn]), String(b[urn]));
}

function compareKeys(a: number | string, b: number | string): number {
  if (typeof a === "number" || typeof b === "number") {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return Number(a) - Number(b);
  }
  return compare(a, b);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function facetOf(documents: readonly SearchDocument[], facet: FacetQuery): readonly FacetValue[] {
  return "named" in facet ? namedOf(documents, facet) : frequentOf(documents, facet);
}

function namedOf(
  documents: readonly SearchDocument[],
  { named, among }: NamedValues,
): readonly FacetValue[] {
  const counted = named.map((texts) => ({
    values: texts,
    count: documents.filter(({ values }) =>
      among.every((fields, at) =>
        fields.some((field) =>
          fieldValues(values, field)
            .map(String)
            .includes(texts[at] ?? ""),
        ),
      ),
    ).length,
  }));
  return counted.filter(({ count }) => count > 0);
}

function frequentOf(
  documents: readonly SearchDocument[],
  { fields, limit }: FrequentValues,
): readonly FacetValue[] {
  const counts = new Map<string, number>();
  const [first, second] = fields;
  for (const { values } of documents) {
    const texts = (field: string) => fieldValues(values, field).map(String);
    const combinations =
      second === undefined
        ? texts(first).map((text) => [text])
        : texts(first).flatMap((text) => texts(second).map((other) => [text, other]));
    for (const key of new Set(combinations.map((one) => JSON.stringify(one)))) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([key, count]) => ({ values: JSON.parse(key) as string[], count }))
    .sort(
      (a, b) =>
        b.count - a.count ||
        compare(a.values[0] ?? "", b.values[0] ?? "") ||
        compare(a.values[1] ?? "", b.values[1] ?? ""),
    )
    .slice(0, limit);
}

/** Texts with special characters of engines and query languages. */
const oddTexts: readonly string[] = [
  "",
  "A",
  "Straße",
  "\u0130stanbul",
  "日本語",
  "\u{1F600} smile",
  "\ufb03",
  'a"b OR c*',
  "^a ^41",
  "it's 100%_sure\\",
  "NEAR(a b) AND NOT {t}: -x",
  "a\u0000b",
  "line\nbreak\ttab",
  "(.*)+[^]$",
  "__proto__",
  "long ".repeat(60),
  `${"long ".repeat(60)}er`,
];

const words: readonly string[] = [
  ...["a", "ab", "abc", "abcd", "abcde", "b", "bc", "or", "and", "not", "near"],
  ...["customer", "customers", "custom", "order", "orders", "2024", "0"],
  ...["é", "日本", "日", "\u{1F600}", "\ufb03", `${"long".repeat(300)}`, `${"long".repeat(300)}er`],
];

export const entityTypes: readonly string[] = ["dataset", "chart", "corpuser", "tag"];
export const boosts: readonly number[] = [1 / 64, 0.5, 1, 4, 10];
export const fields: readonly string[] = [
  ...["platform", "tags", "name", "count", "removed", "mixed", "path", "constructor"],
];

const values: Readonly<Record<string, readonly FieldValue[]>> = {
  platform: ["urn:li:dataPlatform:hive", "urn:li:dataPlatform:Hive", "urn:li:dataPlatform:kafka"],
  tags: ["urn:li:tag:pii", "urn:li:tag:PII", "urn:li:tag:a b", "urn:li:tag:ä", "urn:li:tag:"],
  name: oddTexts,
  count: [0, 1, 2, 10, -3, 0.5, 1e21, 1_700_000_000_000],
  removed: [true, false],
  mixed: [1, "1", true, "true", 0, false, "", "b", "A"],
  path: ["/a", "/a/b", "/a/b/c", "/a/B", "/c", "/c/b", "/", "/a/", "//b", "a/b", "/a%/b", "/日"],
  constructor: ["x", "toString"],
};

/** So many entities that some are written repeatedly. */
const urns: readonly string[] = entityTypes.flatMap((type) =>
  ["a", "b", "B", "é", "\ufb03", "\u{1F600}", "x'y", "c", "d", "e"].map(
    (name) => `urn:li:${type}:${name}`,
  ),
);

const textAmong = fc
  .record({
    field: fc.constantFrom("name", "description", "tags"),
    value: fc.constantFrom(...oddTexts, "ABC customers"),
    words: fc.array(fc.constantFrom(...words), { maxLength: 5 }),
    boost: fc.constantFrom(...boosts),
    suggested: fc.boolean(),
  })
  .map((text): DocumentText => ({ ...text, folded: text.value.toLowerCase() }));

const documentOf = (urn: fc.Arbitrary<string>): fc.Arbitrary<SearchDocument> =>
  fc
    .record({
      urn,
      values: fc.record(
        Object.fromEntries(
          Object.entries(values).map(([field, some]) => [
            field,
            fc.array(fc.constantFrom(...some), { maxLength: 3 }),
          ]),
        ),
        { requiredKeys: [] },
      ),
      texts: fc.array(textAmong, { maxLength: 3 }),
    })
    .map(
      (document) =>
        ({ ...document, entityType: document.urn.split(":")[2] ?? "" }) as SearchDocument,
    );

type Step = { readonly put: SearchDocument } | { readonly remove: string };

/** Writes for a log with the given number of records; some records have no write. */
export const searchHistories = (
  minLength: number,
  maxLength: number,
): fc.Arbitrary<readonly SearchWrite[]> => {
  const urn = fc.constantFrom(...urns);
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 5, arbitrary: documentOf(urn).map((put) => ({ put })) },
    { weight: 1, arbitrary: urn.map((remove) => ({ remove })) },
  );
  return fc
    .array(fc.tuple(step, fc.integer({ min: 1, max: 3 })), { minLength, maxLength, size: "max" })
    .map((history) => {
      let last = 0;
      return history.map(([one, gap]): SearchWrite => {
        last += gap;
        const at = { position: position(last) };
        return "put" in one
          ? { op: "put", urn: one.put.urn, document: one.put, ...at }
          : { op: "remove", urn: one.remove, ...at };
      });
    });
};

/** One document for each of the given number of entities. */
export const corpora = (length: number): fc.Arbitrary<readonly SearchDocument[]> =>
  fc
    .array(documentOf(fc.constantFrom(...urns)), {
      minLength: length,
      maxLength: length,
      size: "max",
    })
    .map((documents) => documents.map((one, n) => ({ ...one, urn: `${one.urn}${n * 7919}` })));

const field = fc.constantFrom(...fields, "unheard");
const someValue = fc.constantFrom(...Object.values(values).flat());
const someWord = fc.constantFrom(...words, "unheard", "A", "a b", 'a"', "", "\ud83d");

const misspelled = fc.constantFrom(
  ...["custmoer", "costumers", "ordres", "oders", "abdce", "2042", "\u{1F600}abc", "order", ""],
);

const likeText = fc.constantFrom(
  ...[
    "",
    "a",
    "hive",
    "urn:li:tag:",
    "^",
    "%",
    "_",
    "ß",
    "i\u0307",
    "1",
    "-",
    "tru",
    "long long",
    "日",
    "\ud83d",
  ],
);

const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    fc.record({
      kind: fc.constant("equal" as const),
      field,
      values: fc.array(someValue, { maxLength: 4 }),
    }),
    fc.record({
      kind: fc.constant("like" as const),
      field,
      how: fc.constantFrom("equals", "contains", "starts", "ends"),
      texts: fc.array(likeText, { maxLength: 2 }),
    }),
    fc
      .record(
        {
          above: fc.constantFrom(0, 1, "a"),
          from: fc.constantFrom(0, -3, 1, "A", "a", ""),
          to: fc.constantFrom(2, 1, "b", "日"),
          below: fc.constantFrom(10, 1, "b", "\u{1F600}"),
        },
        { requiredKeys: [] },
      )
      .chain((ends) => field.map((name) => ({ kind: "range" as const, field: name, ...ends }))),
    field.map((name) => ({ kind: "exists" as const, field: name })),
    fc.record({
      kind: fc.constant("every" as const),
      every: fc.array(tie("condition"), { maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant("any" as const),
      any: fc.array(tie("condition"), { maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant("not" as const), not: tie("condition") }),
  ) as fc.Arbitrary<Condition>,
}));

const word = fc
  .record(
    {
      any: fc.array(
        fc.record({ word: someWord, prefix: fc.boolean(), weight: fc.constantFrom(0.5, 1, 2) }),
        { minLength: 0, maxLength: 3 },
      ),
      within: fc.constant("suggested" as const),
    },
    { requiredKeys: ["any"] },
  )
  .map((leaf) => ({ kind: "word" as const, ...leaf }));

const phrase = fc.record(
  {
    kind: fc.constant("phrase" as const),
    words: fc.array(someWord, { maxLength: 3 }),
    weight: fc.constantFrom(0.5, 1, 4),
  },
  { requiredKeys: ["kind", "words"] },
);

const whole = fc.record(
  {
    kind: fc.constant("whole" as const),
    text: fc.constantFrom(
      ...oddTexts.map((text) => text.toLowerCase()),
      ...["abc", "a", "l", "it", "lo", "long l", "\u{1F600}", "\ud83d"],
    ),
    prefix: fc.boolean(),
    within: fc.constant("suggested" as const),
  },
  { requiredKeys: ["kind", "text", "prefix"] },
);

export const { expression } = fc.letrec<{ expression: Expression }>((tie) => {
  const some = fc.array(tie("expression"), { maxLength: 3 });
  return {
    expression: fc.oneof(
      { maxDepth: 3 },
      { weight: 4, arbitrary: word },
      { weight: 1, arbitrary: phrase },
      { weight: 1, arbitrary: whole },
      { weight: 1, arbitrary: fc.constant({ kind: "all" as const }) },
      { weight: 1, arbitrary: condition.map((one) => ({ kind: "condition", condition: one })) },
      { weight: 2, arbitrary: some.map((all) => ({ kind: "and", all })) },
      { weight: 1, arbitrary: some.map((any) => ({ kind: "or", any })) },
      { weight: 1, arbitrary: tie("expression").map((not) => ({ kind: "not", not })) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant("prefer"),
          base: tie("expression"),
          preferred: fc.array(
            fc.record({ weight: fc.constantFrom(0.5, 2, 16), when: tie("expression") }),
            { maxLength: 2 },
          ),
        }),
      },
    ) as fc.Arbitrary<Expression>,
  };
});

export const scopes: fc.Arbitrary<Scope> = fc.record(
  {
    entityTypes: fc.subarray([...entityTypes, "unheard"], { minLength: 1 }),
    expression,
    condition,
  },
  { requiredKeys: ["entityTypes", "expression"] },
);

const namedValues: fc.Arbitrary<NamedValues> = fc.integer({ min: 1, max: 2 }).chain((places) => {
  const ofPlaces = { minLength: places, maxLength: places };
  return fc.record({
    named: fc.uniqueArray(fc.array(someValue.map(String), ofPlaces), {
      maxLength: 5,
      selector: (texts) => JSON.stringify(texts),
    }),
    among: fc.array(fc.uniqueArray(field, { minLength: 1, maxLength: 3 }), ofPlaces),
  });
});

export const searchQueries: fc.Arbitrary<SearchQuery> = fc
  .tuple(
    scopes,
    fc.record({
      sort: fc.array(
        fc.record({ field, order: fc.constantFrom("ASCENDING" as const, "DESCENDING" as const) }),
        { maxLength: 2 },
      ),
      start: fc.constantFrom(0, 0, 0, 1, 7),
      count: fc.constantFrom(0, 1, 5, 20, 10_000),
      facets: fc.array(
        fc.oneof(
          {
            weight: 3,
            arbitrary: fc.record({
              fields: fc.oneof(fc.tuple(field), fc.tuple(field, field)),
              limit: fc.constantFrom(0, 1, 3, 100),
            }),
          },
          { weight: 1, arbitrary: namedValues },
        ),
        { maxLength: 3 },
      ),
      nearWordsOf: fc.option(fc.uniqueArray(misspelled, { maxLength: 3 }), { nil: undefined }),
    }),
  )
  .map(([scope, page]) => ({ ...scope, ...page }));

export const folderQueries: fc.Arbitrary<FolderQuery> = fc
  .tuple(scopes, fc.constantFrom("", "/a", "/a/b", "/c", "/a%", "/unheard", "a"))
  .map(([scope, path]) => ({ ...scope, field: "path", separator: "/", path }));
