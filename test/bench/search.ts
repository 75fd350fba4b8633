/**
 * The search view alone: writes, changes and queries, with documents that are applied to the sink
 * directly. The words are distributed as in real text: one is in four fifths of all documents, one
 * in a thirtieth, one in three of ten thousand.
 */
import { join } from "node:path";
import { foldText, wordsOf } from "../../projections/search/words.ts";
import { position } from "../../src/core/position.ts";
import type {
  Condition,
  Expression,
  FacetQuery,
  FieldValue,
  SearchDocument,
  SearchQuery,
  SearchReader,
  SearchSink,
} from "../../src/views/search/search.ts";
import { openSqliteSearchReader } from "../../src/views/search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchSink } from "../../src/views/search/sqlite/sqlite-search-sink.ts";
import { completing } from "../support/completing.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { median } from "./load.ts";
import { rate, report } from "./report.ts";

const batchSize = 2_000;
const updates = 40_000;
const rounds = 11;
/** The longest time for the rounds of a query. */
const roundsMsMax = 6_000;

export async function benchSearch(size: number): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  const path = join(directory.path, "search.sqlite");
  const documents = createDocuments();
  let last = 0;

  async function put(sink: SearchSink, numbers: readonly number[]): Promise<number> {
    const writes = numbers.map((n) => {
      last++;
      const document = documents(n);
      return { op: "put" as const, position: position(last), urn: document.urn, document };
    });
    const begun = performance.now();
    await sink.apply(writes, position(last));
    return performance.now() - begun;
  }

  const bulk = openSqliteSearchSink({ path, bulk: true });
  const times: number[] = [];
  for (let from = 0; from < size; from += batchSize) {
    times.push(
      await put(
        bulk,
        Array.from({ length: batchSize }, (_, n) => from + n),
      ),
    );
  }
  const begun = performance.now();
  await bulk.close();
  times.push(performance.now() - begun);
  const tenth = Math.ceil(times.length / 10);
  report(`put ${size.toLocaleString("en")} new documents`, perSecond(size, times));
  report("the first tenth", perSecond(tenth * batchSize, times.slice(0, tenth)));
  report("the last tenth", perSecond(tenth * batchSize, times.slice(-tenth)));

  const sink = openSqliteSearchSink({ path });
  const merging = performance.now();
  while (await sink.maintain?.());
  report("merges in the background", `${Math.round(performance.now() - merging)} ms`);
  const residentBefore = process.memoryUsage.rss();
  const reader = openSqliteSearchReader(path);
  await ask(reader, "before changes");
  const readerBytes = process.memoryUsage.rss() - residentBefore;
  report("memory of the readers", `${Math.round(readerBytes / size)} bytes for each document`);
  const changes: number[] = [];
  for (let done = 0; done < updates; done += batchSize) {
    changes.push(
      await put(
        sink,
        Array.from({ length: batchSize }, () => documents.any(size)),
      ),
    );
  }
  report(`change documents, ${batchSize} at once`, perSecond(updates, changes));
  await ask(reader, "after them");
  await reader.close();
  await sink.close();
}

const perSecond = (count: number, milliseconds: readonly number[]): string =>
  rate((count * 1_000) / milliseconds.reduce((sum, ms) => sum + ms, 0));

/** The default facets of a response. */
export const facetFields: readonly (readonly [field: string, values: number])[] = [
  ["_entityType", 1],
  ["origin", 3],
  ["platform", 20],
  ["env", 3],
  ["domains", 50],
  ["owners", 2_000],
  ["tags", 200],
  ["glossaryTerms", 500],
  ["container", 5_000],
  ["typeNames", 8],
  ["dataPlatformInstance", 10],
  ["hasDescription", 2],
];

async function ask(reader: SearchReader, when: string): Promise<void> {
  const facets = facetFields.map(([field]): FacetQuery => ({ fields: [field], limit: 20 }));
  const searches: Readonly<Record<string, Partial<SearchQuery>>> = {
    "a rare word": { expression: asTyped("rareword") },
    "a middling word": { expression: asTyped("middleword") },
    "a common word": { expression: asTyped("commonword") },
    "a common and a middling word": { expression: asTyped("commonword middleword") },
    "a common word, with a filter": {
      expression: asTyped("commonword"),
      condition: { kind: "equal", field: "tags", values: ["urn:li:tag:tags150"] },
    },
    "everything, with a filter": {
      condition: { kind: "equal", field: "platform", values: ["urn:li:dataPlatform:platform3"] },
    },
    everything: {},
    "a phrase": { expression: { kind: "phrase", words: ["commonword", "wr"] } },
    "everything, sorted by time": { sort: [{ field: "lastModified", order: "DESCENDING" }] },
    "a word, sorted by name": {
      expression: asTyped("middleword"),
      sort: [{ field: "name", order: "ASCENDING" }],
    },
    "names that contain something": {
      condition: { kind: "like", field: "name", how: "contains", texts: ["_wrs_"] },
    },
  };
  const first = performance.now();
  await reader.search(query({ facets }));
  report(`first question ${when}`, `${Math.round(performance.now() - first)} ms`);
  for (const [name, asked] of Object.entries(searches)) {
    await time(
      `${name}, 12 facets`,
      async () => (await reader.search(query({ facets, ...asked }))).total,
    );
  }
  for (const typed of ["c", "cu", "custo", "wr cu"]) {
    await time(`completing "${typed}"`, async () => {
      return (await reader.search(query({ expression: completing(typed), uncounted: true }))).total;
    });
  }
  await time("folders of the root", async () => {
    const folders = { ...query({}), field: "browsePathV2", separator: "␟", path: "" };
    return (await reader.folders(folders)).total;
  });
}

async function time(name: string, question: () => Promise<number>): Promise<void> {
  const times: number[] = [];
  const begun = performance.now();
  let total = await question();
  const firstMs = performance.now() - begun;
  while (times.length < rounds && performance.now() - begun < roundsMsMax) {
    const from = performance.now();
    total = await question();
    times.push(performance.now() - from);
  }
  const first = firstMs > 2 * median(times) ? `first ${firstMs.toFixed(0)}, then ` : "";
  report(`${name}: ${total.toLocaleString("en")}`, `${first}${median(times).toFixed(1)} ms`);
}

const notRemoved: Condition = {
  kind: "not",
  not: { kind: "equal", field: "removed", values: [true] },
};

let asked = 0;

/** Returns different queries, so that no response comes from a cache. */
export function query({ condition, ...more }: Partial<SearchQuery>): SearchQuery {
  asked++;
  return {
    entityTypes: ["dataset", `unheard${asked}`],
    expression: { kind: "all" },
    sort: [],
    start: 0,
    count: 10,
    facets: [],
    condition:
      condition === undefined ? notRemoved : { kind: "every", every: [condition, notRemoved] },
    ...more,
  };
}

/** The expression of the catalog for plain words. */
export function asTyped(typed: string): Expression {
  const words = typed.split(" ");
  const all = words.map(
    (word): Expression => ({
      kind: "word",
      any: [
        { word, prefix: false, weight: 1 },
        { word: `${word}s`, prefix: false, weight: 0.75 },
        { word, prefix: true, weight: 0.5 },
      ],
    }),
  );
  return {
    kind: "prefer",
    base: { kind: "and", all },
    preferred: [
      { weight: 16, when: { kind: "whole", text: typed, prefix: false } },
      { weight: 4, when: { kind: "whole", text: typed, prefix: true } },
      ...(words.length < 2 ? [] : [{ weight: 2, when: { kind: "phrase", words } } as const]),
    ],
  };
}

/** A word for each number: short ones for small numbers. */
const lettersOf = (n: number): string =>
  `w${n.toString(26).replace(/[0-9]/g, (digit) => String.fromCharCode(113 + Number(digit)))}`;

/** Document n; every call returns another version. */
export function createDocuments() {
  let seed = 42;
  const random = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(random() * end);
  /** A random number; small ones are far more frequent. */
  const spread = (end: number): number => Math.floor(Math.exp(random() * Math.log(end))) - 1;
  const names = ["customer", "order", "invoice", "event", "session", "account", "ledger", "cart"];
  const word = (): string => lettersOf(spread(50_000));

  function valuesOf(name: string, description: string): Record<string, readonly FieldValue[]> {
    const values: Record<string, readonly FieldValue[]> = {
      name: [name],
      description: [description],
      lastModified: [1_700_000_000_000 + below(1e10)],
      browsePathV2: [`␟container${spread(300)}␟schema${below(20)}`],
      removed: [random() < 0.01],
    };
    for (const [field, count] of facetFields) {
      const length = ["tags", "owners", "glossaryTerms"].includes(field) ? below(4) : 1;
      const type = field === "platform" ? "dataPlatform" : field === "tags" ? "tag" : field;
      values[field] = Array.from({ length }, () => `urn:li:${type}:${field}${spread(count)}`);
    }
    values._entityType = ["dataset"];
    return values;
  }

  function documentOf(n: number): SearchDocument {
    // The name depends on the number: an entity that changes keeps its urn.
    const rank = (Math.imul(n, 2_654_435_761) >>> 0) / 2 ** 32;
    const other = lettersOf(Math.floor(Math.exp(rank * Math.log(50_000))));
    const name = `${names[n % names.length]}_${other}_${n}`;
    const urn = `urn:li:dataset:(urn:li:dataPlatform:hive,shop.public.${name},PROD)`;
    const words = Array.from({ length: 14 }, word);
    if (random() < 0.82) words.splice(below(14), 0, "commonword");
    if (random() < 0.033) words.push("middleword");
    if (random() < 0.0003) words.push("rareword");
    const description = words.join(" ");
    const values = valuesOf(name, description);
    const text = (field: string, value: string, boost: number, suggested = false) => ({
      field,
      value,
      folded: foldText(value),
      words: wordsOf(value),
      boost,
      suggested,
    });
    return {
      urn,
      entityType: "dataset",
      values: { ...values, urn: [urn] },
      texts: [
        text("urn", urn, 4),
        text("name", name, 10, true),
        text("description", description, 1),
        ...(values.tags ?? []).map((value) => text("tags", String(value), 0.5)),
      ],
    };
  }

  return Object.assign(documentOf, { any: below });
}
