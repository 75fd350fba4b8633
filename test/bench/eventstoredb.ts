/**
 * The change log on EventStoreDB against its client alone: appends to new streams of five records
 * and to growing streams, hundreds in flight. It runs on the server of TEST_EVENTSTOREDB, or on the
 * protocol double in another process: then the figures show the cost of the adapter, without the
 * disk of a real server. The last part ingests proposals of new entities through the whole service
 * over HTTP.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ANY, binaryEvent, EventStoreDBClient, NO_STREAM } from "@eventstore/db-client";
import { EMPTY_STREAM, position, START } from "../../src/core/position.ts";
import { openEventStoreChangeLog } from "../../src/log/eventstoredb/eventstore-change-log.ts";
import { startService } from "../support/service-process.ts";
import { reachStore } from "../support/stores.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { type Load, load, median } from "./load.ts";
import { rate, report } from "./report.ts";
import { single } from "./sample.ts";

const rounds = 5;
const appendsPerRound = 2_000;
const inFlight = 256;
const recordsPerAppend = 5;
const eventsRead = 20_000;
/** The size of a record of a small aspect. */
const record = new Uint8Array(400).fill(7);
const target = 0.7;

export async function benchEventStore(): Promise<void> {
  const store = await reachStore("eventstoredb");
  const server = "skipped" in store ? await startBeside() : undefined;
  const connection = server?.address ?? ("url" in store ? store.url : "");
  const prefix = `bench-${randomUUID()}-`;
  const log = await openEventStoreChangeLog({ connection, prefix });
  const client = EventStoreDBClient.connectionString(connection);
  let number = 0;
  const records = Array.from({ length: recordsPerAppend }, () => record);
  const events = () => records.map((data) => binaryEvent({ type: "Raw", data }));
  const raw = `raw-${randomUUID()}-`;

  const kinds = {
    "new entities (5 records)": {
      ours: () => log.append([{ stream: `entity-${number++}`, expected: EMPTY_STREAM, records }]),
      theirs: () =>
        client.appendToStream(`${raw}${number++}`, events(), { expectedRevision: NO_STREAM }),
    },
    "single records of streams that are there": {
      ours: () =>
        log.append([
          { stream: `timeseries-${number++ % 500}`, expected: "any", records: [record] },
        ]),
      theirs: () =>
        client.appendToStream(
          `${raw}${number++ % 500}`,
          binaryEvent({ type: "Raw", data: record }),
          { expectedRevision: ANY },
        ),
    },
  } as const;
  /** Appends per second of the raw client, by kind. */
  const raws: number[] = [];
  for (const [name, { ours, theirs }] of Object.entries(kinds)) {
    await inTurn(ours);
    await inTurn(theirs);
    const rates = { ours: [] as number[], theirs: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      rates.theirs.push(await inTurn(theirs));
      rates.ours.push(await inTurn(ours));
    }
    const [mine, base] = [median(rates.ours), median(rates.theirs)];
    raws.push(base);
    report(`raw batch append, ${name}`, rate(base));
    report(`append to the log, ${name}`, rate(mine), {
      ratio: mine / base,
      target,
      of: "the raw client",
    });
  }

  const read = { ours: [] as number[], theirs: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    read.theirs.push(await timed(readRaw(client)));
    read.ours.push(
      await timed(async () => {
        let [at, count] = [START, 0];
        for (;;) {
          const page = await log.readAll(at, { limit: 2_000 });
          count += page.length;
          if (page.length === 0 || count >= eventsRead) return count;
          at = position(page.at(-1)?.position ?? 0);
        }
      }),
    );
  }
  const [mine, base] = [median(read.ours), median(read.theirs)];
  report("raw read of $all", rate(base));
  report("reading the log", rate(mine), { ratio: mine / base, target, of: "the raw client" });

  await benchService(connection, raws[0] ?? Number.NaN);
  await log.close();
  await client.dispose();
  server?.stop();
}

/**
 * Ingests proposals of new entities over HTTP, each an append of five records; `raw` is the rate of
 * the client.
 */
async function benchService(connection: string, raw: number): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  await using service = await startService(directory.path, {
    asInstalled: true,
    args: ["--log", connection],
  });
  const common = { method: "POST", url: service.address, connections: 64 } as const;
  // Urns that no earlier run has written.
  let next = Date.now();
  const requests = (count: number): Load["requests"] =>
    Array.from({ length: count }, () => ({
      path: "/aspects?action=ingestProposal",
      body: single(next++, 0),
    }));
  await load({ ...common, requests: requests(5_000), seconds: 3 });
  const measured = await load({ ...common, requests: requests(60_000), seconds: 8 });
  report("proposals of new entities over HTTP", rate(measured.perSecond), {
    ratio: measured.perSecond / raw,
    target: 0.6,
    of: "the raw client",
  });
  await service.stop();
}

/** Appends per second, with the given number in flight. */
async function inTurn(append: () => Promise<unknown>): Promise<number> {
  let left = appendsPerRound;
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await append();
    }),
  );
  return (appendsPerRound * 1_000) / (performance.now() - begin);
}

const readRaw = (client: EventStoreDBClient) => async (): Promise<number> => {
  let count = 0;
  for await (const { event } of client.readAll({ maxCount: eventsRead })) if (event) count++;
  return count;
};

async function timed(work: () => Promise<number>): Promise<number> {
  const begin = performance.now();
  return ((await work()) * 1_000) / (performance.now() - begin);
}

async function startBeside(): Promise<{ readonly address: string; stop(): void }> {
  const main = fileURLToPath(new URL("../support/eventstoredb-server/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main], { stdio: ["ignore", "pipe", "inherit"] });
  const [address] = (await once(createInterface(child.stdout), "line")) as [string];
  return { address, stop: () => void child.kill() };
}
