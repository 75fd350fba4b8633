/**
 * Completing what somebody types: entities that have all its words, the last one perhaps only
 * begun, in the fields that the model names for it (or in the one that the request names), and the
 * values by which they were found.
 */
import { CatalogError } from "../core/errors.ts";
import { evaluate, fieldValues } from "../search/evaluate.ts";
import type {
  Condition,
  DocumentText,
  Expression,
  FieldValue,
  SearchAnswer,
  SearchDocument,
  SearchQuery,
  WordChoice,
} from "../search/search.ts";
import { hiding, type SearchTools, startOf, typesNamed } from "./search.ts";
import { anyOf, everyOf, NOTHING } from "./search-conditions.ts";
import { type SearchWords, weights } from "./search-expression.ts";
import type { KnownField, SearchFields } from "./search-fields.ts";
import { unknownField } from "./search-filter.ts";
import type { AutocompleteAnswer, AutocompleteRequest, SearchCatalog } from "./search-requests.ts";

/** Most suggestions of one answer. */
const limitMax = 1_000;
/** Many entities may have the same name: so many more are looked at for different ones. */
const lookedAtTimes = 4;
/** Where those suggest too little, so many more are looked at at most. */
const lookedFurtherMax = 2_000;
/** Each part of them is so many times as large as the one before, up to a size. */
const partGrowth = 5;
const partMax = 1_000;
/** Who types a urn wants the entity, whatever it is called. */
const URN_BEGUN = /^\s*urn:li:/;
/** Words of what is typed; the rest is passed over. */
const wordsMax = 30;

/** Which documents there are to suggest, and what each of them suggests. */
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
    async autocomplete(request): Promise<AutocompleteAnswer> {
      const entityTypes = typesNamed([request.entity], tools.fields);
      const [entityType = ""] = entityTypes;
      const limit = limitOf(request.limit);
      const start = startOf(request.start ?? 0);
      const fields = await tools.fieldsOf(request);
      const completion = completionOf(request, entityType, fields);
      const filter = await filters.compile(request.filter, { fields });
      const conditions = [
        filter.condition,
        await hiding(tools, { entityTypes, filter, flags: request.flags ?? {} }),
      ];
      const nothing = words.tokensOf(request.query).length === 0;
      const look: Look = ({ without, ...place }) =>
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
      return await completed(look, completion, { start, limit: nothing ? 0 : limit });
    },
  };
}

interface Part extends Pick<SearchQuery, "after" | "count"> {
  readonly without?: Condition | undefined;
}

type Look = (part: Part) => Promise<SearchAnswer>;

/**
 * Looks at the best hits, and at further ones as long as there are and less was found than is wanted.
 * What suggests nothing is on no page. Of the further ones those come into question alone that have
 * nothing of what is suggested already: there may be a million of one name.
 */
async function completed(
  look: Look,
  { suggestionOf }: Pick<Completion, "suggestionOf">,
  { start, limit }: { readonly start: number; readonly limit: number },
): Promise<AutocompleteAnswer> {
  const atFirst = limit === 0 ? 0 : start + limit * lookedAtTimes;
  const most = Math.max(limit * lookedAtTimes, partMax);
  // Each once: between two looks they may have changed places.
  const found = new Map<string, Suggestion>();
  let count = Math.min(atFirst, most);
  let answer = await look({ count });
  const { position } = answer;
  for (let seen = answer.hits.length; ; seen += answer.hits.length) {
    for (const { document } of answer.hits) {
      const suggestion = suggestionOf(document);
      if (suggestion !== undefined && !found.has(document.urn)) found.set(document.urn, suggestion);
    }
    const page = [...found].slice(start);
    const told = pageOf(page, limit);
    const after = answer.hits.length < count ? undefined : answer.hits.at(-1)?.cursor;
    const left = atFirst + lookedFurtherMax - seen;
    if (after === undefined || told.suggestions.length >= limit || left <= 0) {
      return { ...told, position };
    }
    count = Math.min(count * partGrowth, most, left);
    answer = await look({ after, count, without: havingNone(page.map(([, one]) => one)) });
  }
}

/** Of entities that have several values, those that have one of these, too, do not count. */
function havingNone(suggestions: readonly Suggestion[]): Condition | undefined {
  if (suggestions.length === 0) return undefined;
  const having = suggestions.map(({ field, value }): Condition => {
    return { kind: "equal", field, values: [value] };
  });
  return { kind: "not", not: anyOf(having) };
}

/** The different texts, and the best entity of each; other entities as far as there is room. */
function pageOf(
  found: readonly (readonly [urn: string, suggestion: Suggestion])[],
  limit: number,
): Pick<AutocompleteAnswer, "suggestions" | "entities"> {
  const places = new Map<string, number>();
  for (const [place, [, { value }]] of found.entries()) {
    if (places.size >= limit) break;
    if (!places.has(String(value))) places.set(String(value), place);
  }
  const told = new Set(places.values());
  for (let place = 0; place < found.length && told.size < limit; place++) told.add(place);
  return {
    suggestions: [...places.keys()],
    entities: found.filter((_, place) => told.has(place)).map(([urn]) => urn),
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

/** By the texts that are for completing; of a type without any, by all texts. */
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
      // None has all the words: one of its names has some, and others the rest.
      const suggested = document.texts.filter((text) => text.suggested);
      const sumOf = (text: DocumentText) =>
        leaves.reduce((sum, leaf) => sum + worth(text, leaf), 0);
      return bestOf(suggested, sumOf);
    },
  };
}

/** Entities whose urns begin so, found by the words of what is typed. */
function ofUrns(query: string, texts: Texts): Completion {
  const typed = query.trim();
  return {
    expression: ofTexts(query, texts).expression,
    suggestionOf: ({ urn }) => (urn.startsWith(typed) ? { field: "urn", value: urn } : undefined),
  };
}

/** The text that is worth most, if one is worth anything; of equal ones the longest: it says most. */
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
 * Beyond all that words are worth: a value that begins with what was typed, or has a word that does,
 * then one that has it anywhere.
 */
const weightBegun = 2_048;
const weightContained = 1_024;
/** Of what stands between words, what most do. */
const dividers = [" ", "_", "-", ".", ":", "/", ",", "("];
/** What is longer, few begin with. */
const begunCharsMax = 100;

interface Fields {
  readonly words: SearchWords;
  readonly fields: readonly KnownField[];
}

/**
 * By the values of some fields, which need not be texts that words are looked for in: then letters
 * have to be typed with their accents. More is found than suggests something, and comes last.
 */
function ofFields(query: string, { words, fields }: Fields): Completion {
  const names = fields.map(({ name }) => name);
  const typed = words.tokensOf(query).slice(0, wordsMax);
  const parts = [...new Set(typed.flatMap((token) => token.parts))];
  const begins = remembering((value) => {
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
    // With other accents than were typed.
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

/** Many documents have the same values. */
function remembering(test: (value: string) => boolean): (value: string) => boolean {
  const known = new Map<string, boolean>();
  return (value) => {
    const holds = known.get(value) ?? test(value);
    known.set(value, holds);
    return holds;
  };
}

/** What stands between dividers, with its accents. */
const piecesOf = (query: string): readonly string[] =>
  query
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}]+/gu)
    ?.slice(0, wordsMax) ?? [];

/** One of the fields has what was typed in it, at the beginning or after a usual divider. */
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

/** The fields have all the texts of one of the lists in them. */
function containing(names: readonly string[], lists: readonly (readonly string[])[]): Condition {
  const has = (text: string): Condition =>
    anyOf(names.map((field) => ({ kind: "like", field, how: "contains", texts: [text] })));
  return anyOf(lists.flatMap((list) => everyOf(list.map(has)) ?? []));
}
