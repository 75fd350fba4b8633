/**
 * Every searchable field of the model: each condition of its type finds a value, `<field>:<value>`
 * finds it, and the field sorts results.
 */
import { describe, expect, test } from "vitest";
import type { SearchField } from "../../../projections/search/annotations.ts";
import { foldText, wordsOf } from "../../../projections/search/words.ts";
import type { SearchRequest } from "../../../src/catalog/search/requests.ts";
import type { Criterion } from "../../../src/core/query/filter.ts";
import type { FieldValue, SearchDocument } from "../../../src/views/search/search.ts";
import { rules } from "../../projections/search-state.ts";
import { searchesOver } from "./search-corpus.ts";

interface Asked {
  readonly value: FieldValue;
  /** Filter criteria that match the value, and criteria that do not. */
  readonly finds: readonly Omit<Criterion, "field">[];
  readonly misses: readonly Omit<Criterion, "field">[];
  /** Queries behind `<field>:` that match the value. */
  readonly typed: readonly string[];
}

const criterion = (condition: string, value: string) => ({ condition, value });

const text: Asked = {
  value: "Odd value (of 7), a:b",
  finds: [
    criterion("EQUAL", "Odd value (of 7), a:b"),
    criterion("IN", "Odd value (of 7), a:b"),
    criterion("IEQUAL", "odd VALUE (of 7), A:B"),
    criterion("CONTAIN", "VALUE (OF"),
    criterion("START_WITH", "odd v"),
    criterion("END_WITH", "A:B"),
    criterion("GREATER_THAN", "Odd"),
    criterion("GREATER_THAN_OR_EQUAL_TO", "Odd value (of 7), a:b"),
    criterion("LESS_THAN", "Odd w"),
    criterion("LESS_THAN_OR_EQUAL_TO", "Odd value (of 7), a:b"),
  ],
  misses: [
    criterion("EQUAL", "odd value (of 7), a:b"),
    criterion("IEQUAL", "odd value"),
    criterion("CONTAIN", "odd.value"),
    criterion("START_WITH", "value"),
    criterion("END_WITH", "odd"),
    criterion("GREATER_THAN", "Odd value (of 7), a:b"),
    criterion("LESS_THAN", "Odd value (of 7), a:b"),
  ],
  typed: ['"odd VALUE (of 7), a:b"', "odd*", "*a:b", "*(of*", '>="Odd"', "*"],
};

const urn: Asked = {
  value: "urn:li:dataset:(urn:li:dataPlatform:hive,Odd name,PROD)",
  finds: [
    criterion("EQUAL", "urn:li:dataset:(urn:li:dataPlatform:hive,Odd name,PROD)"),
    criterion("IN", "urn:li:dataset:(urn:li:dataPlatform:hive,Odd name,PROD)"),
    criterion("IEQUAL", "URN:LI:dataset:(urn:li:dataPlatform:hive,odd NAME,prod)"),
    criterion("CONTAIN", "hive,odd"),
    criterion("START_WITH", "urn:li:dataset:("),
    criterion("END_WITH", ",prod)"),
    criterion("GREATER_THAN", "urn:li:dataset:("),
    criterion("LESS_THAN", "urn:li:dataset:)"),
  ],
  misses: [
    criterion("EQUAL", "urn:li:dataset:(urn:li:dataPlatform:hive,odd name,PROD)"),
    criterion("EQUAL", "Odd name"),
    criterion("START_WITH", "odd"),
    criterion("START_WITH", "hive"),
    criterion("GREATER_THAN", "urn:li:dataset:)"),
  ],
  typed: [
    "urn:li:dataset:(urn:li:dataPlatform:hive,Odd name,PROD)",
    "urn\\:li\\:dataset\\:\\(urn\\:li\\:dataPlatform\\:hive,Odd\\ name,PROD\\)",
    '"urn:li:dataset:(urn:li:dataPlatform:hive,Odd name,PROD)"',
    "urn:li:dataset*",
    "hive*",
    "*",
  ],
};

const path = (separator: string): Asked => {
  const value = `${separator}Odd one${separator}inner`;
  return {
    value,
    finds: [
      criterion("EQUAL", value),
      criterion("EQUAL", `${separator}Odd one`),
      criterion("IEQUAL", value.toUpperCase()),
      criterion("CONTAIN", "odd ONE"),
      criterion("START_WITH", `${separator}odd`),
      criterion("END_WITH", "INNER"),
    ],
    misses: [
      criterion("EQUAL", `${separator}Odd`),
      criterion("EQUAL", `${separator}odd one`),
      criterion("EQUAL", `${value}${separator}further`),
    ],
    typed: [`"${value}"`, `"${separator}Odd one"`, "*inner", "*"],
  };
};

const number: Asked = {
  value: 1_700_000_000_000,
  finds: [
    criterion("EQUAL", "1700000000000"),
    criterion("IN", "1.7e12"),
    criterion("IEQUAL", "1700000000000"),
    criterion("GREATER_THAN", "9"),
    criterion("GREATER_THAN_OR_EQUAL_TO", "1700000000000"),
    criterion("LESS_THAN", "1700000000001"),
    criterion("LESS_THAN_OR_EQUAL_TO", "1700000000000"),
    criterion("CONTAIN", "7000"),
    criterion("START_WITH", "17"),
    criterion("END_WITH", "000"),
  ],
  misses: [
    criterion("EQUAL", "17"),
    criterion("GREATER_THAN", "1700000000000"),
    criterion("LESS_THAN", "1700000000000"),
    criterion("CONTAIN", "8"),
  ],
  typed: ["1700000000000", ">9", ">=1700000000000", "<1700000000001", "[9 TO 1700000000000]", "*"],
};

const time: Asked = {
  ...number,
  finds: [
    ...number.finds,
    criterion("GREATER_THAN", "2023-11-13"),
    criterion("GREATER_THAN_OR_EQUAL_TO", "2023-11-14"),
    criterion("LESS_THAN_OR_EQUAL_TO", "2023-11-14"),
    criterion("EQUAL", "2023-11-14"),
    criterion("EQUAL", "2023-11-14T22:13:20Z"),
    criterion("LESS_THAN", "2023-12"),
  ],
  misses: [
    ...number.misses,
    criterion("GREATER_THAN", "2023-11-14"),
    criterion("LESS_THAN", "2023-11-14"),
    criterion("EQUAL", "2023-11-13"),
  ],
  typed: [...number.typed, ">2023-11-13", "[2023-11-14 TO 2023-11-15}"],
};

const flag: Asked = {
  value: true,
  finds: [
    criterion("EQUAL", "true"),
    criterion("EQUAL", "TRUE"),
    criterion("IN", "true"),
    criterion("IEQUAL", "True"),
    criterion("GREATER_THAN", "false"),
    criterion("LESS_THAN_OR_EQUAL_TO", "true"),
    criterion("START_WITH", "tr"),
  ],
  misses: [criterion("EQUAL", "false"), criterion("LESS_THAN", "true")],
  typed: ["true", "TRUE", "*"],
};

const kinds: Readonly<Record<SearchField["type"], Asked>> = {
  ...{ KEYWORD: text, TEXT: text, TEXT_PARTIAL: text, WORD_GRAM: text },
  ...{ OBJECT: text, MAP_ARRAY: text },
  ...{ URN: urn, URN_PARTIAL: urn, BROWSE_PATH: path("/"), BROWSE_PATH_V2: path("␟") },
  ...{ BOOLEAN: flag, COUNT: number, DOUBLE: number, DATETIME: time },
};

/** Fields that every document has or that hide a document. */
const own = new Set(["urn", "_entityType", "removed", "isLatest"]);

/** The first document has the value, the second has none. */
function documentsOf(entityType: string, field: SearchField): readonly SearchDocument[] {
  const { value } = kinds[field.type];
  const base = (id: string) => ({
    urn: `urn:li:${entityType}:${id}`,
    entityType,
    values: { urn: [`urn:li:${entityType}:${id}`], _entityType: [entityType] },
    texts: [],
  });
  const withValue = base("z-with");
  const texts = field.queried
    ? [
        {
          field: field.name,
          value: String(value),
          folded: foldText(String(value)),
          words: wordsOf(String(value)),
          boost: field.boost,
          suggested: field.suggested,
        },
      ]
    : [];
  return [
    { ...withValue, values: { ...withValue.values, [field.name]: [value] }, texts },
    base("a-without"),
  ];
}

const page = { start: 0, count: 10 };

/** Each field name once for each of its types, with an entity type that has it. */
const every = new Map(
  Object.entries(rules.fields).flatMap(([entityType, fields]) =>
    fields
      .filter(({ name }) => !own.has(name))
      .map((field) => [`${field.name} ${field.type}`, { entityType, field }] as const),
  ),
);

test("the model has hundreds of searchable fields", () => expect(every.size).toBeGreaterThan(300));

describe("conditions and queries find values of fields of type", () => {
  const byType = Map.groupBy(every.values(), ({ field }) => field.type);
  test.each([...byType])("%s", async (_, asked) => {
    for (const { entityType, field } of asked) {
      const documents = documentsOf(entityType, field);
      const searches = searchesOver(documents);
      const { finds, misses, typed } = kinds[field.type];
      const [withIt = "", without = ""] = documents.map(({ urn }) => urn);
      const found = async (request: SearchRequest): Promise<readonly string[]> => {
        const { hits } = await searches.search({ entities: [entityType], ...request }, page);
        return hits.map(({ urn }) => urn);
      };
      const filtered = (one: Omit<Criterion, "field">, name = field.name) =>
        found({ filter: { or: [{ and: [{ field: name, ...one }] }] } });
      const where = (one: unknown) => `${field.name} (${field.type}) ${JSON.stringify(one)}`;
      for (const one of finds) {
        expect(await filtered(one), where(one)).toEqual([withIt]);
        expect(await filtered(one, `${field.name}.keyword`), where(one)).toEqual([withIt]);
        const { value = "", ...rest } = one;
        expect(await filtered({ ...rest, values: [value] }), where(one)).toEqual([withIt]);
        expect(await filtered({ ...one, negated: true }), where(one)).toEqual([without]);
      }
      for (const one of misses) expect(await filtered(one), where(one)).toEqual([]);
      expect(await filtered({ condition: "EXISTS" }), where("EXISTS")).toEqual([withIt]);
      expect(await filtered({ condition: "IS_NULL" }), where("IS_NULL")).toEqual([without]);
      for (const one of typed) {
        expect(await found({ input: `${field.name}:${one}` }), where(one)).toEqual([withIt]);
        expect(await found({ input: `NOT ${field.name}:${one}` }), where(one)).toEqual([without]);
      }
      for (const order of ["ASCENDING", "DESCENDING"] as const) {
        const sort = [{ field: field.name, order }];
        expect(await found({ sort }), where(order)).toEqual([withIt, without]);
      }
    }
  });
});
