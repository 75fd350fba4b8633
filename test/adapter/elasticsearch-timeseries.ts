/** Tests of the timeseries view that run on both Elasticsearch and OpenSearch. */
import type { Client } from "@elastic/elasticsearch";
import { describe } from "vitest";
import { partitionOf } from "../../src/storage/elasticsearch/names.ts";
import type { ServerAddress } from "../../src/storage/view-origin.ts";
import { openElasticsearchTimeseriesReader } from "../../src/views/timeseries/elasticsearch/elasticsearch-timeseries-reader.ts";
import { openElasticsearchTimeseriesRows } from "../../src/views/timeseries/elasticsearch/elasticsearch-timeseries-rows.ts";
import { openElasticsearchTimeseriesSink } from "../../src/views/timeseries/elasticsearch/elasticsearch-timeseries-sink.ts";
import type { TimeseriesWrite } from "../../src/views/timeseries/timeseries-table.ts";
import { typeOf } from "../contract/aspect-table-model.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { timeseriesTableContract } from "../contract/timeseries-table.contract.ts";
import { timeseriesHistories } from "../contract/timeseries-table-model.ts";
import { withTimeseriesDump } from "../support/dumped-readers.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { addressOf, createElasticsearchPlace } from "./elasticsearch-place.ts";

export const openDumpedReader = async (place: ServerAddress) =>
  withTimeseriesDump(await openElasticsearchTimeseriesReader(place), () =>
    openElasticsearchTimeseriesRows(place),
  );

/** The contracts of the view, on one kind of store. */
export async function timeseriesOn(name: "elasticsearch" | "opensearch"): Promise<void> {
  const store = await reachStore(name);
  const title = storeTitle(name, store);
  // The test needs a server.
  describe.skipIf("skipped" in store)(`on ${title}`, () => {
    const url = "skipped" in store ? "" : addressOf(name, store.url);
    const createPlace = createElasticsearchPlace(url, {
      openSink: openElasticsearchTimeseriesSink,
      openReader: openDumpedReader,
      change,
    });

    timeseriesTableContract(title, {
      createPlace,
      truncatesByItself: name === "opensearch",
      slow: true,
    });

    sinkContract(`${title}, timeseries`, {
      createPlace,
      histories: (minLength, maxLength) =>
        timeseriesHistories(minLength, maxLength).map((writes) => writes.map(ofFewSeries)),
      urnOf: (write) => (write.op === "truncate" ? undefined : write.urn),
      bearsOn: (write, urn) =>
        write.op === "truncate" ? typeOf(urn) === write.entityType : write.urn === urn,
      ownerOf: ({ urn }) => urn,
      damages: damages.map((what) => [what, (urn) => JSON.stringify({ what, urn })] as const),
      slow: true,
    });
  });
}

/** Two types and two aspects, because each pair has an index, which is slow to create. */
function ofFewSeries(write: TimeseriesWrite): TimeseriesWrite {
  const aspect = write.aspect === "toString" ? "operation" : write.aspect;
  if (write.op === "truncate") {
    return {
      ...write,
      aspect: aspect ?? "",
      entityType: write.entityType.replace("tag", "dataset"),
    };
  }
  const urn = write.urn.replace("urn:li:tag:", "urn:li:dataset:");
  return { ...write, aspect, urn } as TimeseriesWrite;
}

const damages = [
  "removed",
  "removed in part",
  "changed",
  "moved",
  "added",
  "added as a new series",
] as const;

interface Damage {
  readonly what: (typeof damages)[number];
  readonly urn: string;
}

interface Source {
  readonly time: number;
}

async function change(statements: string, client: Client, name: string): Promise<void> {
  const { what, urn } = JSON.parse(statements) as Damage;
  const index = `${name}.timeseries.live.*`;
  const found = await client.search<Source>({ index, query: { term: { urn } }, size: 10_000 });
  const ghost = { urn, aspect: "ghost", key: "ghost", position: 99_999, system: "{}", value: "{}" };
  if (what === "added as a new series") {
    const added = `${name}.timeseries.g1.${partitionOf(typeOf(urn), "ghost")}`;
    const aliases = { [added.replace(".g1.", ".live.")]: {}, [added.replace(".g1.", ".g1w.")]: {} };
    await client.indices.create({ index: added, mappings: mappingsOf(), aliases });
    await client.index({
      index: added,
      id: "ghost",
      document: { ...ghost, time: 1 },
      refresh: true,
    });
    return;
  }
  const operations = found.hits.hits.flatMap(({ _index, _id, _source }): object[] => {
    if (_source === undefined) return [];
    const at = { _index, _id: _id ?? "" };
    switch (what) {
      case "removed":
        return [{ delete: at }];
      case "removed in part":
        return _source.time > 3 ? [{ delete: at }] : [];
      case "changed":
        return [{ index: at }, { ..._source, value: "{}" }];
      case "moved":
        return [{ index: at }, { ..._source, time: _source.time + 0.5 }];
      case "added":
        return [
          { index: { _index, _id: "ghost", version: 99_999, version_type: "external" as const } },
          { ...ghost, time: 0.25 },
        ];
    }
    return [];
  });
  await client.bulk({ operations, refresh: true });
}

const mappingsOf = () => ({
  dynamic: false as const,
  properties: {
    urn: { type: "keyword" as const },
    aspect: { type: "keyword" as const },
    time: { type: "double" as const },
    key: { type: "keyword" as const },
  },
});
