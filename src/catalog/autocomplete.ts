/**
 * Completing what somebody types: entities that have all its words, the last one perhaps only
 * begun, in the fields that the model names for it (or in the one that the request names), and the
 * values by which they were found.
 */
import { CatalogError } from "../core/errors.ts";
import { plainField } from "../core/filter.ts";
import { evaluate, fieldValues } from "../search/evaluate.ts";
import type {
  Condition,
  DocumentText,
  Expression,
  SearchDocument,
  SearchQuery,
  WordChoice,
} from "../search/search.ts";
import { hiding, type SearchTools, startOf, typesNamed } from "./search.ts";
import { anyOf, everyOf } from "./search-conditions.ts";
import { type SearchWords, weights } from "./search-expression.ts";
import type { KnownField } from "./search-fields.ts";
import { unknownField } from "./search-filter.ts";
import type { AutocompleteAnswer, AutocompleteRequest, SearchCatalog } from "./search-requests.ts";

/** Most suggestions of one answer. */
const limitMax = 1_000;
/** Many entities may have the same name: so many more are looked at for different ones. */
const lookedAtTimes = 4;
/** Looks at further ones, where what was found need not have the words in the field asked for. */
const looksMax = 5;
/** Words of what is typed; the rest is passed over. */
const wordsMax = 30;

/** Which documents there are to suggest, and what each of them suggests. */
interface Completion {
  readonly expression: Expression;
  readonly condition?: Condition | undefined;
  readonly suggestionOf: (document: SearchDocument) => string | undefined;
}

export function createAutocomplete(tools: SearchTools): Pick<SearchCatalog, "autocomplete"> {
  const { fields, filters, reader, words } = tools;

  function completionOf(request: AutocompleteRequest, entityType: string): Completion {
    const { query, field = "" } = request;
    if (field !== "") {
      const known = fields.find(plainField(field));
      if (known.length === 0) throw unknownField(field, fields);
      return ofFields(query, { fields: known, words });
    }
    const within = fields.suggests(entityType) ? "suggested" : undefined;
    return ofTexts(query, { within, words });
  }

  return {
    async autocomplete(request): Promise<AutocompleteAnswer> {
      const entityTypes = typesNamed([request.entity], fields);
      const [entityType = ""] = entityTypes;
      const limit = limitOf(request.limit);
      const start = startOf(request.start ?? 0);
      const { expression, condition, suggestionOf } = completionOf(request, entityType);
      const filter = await filters.compile(request.filter);
      const conditions = [
        filter.condition,
        await hiding(tools, { entityTypes, filter, flags: request.flags ?? {} }),
        condition,
      ];
      const nothing = words.tokensOf(request.query).length === 0;
      const count = nothing ? 0 : limit * lookedAtTimes;
      const look = (place: Pick<SearchQuery, "start" | "after">) =>
        reader.search({
          entityTypes,
          expression,
          condition: everyOf(conditions.filter((one) => one !== undefined)),
          sort: [],
          ...place,
          count,
          facets: [],
          uncounted: true,
        });
      const found: { readonly urn: string; readonly text: string }[] = [];
      let answer = await look({ start });
      for (let looks = 1; ; looks++) {
        for (const { document } of answer.hits) {
          const text = suggestionOf(document);
          if (text !== undefined) found.push({ urn: document.urn, text });
        }
        const last = answer.hits.at(-1);
        const whole = last === undefined || answer.hits.length < count;
        if (whole || found.length >= limit || looks >= looksMax) break;
        answer = await look({ start: 0, after: last.cursor });
      }
      return {
        suggestions: [...new Set(found.map(({ text }) => text))].slice(0, limit),
        entities: found.slice(0, limit).map(({ urn }) => urn),
        position: answer.position,
      };
    },
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
      if (whole !== undefined) return whole.value;
      // None has all the words: one of its names has some, and others the rest.
      const suggested = document.texts.filter((text) => text.suggested);
      const sumOf = (text: DocumentText) =>
        leaves.reduce((sum, leaf) => sum + worth(text, leaf), 0);
      return bestOf(suggested, sumOf)?.value;
    },
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

interface Fields {
  readonly words: SearchWords;
  readonly fields: readonly KnownField[];
}

/**
 * By the values of some fields, which need not be texts that words are looked for in: then letters
 * have to be typed with their accents.
 */
function ofFields(query: string, { words, fields }: Fields): Completion {
  const names = fields.map(({ name }) => name);
  const typed = words.tokensOf(query).slice(0, wordsMax);
  const parts = [...new Set(typed.flatMap((token) => token.parts))];
  const begins = (value: string): boolean => {
    const own = words.tokensOf(value).flatMap((token) => token.parts);
    return parts.every((part) => own.some((word) => word.startsWith(part)));
  };
  // More than begin so contain it, or have the words elsewhere: those are told apart by their words.
  const contained = containing(names, [parts, piecesOf(query)]);
  const suggestionOf = ({ values }: SearchDocument) =>
    names
      .flatMap((name) => fieldValues(values, name))
      .map(String)
      .find(begins);
  if (!fields.some(({ queried }) => queried)) {
    return {
      expression: preferring(query, { kind: "all" }, { words }),
      condition: contained,
      suggestionOf,
    };
  }
  const all = parts.map((part): Expression => ({ kind: "word", any: choicesOf(part, true) }));
  const any: readonly Expression[] = [
    { kind: "condition", condition: contained },
    { kind: "and", all },
  ];
  return {
    expression: preferring(query, { kind: "or", any }, { words }),
    condition: anyOf(names.map((field) => ({ kind: "exists", field }))),
    suggestionOf,
  };
}

/** What stands between dividers, with its accents. */
const piecesOf = (query: string): readonly string[] =>
  query
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}]+/gu)
    ?.slice(0, wordsMax) ?? [];

/** The fields have all the texts of one of the lists in them. */
function containing(names: readonly string[], lists: readonly (readonly string[])[]): Condition {
  const has = (text: string): Condition =>
    anyOf(names.map((field) => ({ kind: "like", field, how: "contains", texts: [text] })));
  return anyOf(lists.flatMap((list) => everyOf(list.map(has)) ?? []));
}
