/**
 * Concurrent reads and writes: the cost of projecting for writers, the time until a search finds a
 * write on an idle service and during other writes, and the cost of searches for writers. Every
 * write changes a value.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { viewNames } from "../../src/app/store-locations.ts";
import { createClient } from "../support/client.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { beginMs, type Load, load, median } from "./load.ts";
import { overTurns, rate, ratio, report } from "./report.ts";
import { batch, propertiesOf, single, urnOf } from "./sample.ts";

const entities = 20_000;
const connections = 64;
const seconds = 6;
/** The number of consecutive writes with unique names that are searched for. */
const lookEveryMs = 10;
/** On an idle service: between two writes, and between two searches for one. */
const idleMs = { betweenWrites: 200, betweenSearches: 2 };
const lookingRounds = 5;
const lookingSeconds = 12;
/** Writers are faster for a moment after their start. */
const settlingMs = 1_000;
/** Turns alternate with those of the baseline, because the speed of disks and machines varies. */
const rounds = 7;
const roundSeconds = 4;

export async function benchTogether(): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  // Writes must not wait for locked views.
  const args = ["--projector-lag-max", "1000000"];
  await using service = await startService(directory.path, { args, asInstalled: true });
  const client = createClient(service.address);
  for (let first = 0; first < entities; first += 250) {
    await client.call("POST", "/aspects?action=ingestProposalBatch", batch(first, 500, 0));
  }
  let generation = 0;
  /** Each connection writes its own entities with two values in turn. */
  const written = (): Load => {
    generation += 2;
    const own = Math.floor(entities / connections);
    const requests = Array.from({ length: connections * own * 2 }, (_, n) => ({
      path: "/aspects?action=ingestProposal",
      body: single(
        Math.floor(n / (own * 2)) * own + (n % own),
        generation + (Math.floor(n / own) % 2),
      ),
    }));
    return { url: service.address, method: "POST", requests, connections, seconds };
  };
  const find = (input: string, headers: Record<string, string> = {}) =>
    client.call(
      "POST",
      "/entities?action=search",
      { input, entity: "dataset", start: 0, count: 10 },
      headers,
    );

  /** Waits until the search view has applied all writes. */
  async function settled(): Promise<void> {
    const { position } = await client.upsert(urnOf(0), "status", { removed: false });
    const headers = { "X-Annals-Min-Position": String(position) };
    while ((await find("warm", headers)).status !== 200);
  }

  /** Milliseconds from the response to a write until a search finds it. */
  async function delays(
    untilMs: number,
    { betweenWrites = 0, betweenSearches = lookEveryMs } = {},
  ): Promise<readonly number[]> {
    const found: number[] = [];
    for (let n = 0; performance.now() < untilMs; n++) {
      const name = `needle${generation}x${n}`;
      // An entity that no other writer changes.
      const urn = urnOf(entities + n);
      await client.upsert(urn, "datasetProperties", { ...propertiesOf(n, generation), name });
      const begun = performance.now();
      while ((await find(name)).body.value.numEntities === 0) {
        if (performance.now() - begun > 10_000) break;
        await pause(betweenSearches);
      }
      found.push(performance.now() - begun);
      await pause(betweenWrites);
    }
    return found.sort((a, b) => a - b);
  }

  /** One write after the other, without other requests. */
  async function lookingIdle(): Promise<void> {
    const turns: (readonly number[])[] = [];
    for (let round = 0; round < lookingRounds; round++) {
      generation += 2;
      await settled();
      turns.push(await delays(performance.now() + roundSeconds * 1_000, idleMs));
    }
    report("found by a search on an idle service", foundIn(turns, 50));
  }

  /** Writes while no view can be written: a transaction locks each of their files. */
  async function writtenWhileHeld(): Promise<number> {
    // The projector may hold the lock for a moment.
    const files = viewNames.map(
      (view) => new DatabaseSync(join(directory.path, `${view}.sqlite`), { timeout: 5_000 }),
    );
    try {
      for (const file of files) file.exec("BEGIN IMMEDIATE");
      return (await load({ ...written(), seconds: roundSeconds })).perSecond;
    } finally {
      for (const file of files) file.close();
    }
  }

  /** The rate, and the time that the views took to catch up after the writers had ended. */
  async function writtenWhileFollowed() {
    const { perSecond } = await load({ ...written(), seconds: roundSeconds });
    const ended = performance.now();
    await settled();
    return { perSecond, lateMs: performance.now() - ended };
  }

  async function following(): Promise<void> {
    const turns: { held: number; followed: number; lateMs: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const first = round % 2 === 0 ? undefined : await writtenWhileFollowed();
      const held = await writtenWhileHeld();
      await settled();
      const { perSecond, lateMs } = first ?? (await writtenWhileFollowed());
      turns.push({ held, followed: perSecond, lateMs });
    }
    const of = (take: (turn: (typeof turns)[number]) => number) => median(turns.map(take));
    report("writes while the views are held", rate(of(({ held }) => held)));
    const ratios = turns.map(({ held, followed }) => followed / held);
    const kept = overTurns(ratios, ratio, { of: " of those", target: 0.8 });
    const late = (of(({ lateMs }) => lateMs) / 1_000).toFixed(1);
    report(
      "writes while the views follow",
      `${rate(of(({ followed }) => followed))}, ${kept}, all followed ${late} s later`,
    );
  }

  /** Half of the highest rate of the same time. */
  async function looking(): Promise<void> {
    const turns: { most: number; half: number; found: readonly number[] }[] = [];
    for (let round = 0; round < lookingRounds; round++) {
      const { perSecond: most } = await load({ ...written(), seconds: roundSeconds });
      await settled();
      const ended = performance.now() + lookingSeconds * 1_000;
      const some = { ...written(), seconds: lookingSeconds, perSecondMax: Math.round(most / 2) };
      const writers = load(some);
      await pause(beginMs + settlingMs);
      const found = await delays(ended);
      const { perSecond: half } = await writers;
      await settled();
      turns.push({ most, half, found });
    }
    const of = (take: (turn: (typeof turns)[number]) => number) => median(turns.map(take));
    report("writes alone", rate(of(({ most }) => most)));
    report(
      `found by a search, ${rate(of(({ half }) => half))} written meanwhile`,
      foundIn(
        turns.map(({ found }) => found),
        200,
      ),
    );
  }

  await load({ ...written(), seconds: 4 });
  await settled();
  await lookingIdle();
  await following();
  await looking();
  const words = ["table", "events", "warehouse", "team", "schema", "snowflake", "kept"];
  const searches = Array.from({ length: 500 }, (_, n) => ({
    path: "/entities?action=search",
    body: JSON.stringify({
      ...{ input: `${words[n % words.length]} ${n * 7}`, entity: "dataset", start: 0, count: 10 },
    }),
  }));
  const turns: { alone: number; beside: number; searching: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const some = () => ({ ...written(), seconds: roundSeconds });
    const quiet = await load(some());
    await settled();
    const [beside, searching] = await Promise.all([
      load(some()),
      load({ ...some(), requests: searches }),
    ]);
    await settled();
    turns.push({
      ...{ alone: quiet.perSecond, beside: beside.perSecond, searching: searching.perSecond },
    });
  }
  const ratios = turns.map((turn) => turn.beside / turn.alone);
  const left = overTurns(ratios, ratio, { of: " of alone", target: 0.5 });
  report(
    `writes beside ${connections} who search`,
    `${rate(median(turns.map(({ beside }) => beside)))}, ${left}`,
  );
  report("their searches", rate(median(turns.map(({ searching }) => searching))));
  await service.stop();
}

/** The median, the ninth tenth and the maximum of the turns' sorted delays. */
function foundIn(turns: readonly (readonly number[])[], target: number): string {
  const nth = (part: number) =>
    overTurns(
      turns.map((found) => found[Math.floor((found.length - 1) * part)] ?? Number.NaN),
      (ms) => `${ms.toFixed(0)} ms`,
      { target },
    );
  return `${nth(0.5)}, 9 of 10 in ${nth(0.9)}, all in ${nth(1)}`;
}
