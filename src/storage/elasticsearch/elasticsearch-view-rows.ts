/**
 * Reads the rows of a view in Elasticsearch or OpenSearch for verification (verify/view-rows.ts),
 * from the indices of the live generation. `faults` checks the aliases of readers.
 *
 * Documents of a batch become visible one after the other, and before the checkpoint moves. Rows
 * are therefore at least as new as the checkpoint that was read before, but belong to no exact
 * position, except those of a paused staging generation.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { estypes } from "@elastic/elasticsearch";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { comesBefore } from "../../projector/verify/entities/log-entities.ts";
import type { Row, RowSnapshot, ViewRows } from "../../projector/verify/view-rows.ts";
import type { ServerAddress } from "../view-origin.ts";
import type { ViewSetting } from "./client.ts";
import { type ElasticsearchReading, openElasticsearchReading } from "./elasticsearch-reading.ts";
import { createGenerations } from "./generations.ts";
import { singleSearch } from "./multi-search.ts";
import { pagesOf } from "./pages.ts";
import type { StoredViewState, ViewShape } from "./view-metadata.ts";

type Query = estypes.QueryDslQueryContainer;

/** A document of a search result. */
interface FoundDocument<Source> {
  readonly id: string;
  /** Part of the view (names.ts); undefined in an index of another view. */
  readonly partition: string | undefined;
  readonly source: Partial<Source>;
  /** Names of the queries that it matches (RowQueries.marks). */
  readonly marks: readonly string[];
}

/** The queries of one view. Documents have the urn of their entity in `urn`, a keyword. */
interface RowQueries<Source extends { readonly urn: string }, Kept> {
  /** A urn as documents store it; the server sorts by its bytes. */
  term(urn: string): string;
  urn(term: string): string;
  /** Fields that order the documents of an entity uniquely. */
  readonly sort: readonly (keyof Source & string)[];
  /** Fields of the source to read. */
  readonly fields: readonly (keyof Source & string)[];
  /** Queries for stored documents that readers filter out. */
  hidden?(kept: Kept, indexOf: (partition: string) => string): readonly Query[];
  /** Named queries: each document has the names of those that it matches. */
  marks?(urns: readonly string[]): readonly Query[];
  row(found: FoundDocument<Source>): Row;
}

const URNS_PER_PAGE = 1_000;
const FIRST_PAGE_MAX = 200;
const PAGE_CHARACTERS = 4_000_000;
/** Maximum number of rows of one read, except that the first entity is always read completely. */
const ROWS_MAX = 10_000;
/** Maximum number of attempts when the generation is swapped during a read. */
const TRIES_MAX = 6;
/** Retries of counts until two consecutive reads are equal. */
const STABLE_READ = { triesMax: 3, afterMs: 50 };
const FAULTS = { looksMax: 5, afterMs: 250 };

/** Connects with the first read. A missing view has no rows. */
export function openElasticsearchViewRows<Source extends { readonly urn: string }, Kept>(
  of: {
    readonly shape: ViewShape<Kept>;
    readonly address: ServerAddress;
    readonly asker: ViewSetting;
    /** A staging generation to read instead of the live one. */
    readonly staged?: StoredViewState<Kept> | undefined;
  },
  queries: RowQueries<Source, Kept>,
): ViewRows {
  const { shape, staged } = of;
  const reading = openElasticsearchReading(shape, of.address, of.asker, staged);
  const documents = createDocuments(reading, queries);
  const generations = createGenerations(reading.server, shape, reading.names);
  const find = () => reading.state();

  /** True if both states have the same generation and the same hidden documents. */
  const showsSameDocuments = (
    state: StoredViewState<Kept>,
    later: StoredViewState<Kept> | undefined,
  ): boolean =>
    later?.generation === state.generation &&
    JSON.stringify(documents.hidden(later)) === JSON.stringify(documents.hidden(state));

  async function readRows(urns: readonly string[]): Promise<RowSnapshot> {
    for (let tries = 1; ; tries++) {
      const state = await find();
      if (state === undefined) return { from: START, to: START, rows: urns.map(() => []) };
      const rows = await documents.ofUrns(state, urns);
      if (showsSameDocuments(state, await find()))
        return { from: state.position, to: staged?.position, rows };
      if (tries === TRIES_MAX) throw replaced(shape.view);
    }
  }

  /** Faults of the aliases, through which readers miss documents or find them twice. */
  async function aliasFaults(state: StoredViewState<Kept>): Promise<readonly string[]> {
    const all = await generations.list();
    const own = all.filter(({ generation }) => generation === state.generation);
    const existing = new Set(own.map(({ partition }) => partition));
    const fault = (what: string) => (one: { readonly index: string }) => `${what} "${one.index}"`;
    const isFiltered = (partition: string) => shape.visible?.(partition, state.kept) !== undefined;
    const missing = state.places
      .filter((partition) => !existing.has(partition))
      .map((partition) => `the index of "${partition}" is missing`);
    // The aliases of readers do not point to a staging generation yet.
    if (staged !== undefined) return missing;
    return [
      ...missing,
      ...own.filter(({ live }) => !live).map(fault("no alias points to the index")),
      ...own
        .filter(({ live, filtered, partition }) => live && filtered !== isFiltered(partition))
        .map(fault("the alias has the wrong filter for the index")),
      ...all
        .filter(({ live, generation }) => live && generation !== state.generation)
        .map(fault("an alias points to the old index")),
    ];
  }

  return {
    early: true,
    position: async () => (await find())?.position ?? START,

    read: readRows,

    async count() {
      let position: Position = START;
      for (let tries = 0; tries < STABLE_READ.triesMax; tries++) {
        const before = await find();
        if (before === undefined) return { position: START, rows: 0 };
        const rows = await documents.count(before);
        await pause(STABLE_READ.afterMs);
        const again = await documents.count(before);
        const after = await find();
        position = before.position;
        const unmoved = after?.position === position && showsSameDocuments(before, after);
        if (unmoved && rows === again) return { position, rows };
      }
      return { position, rows: undefined };
    },

    async *urns() {
      let after: { readonly generation: number; readonly term: string } | undefined;
      for (;;) {
        const state = await find();
        if (state === undefined) return;
        const { generation } = state;
        const from = after?.generation === generation ? after.term : undefined;
        const found = await documents.terms(state, from);
        if (found.urns.length > 0) yield found.urns;
        if (found.last === undefined) return;
        after = { generation, term: found.last };
      }
    },

    async faults() {
      let found: readonly string[] = [];
      for (let attempts = 0; attempts < FAULTS.looksMax; attempts++) {
        // An alias change in progress is not a fault: lists the aliases again.
        if (attempts > 0) await pause(FAULTS.afterMs);
        const state = await find();
        const now = state === undefined ? [] : await aliasFaults(state);
        found = attempts === 0 ? now : found.filter((one) => now.includes(one));
        if (found.length === 0) return [];
      }
      return found;
    },

    close: () => reading.close(),
  };
}

function createDocuments<Source extends { readonly urn: string }, Kept>(
  { send: ask, names }: ElasticsearchReading<Kept>,
  queries: RowQueries<Source, Kept>,
) {
  const hidden = ({ generation, kept }: StoredViewState<Kept>): readonly Query[] =>
    queries.hidden?.(kept, (partition) => names.index(generation, partition)) ?? [];
  const within = (state: StoredViewState<Kept>, filter: readonly Query[]): Query => ({
    bool: { filter: [...filter], must_not: [...hidden(state)] },
  });
  const whole = { ignore_unavailable: true, allow_partial_search_results: false } as const;

  return {
    hidden,
    /** Rows of the first urns; of at least one. */
    async ofUrns(
      state: StoredViewState<Kept>,
      urns: readonly string[],
    ): Promise<readonly (readonly Row[])[]> {
      const terms = urns.map(queries.term);
      const rows = new Map<string, Row[]>(terms.map((term) => [term, []]));
      const marks = queries.marks?.(urns) ?? [];
      const query: Query = {
        bool: { must: [within(state, [{ terms: { urn: terms } }])], should: [...marks] },
      };
      let count = 0;
      const first = Math.min(FIRST_PAGE_MAX, urns.length + 1);
      const pages = pagesOf<Partial<Source>>(singleSearch(ask), {
        ...{ index: names.indices(state.generation), query, first, ties: true },
        sort: ["urn", ...queries.sort],
        fields: [...new Set(["urn", ...queries.fields])],
        charactersMax: PAGE_CHARACTERS,
        charactersOf: (source) => JSON.stringify(source).length,
      });
      for await (const hits of pages) {
        for (const { id, index, source, marks } of hits) {
          const partition = names.parse(index)?.partition;
          rows.get(String(source.urn))?.push(queries.row({ id, partition, source, marks }));
        }
        count += hits.length;
        if (count < ROWS_MAX || urns.length === 1) continue;
        const last = String(hits.at(-1)?.sort[0]);
        const behind = terms.findIndex((term) => !comesBefore(term, last));
        // The first urn is late in the server's order: read it alone.
        if (behind === 0) return this.ofUrns(state, urns.slice(0, 1));
        return terms.slice(0, behind).map((term) => rows.get(term) ?? []);
      }
      return terms.map((term) => rows.get(term) ?? []);
    },

    async count(state: StoredViewState<Kept>): Promise<number> {
      const { hits } = await ask((client) =>
        client.search({
          ...{ index: names.indices(state.generation), ...whole, size: 0, track_total_hits: true },
          query: within(state, []),
        }),
      );
      return typeof hits.total === "object" ? hits.total.value : Number(hits.total ?? 0);
    },

    async terms(state: StoredViewState<Kept>, after: string | undefined) {
      const { aggregations } = await ask((client) =>
        client.search<unknown, { readonly urns: Urns }>({
          ...{ index: names.indices(state.generation), ...whole, size: 0, track_total_hits: false },
          query: within(state, []),
          aggs: {
            urns: {
              composite: {
                size: URNS_PER_PAGE,
                sources: [{ urn: { terms: { field: "urn" } } }],
                ...(after !== undefined && { after: { urn: after } }),
              },
            },
          },
        }),
      );
      const buckets = aggregations?.urns.buckets ?? [];
      const last = buckets.length === URNS_PER_PAGE ? buckets.at(-1)?.key.urn : undefined;
      return { urns: buckets.map(({ key }) => queries.urn(key.urn)), last };
    },
  };
}

interface Urns {
  readonly buckets: readonly { readonly key: { readonly urn: string } }[];
}

const replaced = (view: string): CatalogError =>
  new CatalogError("unavailable", `the view "${view}" is being replaced`);
