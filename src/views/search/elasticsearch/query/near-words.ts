/**
 * Near words (../near-words.ts) by the server's term suggester. The suggester ignores conditions
 * and deletions, so a second request counts the matching documents of each candidate.
 */
import type { estypes } from "@elastic/elasticsearch";
import { NearTest, type NearWord, nearest } from "../../near-words.ts";
import type { Condition } from "../../search.ts";
import { fieldNames, type TextFieldKind } from "../fields.ts";
import type { SuggestingIndices } from "../indices.ts";
import { storedBeginning, storedWord } from "../stored-text.ts";
import { allOf, anyOf, prefix, type QueryClause, terms } from "./clauses.ts";
import { conditionQuery } from "./conditions.ts";

/** Candidates per word, index and kind of text. */
const SUGGESTIONS_MAX = 1_000;
/** Candidates per word that are counted, the nearest first. */
const CANDIDATES_MAX = 200;

/** The near words of each word. */
export async function findNearWords(
  words: readonly string[],
  {
    condition,
    kinds,
  }: { readonly condition?: Condition; readonly kinds: readonly TextFieldKind[] },
  indices: SuggestingIndices,
): Promise<readonly (readonly NearWord[])[]> {
  const tests = words.map((word) => new NearTest(word));
  const testable = words.filter((_, n) => (tests[n]?.editsMax ?? 0) > 0);
  const suggested = testable.length === 0 ? new Set<string>() : await suggest(testable, indices);
  const candidates = tests.map((near) =>
    [...suggested]
      .flatMap((word) => {
        const distance = near.distance(word);
        return distance === undefined ? [] : [{ word, distance }];
      })
      .sort((a, b) => a.distance - b.distance)
      .slice(0, CANDIDATES_MAX),
  );
  if (candidates.every(({ length }) => length === 0)) return words.map(() => []);
  const inTexts = (query: (field: string) => readonly QueryClause[]): QueryClause =>
    anyOf(kinds.flatMap((kind) => query(fieldNames.words(kind))));
  const counts = await countMatches(indices, condition, [
    ...words.map((word) => inTexts((field) => [prefix(field, storedBeginning(word))])),
    ...candidates.flat().map(({ word }) => inTexts((field) => terms(field, [storedWord(word)]))),
  ]);
  let at = words.length;
  return candidates.map((candidatesOfWord, n) => {
    const counted = candidatesOfWord.map((one) => ({ ...one, documents: counts[at++] ?? 0 }));
    return (counts[n] ?? 0) > 0 ? [] : nearest(counted);
  });
}

/** Candidates from all indices; the caller drops those that are not near. */
async function suggest(
  words: readonly string[],
  indices: SuggestingIndices,
): Promise<ReadonlySet<string>> {
  const fields = await indices.mappedFields(fieldNames.words("*"));
  const found = await Promise.all(
    Array.from(fields, async ([index, names]) => {
      const suggest = Object.fromEntries(
        words.flatMap((word, n) =>
          names.map((field) => [`${n} ${field}`, { text: word, term: suggester(word, field) }]),
        ),
      );
      const { suggest: suggestions = {} } = await indices.searchOne(index, { size: 0, suggest });
      return Object.values(suggestions).flat();
    }),
  );
  return new Set(
    found
      .flat()
      .flatMap(({ options }) => [options].flat() as readonly estypes.SearchTermSuggestOption[])
      .map(({ text }) => text),
  );
}

const suggester = (word: string, field: string): estypes.SearchTermSuggester => ({
  field,
  max_edits: new NearTest(word).editsMax,
  prefix_length: 1,
  min_word_length: 1,
  // The default suggests nothing for indexed words, even those of documents outside the scope.
  suggest_mode: "always",
  max_term_freq: 1_000_000_000,
  size: SUGGESTIONS_MAX,
  shard_size: SUGGESTIONS_MAX,
});

/** Number of documents that fulfil the condition and match each query. */
async function countMatches(
  indices: SuggestingIndices,
  condition: Condition | undefined,
  queries: readonly QueryClause[],
): Promise<readonly number[]> {
  const { aggregations } = await indices.search({
    query: allOf(condition === undefined ? [] : [conditionQuery(condition)]),
    size: 0,
    aggs: { counts: { filters: { filters: [...queries] } } },
  });
  const { buckets = [] } = (aggregations?.counts ?? {}) as estypes.AggregationsFiltersAggregate;
  return (Array.isArray(buckets) ? buckets : []).map(({ doc_count }) => doc_count);
}
