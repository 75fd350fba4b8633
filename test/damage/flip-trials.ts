/**
 * Trials: one bit of one file of a data directory is flipped, then the service runs on it, and its views are verified
 * and repaired. A flip must be harmless, rejected with an error, reported, or repaired. It is silent if a response is
 * wrong although no error was raised and no difference was found. A damaged last transaction of the log after a kill
 * looks like a write that the kill interrupted: it is discarded, and the service's log reports that.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { repairLogIndexes } from "../../src/app/offline/offline.ts";
import { verify } from "../../src/app/offline/offline-verify.ts";
import { openLogReader } from "../../src/app/open-log.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { START } from "../../src/core/position.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createClient } from "../support/client.ts";
import { flipBit } from "../support/flipped-bits.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import {
  ask,
  configOf,
  type FlippedCatalog,
  haveWritten,
  openCatalog,
  write,
} from "./flipped-catalog.ts";

export interface Flip {
  readonly copy: "closed" | "killed";
  readonly file: string;
  readonly byte: number;
  readonly bit: number;
}

export interface Trial {
  readonly flip: Flip;
  readonly outcome: "harmless" | "rejected" | "reported" | "repaired" | "silent";
  /** Details for the report. */
  readonly detail: string;
}

/** Numbers from 0 to below 1: a sequence for each seed (mulberry32). */
function createChance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Every second flip hits the log, the others any file, whatever their sizes. With a prefix, all hit files
 * whose names begin with it.
 */
function chooseFlip(catalog: FlippedCatalog, chance: () => number, prefix: string): Flip {
  const below = (n: number) => Math.floor(chance() * n);
  const copy = below(2) === 0 ? "closed" : "killed";
  const sizes = readdirSync(catalog[copy])
    .sort()
    .map((file) => ({ file, bytes: statSync(join(catalog[copy], file)).size }))
    .filter(({ file, bytes }) => bytes > 0 && file.startsWith(prefix));
  const logs = sizes.filter(({ file }) => isOfLog(file));
  const some = below(2) === 0 && logs.length > 0 ? logs : sizes;
  const { file, bytes } = some[below(some.length)] ?? { file: "log.sqlite", bytes: 1 };
  return { copy, file, byte: below(bytes), bit: below(8) };
}

const isOfLog = (file: string): boolean => file.startsWith("log.sqlite");
const isOfView = (file: string): boolean =>
  /^(aspects|timeseries|graph|search|verify)\./.test(file);

/**
 * Runs trials `from` to `to` (counted from 1) of a seed, some at a time. Ends early when `isOver` says so. Calls `onTrial`
 * with each, in the order in which they end.
 */
export async function runTrials(
  catalog: FlippedCatalog,
  {
    seed,
    from = 1,
    to,
    jobs,
    prefix = "",
    isOver = () => false,
  }: {
    readonly seed: number;
    readonly from?: number;
    readonly to: number;
    readonly jobs: number;
    /** Only files whose names begin with it are hit. */
    readonly prefix?: string;
    readonly isOver?: (done: number) => boolean;
  },
  onTrial: (n: number, trial: Trial) => void,
): Promise<void> {
  const chance = createChance(seed);
  const flips = Array.from({ length: to }, () => chooseFlip(catalog, chance, prefix));
  const trials = flips.entries().drop(from - 1);
  let done = 0;
  async function work(): Promise<void> {
    for (const [n, flip] of trials) {
      onTrial(n + 1, await tryFlip(catalog, flip));
      done++;
      if (isOver(done)) return;
    }
  }
  await Promise.all(Array.from({ length: jobs }, work));
}

/** One line: the flip, its result and details. */
export const trialText = (n: number, { flip, outcome, detail }: Trial): string =>
  `${n} ${outcome} ${flip.copy} ${flip.file} byte ${flip.byte} bit ${flip.bit} ${detail.slice(0, 400)}`.trimEnd();

async function tryFlip(catalog: FlippedCatalog, flip: Flip): Promise<Trial> {
  using directory = temporaryDirectory("annals-flip");
  const { path } = directory;
  cpSync(catalog[flip.copy], path, { recursive: true });
  const records = await digestOf(path);
  if (records instanceof CatalogError) throw records;
  flipBit(join(path, flip.file), flip.byte, flip.bit);
  const end = (outcome: Trial["outcome"], detail: string): Trial => ({ flip, outcome, detail });

  const first = await serve(catalog, path, []);
  const { left, found, repaired, error } = await repair(path);
  const lost = first.reported === undefined ? "silent" : "reported";
  if (first.wrong.length > 0 && !isOfView(flip.file)) {
    return end(lost, `wrong: ${first.wrong.join("; ")}`);
  }
  if (error !== undefined) return end("rejected", error);
  if (left > 0) return end("silent", `${left} differences are left`);
  const now = await digestOf(path);
  if (now instanceof CatalogError) return end("rejected", now.text);
  if (!records.every((line, n) => now[n] === line)) {
    return end(lost, "records of the log are not what they were");
  }
  const noticed = found > 0 || repaired || first.rejected !== undefined;
  if (!noticed && first.wrong.length > 0) {
    return end("silent", `no difference was found, wrong: ${first.wrong.join("; ")}`);
  }
  if (!noticed) return end("harmless", "");
  const second = await serve(catalog, path, first.accepted);
  if (second.wrong.length > 0) {
    return end("silent", `wrong after the repair: ${second.wrong.join("; ")}`);
  }
  if (second.rejected !== undefined) return end("rejected", second.rejected);
  return end("repaired", [first.rejected, ...first.wrong, `${found} differences`].join("; "));
}

interface Served {
  /** Error of the start or of the first rejected request. */
  readonly rejected: string | undefined;
  readonly wrong: readonly string[];
  /** Urns of accepted writes. */
  readonly accepted: readonly string[];
  /** The warning about an incomplete last transaction. */
  readonly reported: string | undefined;
}

/** One run of the service: all questions, the earlier writes, and new ones. */
async function serve(
  catalog: FlippedCatalog,
  directory: string,
  before: readonly string[],
): Promise<Served> {
  let service: Awaited<ReturnType<typeof openCatalog>>;
  let reported: string | undefined;
  try {
    service = await openCatalog(directory, (message) => {
      if (message.includes("incomplete and discarded")) reported = message;
    });
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    return { rejected: error.text, wrong: [], accepted: [], reported };
  }
  try {
    const client = createClient(service.address());
    const answers = await ask(client, catalog.token);
    let rejected: string | undefined;
    const wrong: string[] = [];
    for (const [question, answer] of answers) {
      const right = catalog.answers.get(question);
      if (right === undefined || answer === right) continue;
      if (isRejection(answer)) rejected ??= `${question}: ${answer}`;
      else wrong.push(`${question}: ${answer.slice(0, 300)}`);
    }
    const kept = await haveWritten(client, before);
    wrong.push(...before.filter((urn) => !kept.includes(urn)).map((urn) => `${urn} is lost`));
    const accepted = await write(client);
    const there = await haveWritten(client, accepted);
    wrong.push(
      ...accepted.filter((urn) => !there.includes(urn)).map((urn) => `${urn} is not read`),
    );
    if (accepted.length < 2) rejected ??= "a write";
    return { rejected, wrong, accepted, reported };
  } finally {
    await service.close();
  }
}

/** True for errors of the service, and for a token that it no longer accepts. */
const isRejection = (answer: string): boolean => /^(5\d\d|401) /.test(answer);

interface Repaired {
  readonly found: number;
  readonly left: number;
  /** True if the indexes of the log, or views that could not be read, were rebuilt. */
  readonly repaired: boolean;
  /** The error that prevents a repair. */
  readonly error: string | undefined;
}

/** Acts like an operator: verifies, rebuilds indexes if the message says so, and repairs. */
async function repair(directory: string): Promise<Repaired> {
  let repaired = false;
  const look = async () => {
    const {
      before: found,
      after,
      rebuilt,
    } = await verify(configOf(directory), {
      views: [],
      repair: true,
      logger: createLogger("silent"),
      onProgress: () => {},
    });
    const sum = (views: typeof found) => views.reduce((count, view) => count + view.count, 0);
    repaired ||= rebuilt.length > 0;
    return { found: sum(found), left: sum(after), repaired, error: undefined };
  };
  try {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof CatalogError) || !error.text.includes("--repair-indexes")) throw error;
      await repairLogIndexes(configOf(directory));
      repaired = true;
      return await look();
    }
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    return { found: 0, left: 0, repaired, error: error.text };
  }
}

/** One line for each record, in the order of the log; the error that a read ended with. */
async function digestOf(directory: string): Promise<readonly string[] | CatalogError> {
  if (!existsSync(join(directory, "log.sqlite"))) return [];
  const log = await openLogReader(configOf(directory));
  try {
    const lines: string[] = [];
    for (let at = START; ; ) {
      const page = await log.readAll(at, { limit: 1_000 });
      const last = page.at(-1);
      if (last === undefined) return lines;
      for (const { position, stream, revision, data } of page) {
        const hash = createHash("sha1").update(data).digest("base64");
        lines.push(`${position} ${stream} ${revision} ${hash}`);
      }
      at = last.position;
    }
  } catch (error) {
    if (error instanceof CatalogError) return error;
    throw error;
  } finally {
    await log.close();
  }
}
