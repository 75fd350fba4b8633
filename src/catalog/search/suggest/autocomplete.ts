/**
 * Autocomplete: finds entities that contain all typed words, the last one as a prefix, in the
 * fields that the model names for it (or in the field of the request), and returns the matching
 * values.
 */
import { CatalogError } from "../../../core/errors.ts";
import { evaluate, fieldValues } from "../../../views/search/evaluate.ts";
import type {
  Condition,
  DocumentText,
  Expression,
  FieldValue,
  SearchDocument,
  SearchQuery,
  SearchResult,
  WordChoice,
} from "../../../views/search/search.ts";
import { type SearchWords, weights } from "../expression.ts";
import { anyOf, everyOf, NOTHING } from "../filter/conditions.ts";
import type { KnownField, SearchFields } from "../filter/fields.ts";
import { unknownField } from "../filter/filter.ts";
import type { AutocompleteRequest, AutocompleteResult, SearchCatalog } from "../requests.ts";
import { type SearchTools, startOf, typesNamed, visibleByDefault } from "../search.ts";

/** Maximum number of suggestions in a response. */
const limitMax = 1_000;
/** Hits read per requested suggestion, because many entities may have the same name. */
const hitsPerSuggestion = 4;
/** Maximum number of further hits, read when the first ones give too few suggestions. */
const furtherHitsMax = 2_000;
/** Each further page is larger by this factor, up to partMax. */
const partGrowth = 5;
const partMax = 1_000;
/** The query is a urn: it matches entities whatever their names. */
const URN_BEGUN = /^\s*urn:li:/;
/** Maximum number of query words; further words are ignored. */
const wordsMax = 30;

/** A query for documents, and the suggestion that each document gives. */
interface Completion {
  readonly expression: Expression;
  readonly suggestionOf: (document: SearchDocument) => Suggestion | undefined;
}

interface Suggestion {
  readonly field: string;
  readonly value: FieldValue;
}

export function createAutocomplete(tools: SearchTools): Pick<SearchCatalog, "autocomplete"> {
  const { filters, reader, words } = tools;

  function completionOf(
    request: AutocompleteRequest,
    entityType: string,
    fields: SearchFields,
  ): Completion {
    const { query, field = "" } = request;
    if (field !== "") {
      const known = fields.find(field);
      if (known.length === 0) throw unknownField(field, fields);
      return ofFields(query, { fields: known, words });
    }
    if (URN_BEGUN.test(query)) return ofUrns(query, { words });
    const within = fields.suggests(entityType) ? "suggested" : undefined;
    return ofTexts(query, { within, words });
  }

  return {
    async autocomplete(request): Promise<AutocompleteResult> {
      const entityTypes = typesNamed([request.entity], tools.fields);
      const [entityType = ""] = entityTypes;
      const limit = limitOf(request.limit);
      const start = startOf(request.start ?? 0);
      const fields = await tools.fieldsOf(request);
      const completion = completionOf(request, entityType, fields);
      const filter = await filters.compile(request.filter, { fields });
      const conditions = [
        filter.condition,
        await visibleByDefault(tools, { entityTypes, filter, flags: request.flags ?? {} }),
      ];
      const nothing = words.tokensOf(request.query).length === 0;
      const readHits: ReadHits = ({ without, ...place }) =>
        reader.search({
          entityTypes,
          expression: completion.expression,
          condition: everyOf([...conditions, without].filter((one) => one !== undefined)),
          sort: [],
          start: 0,
          ...place,
          facets: [],
          uncounted: true,
        });
      return await completed(readHits, completion, { start, limit: nothing ? 0 : limit });
    },
  };
}

interface Part extends Pick<SearchQuery, "after" | "count"> {
  readonly without?: Condition | undefined;
}

type ReadHits = (part: Part) => Promise<SearchResult>;

/**
 * Reads the best hits, then further pages while there are too few suggestions. A hit without a
 * suggestion is on no page. Further pages exclude documents with a value that is already suggested:
 * a million entities may share one name.
 */
async function completed(
  readHits: ReadHits,
  { suggestionOf }: Pick<Completion, "suggestionOf">,
  { start, limit }: { readonly start: number; readonly limit: number },
): Promise<AutocompleteResult> {
  const atFirst = limit === 0 ? 0 : start + limit * hitsPerSuggestion;
  const most = Math.max(limit * hitsPerSuggestion, partMax);
  // By urn: a document may change its rank between two pages.
  const found = new Map<string, Suggestion>();
  let count = Math.min(atFirst, most);
  let answer = await readHits({ count });
  const { position } = answer;
  for (let seen = answer.hits.length; ; seen += answer.hits.length) {
    for (const { document } of answer.hits) {
      const suggestion = suggestionOf(document);
      if (suggestion !== undefined && !found.has(document.urn)) found.set(document.urn, suggestion);
    }
    const page = [...found].slice(start);
    const shown = pageOf(page, limit);
    const after = answer.hits.length < count ? undefined : answer.hits.at(-1)?.cursor;
    const left = atFirst + furtherHitsMax - seen;
    if (after === undefined || shown.suggestions.length >= limit || left <= 0) {
      return { ...shown, position };
    }
    count = Math.min(count * partGrowth, most, left);
    answer = await readHits({ after, count, without: havingNone(page.map(([, one]) => one)) });
  }
}

/**
 * Condition that excludes documents with one of these values, even if they have other values, too.
 */
function havingNone(suggestions: readonly Suggestion[]): Condition | undefined {
  if (suggestions.length === 0) return undefined;
  const having = suggestions.map(({ field, value }): Condition => {
    return { kind: "equal", field, values: [value] };
  });
  return { kind: "not", not: anyOf(having) };
}

/** The distinct texts with the best entity of each, then further entities up to the limit. */
function pageOf(
  found: readonly (readonly [urn: string, suggestion: Suggestion])[],
  limit: number,
): Pick<AutocompleteResult, "suggestions" | "entities"> {
  const indexes = new Map<string, number>();
  for (const [index, [, { value }]] of found.entries()) {
    if (indexes.size >= limit) break;
    if (!indexes.has(String(value))) indexes.set(String(value), index);
  }
  const included = new Set(indexes.values());
  for (let index = 0; index < found.length && included.size < limit; index++) included.add(index);
  return {
    suggestions: [...indexes.keys()],
    entities: found.filter((_, index) => included.has(index)).map(([urn]) => urn),
  };
}

function limitOf(limit: number): number {
  if (limit < 0) {
    throw new CatalogError("malformed", `limit is ${limit}`, { hint: "Send 0 or more" });
  }
  return Math.min(limit, limitMax);
}

interface Texts {
  readonly words: SearchWords;
  readonly within?: "suggested" | undefined;
}

/**
 * Completes from the texts that the model marks for it; for a type without such texts, from all
 * texts.
 */
function ofTexts(query: string, { words, within }: Texts): Completion {
  const tokens = words.tokensOf(query).slice(0, wordsMax);
  const word = (any: readonly WordChoice[]): Expression => ({ kind: "word", any, within });
  const leaves = tokens.map(({ parts, joined }, i): Expression => {
    const last = i === tokens.length - 1;
    const separate = parts.map((part, n) => word(choicesOf(part, last && n === parts.length - 1)));
    const [only] = separate;
    if (only !== undefined && parts.length === 1) return only;
    const apart: Expression = { kind: "and", all: separate };
    if (joined === undefined) return apart;
    return { kind: "or", any: [word(choicesOf(joined, last)), apart] };
  });
  const base: Expression = { kind: "and", all: leaves };
  const expression = preferring(query, base, { words, within });
  return {
    expression,
    suggestionOf(document) {
      const worth = (text: DocumentText, wanted: Expression): number =>
        evaluate(wanted, { ...document, texts: [text] })?.score ?? 0;
      const whole = bestOf(document.texts, (text) => worth(text, expression));
      if (whole !== undefined) return whole;
      // No single text has all words: score the names by the words that they have.
      const suggested = document.texts.filter((text) => text.suggested);
      const sumOf = (text: DocumentText) =>
        leaves.reduce((sum, leaf) => sum + worth(text, leaf), 0);
      return bestOf(suggested, sumOf);
    },
  };
}

/** Entities whose urns start with the query, found by its words. */
function ofUrns(query: string, texts: Texts): Completion {
  const typed = query.trim();
  return {
    expression: ofTexts(query, texts).expression,
    suggestionOf: ({ urn }) => (urn.startsWith(typed) ? { field: "urn", value: urn } : undefined),
  };
}

/** The text with the highest score above 0; among equal scores the longest, which says most. */
function bestOf(
  texts: readonly DocumentText[],
  worthOf: (text: DocumentText) => number,
): DocumentText | undefined {
  let best: DocumentText | undefined;
  let most = 0;
  for (const text of texts) {
    const worth = worthOf(text);
    const longer = text.value.length > (best?.value.length ?? 0);
    if (worth === 0 || worth < most || (worth === most && !longer)) continue;
    best = text;
    most = worth;
  }
  return best;
}

function choicesOf(word: string, begun: boolean): readonly WordChoice[] {
  const whole = { word, prefix: false, weight: weights.word };
  return begun ? [whole, { word, prefix: true, weight: weights.prefix }] : [whole];
}

function preferring(query: string, base: Expression, { words, within }: Texts): Expression {
  const text = words.foldText(query.trim());
  return {
    kind: "prefer",
    base,
    preferred: [
      { weight: weights.whole, when: { kind: "whole", text, prefix: false, within } },
      { weight: weights.beginning, when: { kind: "whole", text, prefix: true, within } },
    ],
  };
}

/**
 * Above all weights of words: a value or a word that starts with the query, then a value that
 * contains it.
 */
const weightBegun = 2_048;
const weightContained = 1_024;
/** The most common separators of words. */
const dividers = [" ", "_", "-", ".", ":", "/", ",", "("];
/** A longer query matches no beginnings. */
const begunCharsMax = 100;

interface Fields {
  readonly words: SearchWords;
  readonly fields: readonly KnownField[];
}

/**
 * Completes from the values of some fields, which need not be indexed as text. Words then match
 * only with their accents. Some documents match without a suggestion; they rank last.
 */
function ofFields(query: string, { words, fields }: Fields): Completion {
  const names = fields.map(({ name }) => name);
  const typed = words.tokensOf(query).slice(0, wordsMax);
  const parts = [...new Set(typed.flatMap((token) => token.parts))];
  const begins = cachedTest((value) => {
    const own = words.tokensOf(value).flatMap((token) => token.parts);
    return parts.every((part) => own.some((word) => word.startsWith(part)));
  });
  const inField = containing(names, [parts, piecesOf(query)]);
  const any: Expression[] = [
    {
      kind: "prefer",
      base: { kind: "condition", condition: inField },
      preferred: [
        {
          weight: weightBegun,
          when: { kind: "condition", condition: beginning(names, query) },
        },
        { weight: weightContained, when: { kind: "all" } },
      ],
    },
  ];
  if (fields.some(({ queried }) => queried)) {
    // Also matches words with other accents.
    const all = parts.map((part): Expression => ({ kind: "word", any: choicesOf(part, true) }));
    const exists = anyOf(names.map((field) => ({ kind: "exists", field })));
    any.push({ kind: "and", all: [...all, { kind: "condition", condition: exists }] });
  }
  return {
    expression: preferring(query, { kind: "or", any }, { words }),
    suggestionOf: ({ values }) =>
      names
        .flatMap((field) => fieldValues(values, field).map((value) => ({ field, value })))
        .find(({ value }) => begins(String(value))),
  };
}

/** Caches the result per value, because many documents have the same values. */
function cachedTest(test: (value: string) => boolean): (value: string) => boolean {
  const known = new Map<string, boolean>();
  return (value) => {
    const holds = known.get(value) ?? test(value);
    known.set(value, holds);
    return holds;
  };
}

/** The pieces between separators, with their accents. */
const piecesOf = (query: string): readonly string[] =>
  query
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}]+/gu)
    ?.slice(0, wordsMax) ?? [];

/** One of the fields contains the query, at the beginning or after a common separator. */
function beginning(names: readonly string[], query: string): Condition {
  const typed = query.trim().toLowerCase();
  if (typed.length > begunCharsMax) return NOTHING;
  const within = dividers.map((divider) => divider + typed);
  return anyOf(
    names.flatMap((field): readonly Condition[] => [
      { kind: "like", field, how: "starts", texts: [typed] },
      { kind: "like", field, how: "contains", texts: within },
    ]),
  );
}

/** The fields contain all texts of one of the lists. */
function containing(names: readonly string[], lists: readonly (readonly string[])[]): Condition {
  const has = (text: string): Condition =>
    anyOf(names.map((field) => ({ kind: "like", field, how: "contains", texts: [text] })));
  return anyOf(lists.flatMap((list) => everyOf(list.map(has)) ?? []));
}
