/** Tests of the search view that run on both Elasticsearch and OpenSearch. */
import type { Client } from "@elastic/elasticsearch";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import type { ServerAddress } from "../../src/storage/view-origin.ts";
import { openElasticsearchSearchReader } from "../../src/views/search/elasticsearch/elasticsearch-search-reader.ts";
import { openElasticsearchSearchSink } from "../../src/views/search/elasticsearch/elasticsearch-search-sink.ts";
import { fromUnitOrder } from "../../src/views/search/elasticsearch/stored-text.ts";
import type {
  Condition,
  DocumentText,
  Expression,
  SearchDocument,
  SearchQuery,
  SearchReader,
  SearchSink,
  SearchWrite,
} from "../../src/views/search/search.ts";
import { decodeDocument } from "../../src/views/search/stored-document.ts";
import { searchContract } from "../contract/search.contract.ts";
import { createSearchModel, searchHistories } from "../contract/search-model.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { addressOf, createElasticsearchPlace, rawClient } from "./elasticsearch-place.ts";

type Engine = "elasticsearch" | "opensearch";

async function reached(name: Engine) {
  const store = await reachStore(name);
  const createPlace = createElasticsearchPlace(
    "skipped" in store ? "" : addressOf(name, store.url),
    {
      openSink: openElasticsearchSearchSink,
      openReader: openDumpedReader,
      change,
    },
  );
  return { title: storeTitle(name, store), createPlace, skipped: "skipped" in store };
}

/** The stored documents with their positions, in the order of their urns. */
const openDumpedReader = async (place: ServerAddress) => ({
  ...(await openElasticsearchSearchReader(place)),
  async *dump() {
    const client = rawClient(place);
    try {
      const { hits } = await client.search<Stored>({
        ...{ index: `${place.name}.search.live.*`, size: 10_000, sort: [{ urn: "asc" }] },
      });
      for (const { _source } of hits.hits) {
        if (_source === undefined) continue;
        const document = decodeDocument(fromUnitOrder(_source.urn), _source.document);
        yield { position: _source.at, document };
      }
    } finally {
      await client.close();
    }
  },
});

/** The contract of sinks, for the search view. */
export async function searchSinkOn(name: Engine): Promise<void> {
  const { title, createPlace, skipped } = await reached(name);
  // The test needs a server.
  describe.skipIf(skipped)(`on ${title}`, () => {
    sinkContract(`${title}, search`, {
      createPlace,
      slow: true,
      histories: searchHistories,
      urnOf: ({ urn }) => urn,
      ownerOf: ({ document }) => document.urn,
      damages: Object.keys(damages).map(
        (what) => [what, (urn: string) => JSON.stringify({ what, urn })] as const,
      ),
    });
  });
}

/** The contract of search views, and tests for these servers alone. */
export async function searchOn(name: Engine): Promise<void> {
  const { title, createPlace, skipped } = await reached(name);
  // The test needs a server.
  describe.skipIf(skipped)(`on ${title}`, () => {
    searchContract(title, { createPlace, slow: true });

    describe("beyond the contract", () => {
      let place: Awaited<ReturnType<typeof createPlace>>;
      let sink: SearchSink;
      let reader: SearchReader;

      beforeEach(async () => {
        place = await createPlace();
        sink = await place.openSink();
        reader = await place.openReader();
      });

      afterEach(async () => {
        await reader.close();
        await sink.close();
        await place.remove();
      });

      test("pages may begin anywhere, and facets are complete beyond the limits of the server", async () => {
        const model = createSearchModel();
        const writes = Array.from({ length: 10_060 }, (_, n) =>
          put(n + 1, `urn:li:${n % 2 === 0 ? "dataset" : "chart"}:${(n * 7_919) % 100_003}`, {
            f: [`v${(n * 7_919) % 5_000}`],
            g: [n % 7],
          }),
        );
        model.apply(writes, position(writes.length));
        await sink.apply(writes, position(writes.length));
        const sort = [{ field: "g", order: "DESCENDING" as const }];
        const [fifth] = model.search({ ...all, sort, start: 5, count: 1 }).hits;
        for (const page of [
          { start: 10_010, count: 20 },
          { start: 9_995, count: 10 },
          { start: 10_000, count: 100, sort },
          { start: 10_060, count: 10 },
          { start: 30_000, count: 10 },
          { start: 9_990, count: 100, sort, after: fifth?.cursor },
          { start: 500, count: 10_000, facets: [{ fields: ["f"] as const, limit: 3 }] },
          { start: 0, count: 1, facets: [{ fields: ["f", "g"] as const, limit: 3 }] },
        ]) {
          expect(await reader.search({ ...all, ...page })).toEqual(
            model.search({ ...all, ...page }),
          );
        }
      });

      test("readers see either the old or the new generation during a rebuild", async () => {
        await sink.apply([put(1, "urn:li:dataset:a")], position(1));
        const rebuilt = await openElasticsearchSearchSink({ ...place.place, bulk: true });
        const [b, c] = ["b", "c"].map((id, n) => put(n + 1, `urn:li:dataset:${id}`));
        await rebuilt.apply(
          [b, c].flatMap((write) => write ?? []),
          position(5),
        );
        const seen = new Set<string>();
        let growing = true;
        const reading = (async () => {
          while (growing) {
            const { hits, position: at } = await reader.search(all);
            seen.add(`${hits.map(({ document }) => document.urn.at(-1)).join("")}${at}`);
          }
        })();
        await rebuilt.close();
        const { total, position: at } = await reader.search(all);
        growing = false;
        await reading;
        expect({ total, at }).toEqual({ total: 2, at: 5 });
        expect([...seen].filter((one) => one !== "a1" && one !== "bc5")).toEqual([]);
      });

      test("of two projectors, the one that is behind changes nothing, and learns the position of the view", async () => {
        const other = await openElasticsearchSearchSink(place.place);
        await sink.apply([put(1, "urn:li:dataset:a"), put(2, "urn:li:dataset:b")], position(2));
        await other.position();
        const removed = { op: "remove" as const, position: position(5), urn: "urn:li:dataset:b" };
        await other.apply([put(4, "urn:li:dataset:a", { f: ["new"] }), removed], position(5));
        const late = [put(3, "urn:li:dataset:a", { f: ["old"] }), put(3, "urn:li:dataset:b")];
        const conflict = expect.objectContaining({ code: "conflict" });
        await expect(sink.apply(late, position(3))).rejects.toEqual(conflict);
        expect(await sink.position()).toBe(5);
        const { hits } = await reader.search(all);
        expect(hits.map(({ document }) => document.values)).toEqual([{ f: ["new"] }]);
        await other.close();
      });

      test("documents that were restored repeatedly, or changed without the service, accept later writes", async () => {
        const a = put(1, "urn:li:dataset:a");
        await sink.apply([a], position(1));
        for (let times = 0; times < 5; times++) await sink.restore("urn:li:dataset:a", [a]);
        await sink.apply([put(2, "urn:li:dataset:a", { f: ["two"] })], position(2));
        expect((await reader.search(all)).hits[0]?.document.values).toEqual({ f: ["two"] });
        for (let times = 0; times < 5; times++) await sink.restore("urn:li:dataset:a", []);
        await sink.apply([put(3, "urn:li:dataset:a", { f: ["three"] })], position(3));
        expect((await reader.search(all)).hits[0]?.document.values).toEqual({ f: ["three"] });
      });

      test("a document that no server accepts is rejected with the reason", async () => {
        await sink.apply([put(1, "urn:li:dataset:a", { f: ["x"] }, [text("x", 1)])], position(1));
        const tooLarge = expect.objectContaining({ code: "too_large" });
        const word = (n: number): Expression => ({
          kind: "word",
          any: [{ word: `w${n}`, prefix: false, weight: 1 }],
        });
        const words = Array.from({ length: 1_100 }, (_, n) => word(n));
        let deep: Expression = word(0);
        for (let n = 0; n < 40; n++)
          deep = { kind: "or", any: [{ kind: "not", not: deep }, word(n)] };
        const like = (length: number): Condition => ({
          ...{ kind: "like", field: "f", how: "contains", texts: ["x".repeat(length)] },
        });
        for (const asked of [
          { expression: { kind: "and" as const, all: words } },
          { expression: deep },
          { condition: like(2_000) },
          { condition: { kind: "range" as const, field: "f", from: "x".repeat(2_000) } },
        ]) {
          await expect(reader.search({ ...all, ...asked })).rejects.toEqual(tooLarge);
        }
        expect((await reader.search({ ...all, condition: like(300) })).total).toBe(0);
      });

      test("texts that are too long for a term are found, and returned unchanged", async () => {
        const long = `${"lorem ipsum ".repeat(2_000)}Dolor${" sit amet".repeat(1_000)}End`;
        const path = "/folder".repeat(300);
        const model = createSearchModel();
        const writes = [
          put(1, "urn:li:dataset:a", { f: [long, "x"], path: [`${path}/a/b`, `${path}/a`] }),
          put(2, "urn:li:dataset:b", { f: [`${long}s`], path: [`${path}/b`] }),
          put(3, "urn:li:dataset:c", { f: ["dolor"], path: [path, "/folder"] }),
        ];
        model.apply(writes, position(3));
        await sink.apply(writes, position(3));
        const like = (how: "contains" | "starts" | "ends", asked: string): Condition => ({
          ...{ kind: "like", field: "f", how, texts: [asked] },
        });
        for (const condition of [
          like("contains", "dolor"),
          like("contains", "sit amet sit"),
          like("ends", "amet end"),
          like("ends", "end"),
          like("starts", "lorem ipsum"),
          { kind: "equal" as const, field: "f", values: [long] },
        ]) {
          const asked = { ...all, condition, facets: [{ fields: ["f"] as const, limit: 9 }] };
          expect(await reader.search(asked)).toEqual(model.search(asked));
        }
        for (const folder of ["", "/folder", path, `${path}/a`]) {
          const asked = { ...all, field: "path", separator: "/", path: folder };
          expect(await reader.folders(asked)).toEqual(model.folders(asked));
        }
      });
    });
  });
}

const all: SearchQuery = {
  ...{ entityTypes: ["dataset", "chart"], expression: { kind: "all" } },
  ...{ sort: [], start: 0, count: 100, facets: [] },
};

const text = (value: string, boost: number): DocumentText => ({
  ...{ field: "name", value, folded: value, words: value.split(" "), boost, suggested: false },
});

const put = (
  at: number,
  urn: string,
  values: SearchDocument["values"] = {},
  texts: readonly DocumentText[] = [],
): SearchWrite => ({
  ...{ op: "put", position: position(at), urn },
  document: { urn, entityType: urn.split(":")[2] ?? "", values, texts },
});

interface Stored {
  readonly at: number;
  readonly urn: string;
  readonly document: string;
}

type Damage = (
  client: Client,
  at: { readonly index: string; readonly id: string },
  source: Stored,
) => Promise<unknown>;

const damages: Readonly<Record<string, Damage>> = {
  removed: (client, at) => client.delete({ ...at, refresh: true }),
  changed: (client, at, source) =>
    client.index({ ...at, refresh: true, document: { ...source, document: '["tag",{},[]]' } }),
  "moved to another place": (client, at, source) =>
    client.index({ ...at, refresh: true, document: { ...source, at: source.at + 5 } }),
};

async function change(statements: string, client: Client, name: string): Promise<void> {
  const { what, urn } = JSON.parse(statements) as { what: string; urn: string };
  const at = { index: `${name}.search.live.${urn.split(":")[2]}`, id: urn };
  const { _source } = await client.get<Stored>(at);
  if (_source !== undefined) await damages[what]?.(client, at, _source);
}
