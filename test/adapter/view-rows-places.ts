/**
 * Views in servers for tests of verification: built from a log, damaged by the clients of the
 * servers, and removed at the end.
 */
import type { Client, estypes } from "@elastic/elasticsearch";
import neo4j from "neo4j-driver";
import { idOf as idOfDocument } from "../../src/views/search/elasticsearch/search-shape.ts";
import {
  documentOf,
  idOf,
  type StoredEvent,
} from "../../src/views/timeseries/elasticsearch/documents.ts";
import { rawClient } from "./elasticsearch-place.ts";
import { createPostgresPlaces, type PostgresPlace } from "./postgres-place.ts";

export const NOBODY = "urn:li:dataset:(urn:li:dataPlatform:hive,nobody,PROD)";

export interface Damaged {
  damage(what: string): Promise<void>;
  remove(): Promise<void>;
}

/** Statements for the live generation, in the form of PostgresPlace.change. */
export async function postgresViews(url: string): Promise<PostgresPlace> {
  return createPostgresPlaces(url)();
}

/** `LABEL` in a statement stands for the live generation's. */
export async function neo4jViews(url: string, name: string): Promise<Damaged> {
  const { protocol, host, username, password } = new URL(url);
  const driver = neo4j.driver(`${protocol}//${host}`, neo4j.auth.basic(username, password), {
    disableLosslessIntegers: true,
  });
  const ask = async (query: string) =>
    (await driver.executeQuery(query)).records.map((record) => record.toObject());
  return {
    async damage(statement) {
      const [live] = await ask(`MATCH (v:${name}_graph {part: 'live'}) RETURN v.generation AS g`);
      await ask(statement.replaceAll("LABEL", `${name}_graph_${live?.g}`));
    },
    async remove() {
      const found = await ask("SHOW CONSTRAINTS YIELD name RETURN name");
      const own = found.map((one) => String(one.name)).filter((one) => one.startsWith(name));
      for (const label of new Set([...own, `${name}_graph`])) {
        await ask(`MATCH (n:\`${label}\`) DETACH DELETE n`);
        await ask(`DROP CONSTRAINT \`${label}\` IF EXISTS`);
      }
      await driver.close();
    },
  };
}

interface Hit {
  readonly index: string;
  readonly id: string;
  readonly source: Record<string, unknown>;
}

type Change = (client: Client, hits: readonly Hit[]) => Promise<unknown>;

const half = (hits: readonly Hit[]): readonly Hit[] => hits.filter((_, n) => n % 2 === 0);

/** The document is unchanged, but its search fields are gone. */
const put = (client: Client, { index, id, source }: Hit) =>
  client.index({ index, id, document: source, refresh: true });

const each =
  (change: (hit: Hit) => Hit): Change =>
  async (client, hits) => {
    for (const hit of hits) await put(client, change(hit));
  };

const removed = async (client: Client, hits: readonly Hit[]) => {
  // An unfinished truncation may be the first.
  for (const { index, id } of hits) {
    await client.delete({ index, id, refresh: true }, { ignore: [404] });
  }
};

const asEvent = (source: Record<string, unknown>) => source as unknown as StoredEvent;

/** The event under its own id, where readers find it. */
function eventHit(hit: Hit, over: Partial<StoredEvent>): Hit {
  const event = { ...asEvent(hit.source), ...over };
  const source = JSON.parse(documentOf(event as never));
  return { index: hit.index, id: idOf(event), source };
}

const changes: Readonly<Record<string, Change>> = {
  "some removed": (client, hits) => removed(client, half(hits)),
  emptied: removed,
  "index dropped": (client, hits) =>
    client.indices.delete({ index: [...new Set(hits.map(({ index }) => index))] }),
  "value changed": each((hit) => ({ ...hit, source: { ...hit.source, value: "{}" } })),
  "positions moved": each((hit) =>
    eventHit(hit, { position: (Number(hit.source.position) + 1) as never }),
  ),
  "event added": each((hit) => eventHit(hit, { time: Number(hit.source.time) + 1 })),
  "event of nobody": async (client, [hit]) => hit && put(client, eventHit(hit, { urn: NOBODY })),
  "fields gone": async (client, hits) => {
    for (const hit of half(hits)) {
      await put(client, { ...hit, source: { urn: hit.source.urn, aspect: 7 } });
    }
  },
  "event astray": async (client, [hit]) => hit && put(client, { ...hit, id: "astray" }),
  "document changed": each((hit) => ({
    ...hit,
    source: { ...hit.source, document: '["dataset",{},[]]' },
  })),
  "words gone": async (client, hits) => {
    for (const { index, id } of half(hits)) {
      await client.update({ index, id, doc: { at: 1 }, refresh: true });
    }
  },
  "document of nobody": async (client, [hit]) =>
    hit &&
    put(client, { ...hit, id: idOfDocument(NOBODY), source: { ...hit.source, urn: NOBODY } }),
};

export async function elasticsearchViews(
  url: string,
  name: string,
  view: string,
): Promise<Damaged> {
  const client = rawClient({ url });
  const indices = async () =>
    Object.keys(await client.indices.getAlias({ index: `${name}.${view}.g*` })).filter((index) =>
      /\.g\d+\./.test(index),
    );
  return {
    async damage(what) {
      const index = await indices();
      await client.indices.refresh({ index });
      const { hits } = await client.search<Record<string, unknown>>({
        ...{ index, size: 1_000, query: { match_all: {} } as estypes.QueryDslQueryContainer },
      });
      const found = hits.hits.map(({ _id, _index, _source }) => ({
        ...{ id: String(_id), index: _index, source: _source ?? {} },
      }));
      await changes[what]?.(client, found);
    },
    async remove() {
      const all = Object.keys(await client.indices.getAlias({ index: `${name}.*` }));
      for (let from = 0; from < all.length; from += 20) {
        await client.indices.delete({ index: all.slice(from, from + 20) });
      }
      await client.close();
    },
  };
}
