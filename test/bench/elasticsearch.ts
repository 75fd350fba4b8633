/**
 * Search on Elasticsearch against the raw client on the same server: for the projection, bulk
 * requests with the same documents and the same refreshes; for queries, the same requests. The
 * requests of the raw client are serialized in advance.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Client, errors } from "@elastic/elasticsearch";
import { position } from "../../src/core/position.ts";
import { openElasticsearchSearchReader } from "../../src/views/search/elasticsearch/elasticsearch-search-reader.ts";
import { openElasticsearchSearchSink } from "../../src/views/search/elasticsearch/elasticsearch-search-sink.ts";
import { indexDocument, kindsOf } from "../../src/views/search/elasticsearch/index-document.ts";
import type { Indices, Request, Response } from "../../src/views/search/elasticsearch/indices.ts";
import { facetAggregations } from "../../src/views/search/elasticsearch/query/facets.ts";
import { findPage } from "../../src/views/search/elasticsearch/query/hits.ts";
import { scopeQuery } from "../../src/views/search/elasticsearch/query/scope.ts";
import { idOf, searchShape } from "../../src/views/search/elasticsearch/search-shape.ts";
import type { SearchQuery, SearchSink, SearchWrite } from "../../src/views/search/search.ts";
import { createElasticsearchPlace } from "../adapter/elasticsearch-place.ts";
import { called, compareByTurns } from "./by-turns.ts";
import { type Engine, onServer } from "./on-server.ts";
import { asTyped, createDocuments, facetFields, query } from "./search.ts";

const BATCH = 2_000;
const BATCHES_PER_ROUND = 2;
const ROUNDS = 5;
/** Merges of the server affect either side at random. */
const PROJECTION_ROUNDS = 9;
const QUESTIONS_PER_ROUND = 100;
const CALLERS = 4;
const TARGET = 0.7;
const TRIES_MAX = 5;
const PAUSE_MS = 200;

export const benchSearchOn = (name: Engine): Promise<void> => onServer(name, benchOn);

async function benchOn(title: string, url: string): Promise<void> {
  const place = await createElasticsearchPlace(url, {
    openSink: openElasticsearchSearchSink,
    openReader: openElasticsearchSearchReader,
    change: async () => {},
  })();
  const { client } = place;
  const [index, grown] = [`${place.place.name}.raw`, `${place.place.name}.raw_grown`];
  try {
    for (const one of [index, grown]) {
      await client.indices.create({
        ...{ index: one, mappings: searchShape.index.mappings },
        settings: { refresh_interval: "-1", ...searchShape.index.settings },
      });
    }
    const growing = await openElasticsearchSearchSink({ ...place.place, bulk: true });
    await benchProjection(`${title}: regrowing`, growing, (batch) => bulkRaw(client, grown, batch));
    await growing.close();
    const sink = await place.openSink();
    await sink.reset();
    await benchProjection(`${title}: following`, sink, async (batch) => {
      await bulkRaw(client, index, batch);
      await client.indices.refresh({ index });
    });
    await sink.close();
    await benchQuestions(title, place.place, client, index);
  } finally {
    await place.remove();
  }
}

type Prepared = readonly object[];

async function benchProjection(
  title: string,
  sink: SearchSink,
  raw: (batch: Prepared) => Promise<void>,
): Promise<void> {
  const documents = createDocuments();
  let last = 0;
  await compareByTurns({
    ...{ raw: `${title}, raw bulk`, ours: `${title} search documents`, of: "raw bulk" },
    ...{ target: TARGET, rounds: PROJECTION_ROUNDS, size: BATCH * BATCHES_PER_ROUND },
    sides() {
      const batches = Array.from({ length: BATCHES_PER_ROUND }, () =>
        Array.from({ length: BATCH }, (): SearchWrite & { readonly op: "put" } => {
          last++;
          const document = documents(last);
          return { op: "put", position: position(last), urn: document.urn, document };
        }),
      );
      const prepared = batches.map((batch) =>
        batch.flatMap(({ document, position: version }) => [
          { index: { _id: idOf(document.urn), version, version_type: "external_gte" } },
          JSON.parse(indexDocument(document, version)) as object,
        ]),
      );
      return {
        async ours() {
          for (const batch of batches) {
            await sink.apply(batch, batch.at(-1)?.position ?? position(0));
          }
        },
        async raw() {
          for (const batch of prepared) await raw(batch);
        },
      };
    },
  });
}

async function bulkRaw(client: Client, index: string, operations: Prepared): Promise<void> {
  // Two requests at a time, like the sink.
  const half = operations.length / 2;
  await Promise.all(
    [operations.slice(0, half), operations.slice(half)].map(async (some) => {
      const answer = await patiently(() =>
        client.bulk<unknown, unknown>({ index, operations: [...some] }),
      );
      if (answer.errors) throw new Error("the raw client's bulk had errors");
    }),
  );
}

/** Retries while the server is too busy, like the sink. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      const busy = error instanceof errors.ResponseError && error.statusCode === 429;
      if (!busy || tries === TRIES_MAX) throw error;
      await pause(PAUSE_MS * tries);
    }
  }
}

async function benchQuestions(
  title: string,
  place: Parameters<typeof openElasticsearchSearchReader>[0],
  client: Client,
  index: string,
): Promise<void> {
  const reader = await openElasticsearchSearchReader(place);
  const facets = facetFields.map(([field]) => ({ fields: [field] as const, limit: 20 }));
  const documents = createDocuments();
  const samples = Array.from({ length: 20 }, (_, n) => documents(n));
  const kinds = [...new Set(samples.flatMap(kindsOf))];
  for (const [what, asked] of Object.entries({
    "a middling word": { expression: asTyped("middleword") },
    "a common word, 12 facets": { expression: asTyped("commonword"), facets },
  })) {
    const question = query({ ...asked, entityTypes: ["dataset"] });
    const request = await requestOf(question, kinds);
    const { total } = await reader.search(question);
    const check = (found: unknown) => {
      if (found !== total) throw new Error(`${found} documents were found, not ${total}`);
    };
    const calls = { calls: QUESTIONS_PER_ROUND, callers: CALLERS };
    const ours = () => called(calls, async () => check((await reader.search(question)).total));
    const raw = () =>
      called(calls, async () => {
        const { hits } = await client.search({ index, ...request });
        check(typeof hits.total === "number" ? hits.total : hits.total?.value);
      });
    await compareByTurns({
      ...{ raw: `${title}: ${what}, raw query`, ours: `${title}: ${what}`, of: "the raw query" },
      ...{ target: TARGET, rounds: ROUNDS, size: QUESTIONS_PER_ROUND },
      sides: () => ({ ours, raw }),
    });
  }
  await reader.close();
}

/** The search request of the reader. */
async function requestOf(question: SearchQuery, kinds: readonly string[]): Promise<Request> {
  let request: Request = {};
  const indices: Indices = {
    empty: false,
    async search(asked) {
      request = asked;
      return { hits: { hits: [] } } as unknown as Response;
    },
    atPointInTime: () => Promise.reject(new Error("the page is too deep")),
  };
  const scope = await scopeQuery(question, kinds, indices);
  await findPage(indices, scope, question, {
    ...{ track_total_hits: true, aggs: facetAggregations(question.facets) },
  });
  return request;
}
