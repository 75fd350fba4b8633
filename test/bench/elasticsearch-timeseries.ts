/**
 * Timeseries on Elasticsearch against the raw client on the same server: for the projection, bulk
 * requests with the same documents and the same refreshes; for reads, the same search.
 */
import type { Client } from "@elastic/elasticsearch";
import { position } from "../../src/core/position.ts";
import {
  documentOf,
  type Event,
  idOf,
  timeseriesShape,
} from "../../src/views/timeseries/elasticsearch/documents.ts";
import { openElasticsearchTimeseriesReader } from "../../src/views/timeseries/elasticsearch/elasticsearch-timeseries-reader.ts";
import { openElasticsearchTimeseriesSink } from "../../src/views/timeseries/elasticsearch/elasticsearch-timeseries-sink.ts";
import { createElasticsearchPlace } from "../adapter/elasticsearch-place.ts";
import { called, compareByTurns } from "./by-turns.ts";
import { type Engine, onServer } from "./on-server.ts";

const BATCH = 2_000;
const BATCHES_PER_ROUND = 5;
const ROUNDS = 7;
const READS_PER_ROUND = 400;
const CALLERS = 8;
const EVENTS_PER_READ = 50;
/** Entities that get events in turn. */
const SERIES = 500;
const TARGET = 0.7;

const aspect = "datasetProfile";
const urnOf = (n: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,db.table${n},PROD)`;

export const benchTimeseriesOn = (name: Engine): Promise<void> => onServer(name, benchOn);

async function benchOn(title: string, url: string): Promise<void> {
  const place = await createElasticsearchPlace(url, {
    openSink: openElasticsearchTimeseriesSink,
    openReader: openElasticsearchTimeseriesReader,
    change: async () => {},
  })();
  const index = `${place.place.name}.raw`;
  const grown = `${place.place.name}.raw_grown`;
  const { client } = place;
  try {
    for (const one of [index, grown]) {
      await client.indices.create({
        ...{ index: one, mappings: timeseriesShape.index.mappings },
        settings: { refresh_interval: "-1", ...timeseriesShape.index.settings },
      });
    }
    const sink = await place.openSink();
    await benchProjection(`${title}: following`, sink, async (batch) => {
      await bulkRaw(client, index, batch);
      // Refreshes like the sink, so that acknowledged events can be found.
      await client.indices.refresh({ index });
    });
    await sink.close();
    const growing = await openElasticsearchTimeseriesSink({ ...place.place, bulk: true });
    await benchProjection(`${title}: regrowing`, growing, (batch) => bulkRaw(client, grown, batch));
    await growing.close();
    const reader = await place.openReader();
    await benchReads(title, reader, client, index);
    await reader.close();
  } finally {
    await place.remove();
  }
}

async function benchProjection(
  title: string,
  sink: Awaited<ReturnType<typeof openElasticsearchTimeseriesSink>>,
  raw: (batch: readonly Event[]) => Promise<void>,
) {
  let number = 0;
  await compareByTurns({
    ...{ raw: `${title}, raw bulk`, ours: `${title} timeseries`, of: "raw bulk" },
    ...{ target: TARGET, rounds: ROUNDS, size: BATCH * BATCHES_PER_ROUND },
    sides() {
      const batches = Array.from({ length: BATCHES_PER_ROUND }, () => batchOf(number++));
      return {
        async ours() {
          for (const batch of batches) {
            await sink.apply(batch, batch.at(-1)?.position ?? position(0));
          }
        },
        async raw() {
          for (const batch of batches) await raw(batch);
        },
      };
    },
  });
}

async function bulkRaw(client: Client, index: string, batch: readonly Event[]): Promise<void> {
  const operations = batch.flatMap((event) => [
    {
      index: {
        _index: index,
        _id: idOf(event),
        version: event.position,
        version_type: "external_gte" as const,
      },
    },
    documentOf(event),
  ]);
  const { errors } = await client.bulk<unknown, unknown>({ operations });
  if (errors) throw new Error("the raw client's bulk had errors");
}

async function benchReads(
  title: string,
  reader: Awaited<ReturnType<typeof openElasticsearchTimeseriesReader>>,
  client: Client,
  index: string,
) {
  const some = (n: number) => urnOf((n * 7_919) % SERIES);
  const calls = { calls: READS_PER_ROUND, callers: CALLERS };
  const check = ({ length }: { readonly length: number }) => {
    if (length !== EVENTS_PER_READ) throw new Error("events are missing");
  };
  const ours = () =>
    called(calls, async (n) => {
      check(await reader.list({ urn: some(n), aspect }, { limit: EVENTS_PER_READ }));
    });
  const raw = () =>
    called(calls, async (n) => {
      const found = await client.search({
        ...{ index, size: EVENTS_PER_READ, track_total_hits: false },
        query: { bool: { filter: [{ term: { urn: some(n) } }] } },
        sort: [{ time: "desc" }, { key: "desc" }],
      });
      check(found.hits.hits);
    });
  await compareByTurns({
    ...{ raw: `${title}: search of a series, raw`, of: "the raw search" },
    ours: `${title}: list of ${EVENTS_PER_READ} events`,
    ...{ target: TARGET, rounds: ROUNDS, size: READS_PER_ROUND },
    sides: () => ({ ours, raw }),
  });
}

function batchOf(number: number): readonly Event[] {
  return Array.from({ length: BATCH }, (_, n): Event => {
    const at = number * BATCH + n + 1;
    const time = 1_700_000_000_000 + at * 1_000;
    const value = JSON.stringify({
      ...{ timestampMillis: time, rowCount: at * 17, columnCount: 12, sizeInBytes: at * 4_096 },
      fieldProfiles: Array.from({ length: 4 }, (_, field) => ({
        ...{ fieldPath: `column_${field}`, uniqueCount: at % 977, nullCount: at % 13, min: "0" },
        sampleValues: [`value ${at}`, `value ${at + field}`],
      })),
    });
    const system = JSON.stringify({ lastObserved: time, runId: `run-${number}` });
    const event = { op: "event" as const, urn: urnOf(at % SERIES), aspect, entityType: "dataset" };
    return { ...event, position: position(at), time, key: "[null,null,null]", value, system };
  });
}
