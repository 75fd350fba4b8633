/**
 * `annals ingest`: sends the records of files to a catalog. Records about one urn keep their order.
 * A rejected batch is halved until only the invalid records remain; each of them is reported in a
 * line, and all others are ingested.
 */
import { randomBytes } from "node:crypto";
import { ownCommand } from "../../../lib/command-hint.ts";
import { type BatchSender, createBatchSender } from "../../client/batch-sender.ts";
import { type CatalogClient, createCatalogClient } from "../../client/catalog-client.ts";
import { findInputs, type Input, readInput } from "../../client/input-files.ts";
import { type RunIdOf, type Submission, shapes, toSubmission } from "../../client/submission.ts";
import { describeFailure, type ExitCode, exitCodes, Interrupted } from "../../failure.ts";
import { printResult } from "../../terminal/output.ts";
import type { OutputFormat } from "../../terminal/output-flags.ts";
import { type Bar, quiet, type Terminal } from "../../terminal/terminal.ts";

export interface IngestOptions {
  /** Paths; `-` is stdin. */
  readonly files: readonly string[];
  /** Without a slash at the end. */
  readonly server: string;
  /** Access token to send. */
  readonly token?: string | undefined;
  /** Replaces the run id of every record. */
  readonly runId?: string | undefined;
  /** Records in one request, at most. */
  readonly batch: number;
  /** Requests under way, at most. */
  readonly concurrency: number;
  readonly retryDelayMs?: number | undefined;
  /** Time in which an unhealthy service may recover after the last record; default: 10 seconds. */
  readonly recoveryMsMax?: number | undefined;
  /** Of the summary. Default: a text. */
  readonly output?: OutputFormat | undefined;
  /** Prints the summary and the rejected records alone. */
  readonly quiet?: boolean | undefined;
}

/** Well under the largest body that a service takes by default. */
const batchBytesMax = 16 * 2 ** 20;

interface Item extends Submission {
  readonly input: string;
  /** Number of the record in its input, from 1. */
  readonly number: number;
}

/** Counts of the records so far. */
interface Tally {
  /** In requests that have begun, whatever their outcome. */
  sent: number;
  records: number;
  aspects: number;
  failed: number;
  position: number;
}

interface Run {
  readonly tally: Tally;
  readonly signal: AbortSignal;
  readonly sender: BatchSender<Item>;
  readonly runIdOf: RunIdOf;
  readonly fail: (place: string, reason: string) => void;
}

/** Throws UsageError when a file cannot be read, CatalogError when no catalog answers. */
export async function ingest(
  options: IngestOptions,
  { terminal, signal }: { terminal: Terminal; signal: AbortSignal },
): Promise<ExitCode> {
  const inputs = await findInputs(options.files);
  const start = performance.now();
  const spoken = options.quiet ? quiet(terminal) : terminal;
  // One request that cannot be made stops all: the others would only find out the same.
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const client = createCatalogClient({
    ...options,
    signal: either,
    onWait: (reason) => spoken.note(`waiting for ${options.server} (${reason})`),
  });
  await client.check();

  const tally: Tally = { sent: 0, records: 0, aspects: 0, failed: 0, position: 0 };
  const fail = (place: string, reason: string): void => {
    tally.failed++;
    terminal.note(shortened(`${place}: ${reason}`));
  };
  const sender = createBatchSender<Item>({
    count: options.concurrency,
    batchMax: options.batch,
    batchBytesMax,
    keyOf: (item) => item.urn,
    bytesOf: (item) => Buffer.byteLength(item.body),
    mix: (a, b) => a.kind === b.kind,
    send: (batch) => {
      tally.sent += batch.length;
      return deliver(batch, client, { tally, fail }).catch((error) => {
        stop.abort(error);
        throw error;
      });
    },
  });
  const { runIdOf, used } = chooseRunId(options.runId);

  const broken = await sendAll(inputs, { tally, fail, sender, runIdOf, signal: either }, spoken);
  if (broken instanceof Interrupted) terminal.note(describeFailure(interruptionOf(tally, used())));
  else if (broken !== undefined) terminal.note(describeFailure(broken));
  const seconds = (performance.now() - start) / 1000;
  const { records, aspects, failed, position } = tally;
  const value = {
    records,
    aspects,
    failed,
    seconds,
    ...(position > 0 && { position }),
    runId: used(),
  };
  const result = { value, table: summary(tally, seconds, used()) };
  await printResult(result, { terminal, output: options.output ?? "table" });
  if (broken instanceof Interrupted) return exitCodes.interrupted;
  if (tally.failed > 0 || broken !== undefined) return exitCodes.failed;
  if (tally.records === 0) spoken.note("nothing to ingest: the input has no records");
  const reason = await client.healthError();
  if (reason === undefined) return exitCodes.done;
  terminal.note(`the records are in the log, but ${options.server} is not healthy: ${reason}`);
  return exitCodes.failed;
}

/** Names the command that reverts the records that were sent; the service may have accepted more than it answered. */
function interruptionOf({ sent }: Tally, run: string | undefined): Interrupted {
  if (sent === 0 || run === undefined) return new Interrupted();
  return new Interrupted(`Revert with: ${ownCommand(`runs rollback ${run}`)}`);
}

/** Gives back what stopped it before the end; undefined when nothing did. */
async function sendAll(inputs: readonly Input[], run: Run, terminal: Terminal): Promise<unknown> {
  const bar = startBar(inputs, terminal);
  try {
    for (const input of inputs)
      await sendInput(input, run, (bytes) => bar.advance(bytes, run.tally));
    await run.sender.drain();
    bar.advance(0, run.tally);
    return undefined;
  } catch (error) {
    return run.signal.aborted ? run.signal.reason : error;
  } finally {
    bar.stop();
  }
}

async function sendInput(input: Input, run: Run, onBytes: (bytes: number) => void): Promise<void> {
  const { signal, sender, runIdOf, fail } = run;
  const opening = createOpening((number, fault) => fail(`${input.name}: record ${number}`, fault));
  for await (const { number, text, fault } of readInput(input, { signal, onBytes })) {
    signal.throwIfAborted();
    if (fault !== undefined) {
      opening.end();
      fail(`${input.name}: after record ${number}`, fault);
      continue;
    }
    const submission = toSubmission(text, runIdOf);
    if (!("fault" in submission)) {
      opening.end();
      await sender.add({ ...submission, input: input.name, number });
    } else if (!opening.takes(number, text, submission.fault)) {
      fail(input.name, noRecords);
      return;
    }
  }
  opening.end();
}

/** So many texts at the beginning of a file, none of which looks like a record, and it is none of records. */
const openingMax = 5;

const noRecords = `it is not a file of records: none of its first ${openingMax} begins with {. ${shapes}`;

/** Keeps what is wrong with the first texts of a file until it shows whether it is one of records. */
function createOpening(report: (number: number, fault: string) => void) {
  const kept: (readonly [number, string])[] = [];
  let ended = false;
  const end = (): void => {
    ended = true;
    for (const [number, fault] of kept.splice(0)) report(number, fault);
  };
  return {
    end,
    /** False for a file that is none of records. */
    takes(number: number, text: string, fault: string): boolean {
      kept.push([number, fault]);
      if (ended || text.startsWith("{")) end();
      return kept.length < openingMax;
    },
  };
}

async function deliver(
  batch: readonly Item[],
  client: CatalogClient,
  { tally, fail }: Pick<Run, "tally" | "fail">,
): Promise<void> {
  const outcome = await client.send(batch);
  const [first] = batch;
  if (outcome.accepted) {
    tally.records += batch.length;
    for (const item of batch) tally.aspects += item.aspects;
    tally.position = Math.max(tally.position, outcome.position);
  } else if (batch.length > 1) {
    const half = batch.length >> 1;
    await deliver(batch.slice(0, half), client, { tally, fail });
    await deliver(batch.slice(half), client, { tally, fail });
  } else if (first !== undefined) {
    fail(`${first.input}: record ${first.number}: ${first.urn}`, outcome.reason);
  }
}

/** Error messages may contain long values; a line is enough to find them. */
const lineCharactersMax = 1_000;

const shortened = (line: string): string =>
  line.length <= lineCharactersMax
    ? line
    : `${line.slice(0, lineCharactersMax)}… (${line.length - lineCharactersMax} characters more)`;

/** A record without a run id gets a new one, the same for all; the summary names it if any did. */
function chooseRunId(forced: string | undefined): {
  runIdOf: RunIdOf;
  used: () => string | undefined;
} {
  const fallback = `annals-${new Date().toISOString().slice(0, 19)}Z-${randomBytes(2).toString("hex")}`;
  let needed = forced !== undefined;
  return {
    runIdOf(own) {
      if (forced === undefined && own !== undefined) return own;
      needed = true;
      return forced ?? fallback;
    },
    used: () => (needed ? (forced ?? fallback) : undefined),
  };
}

/** Progress is by bytes, since nobody knows the number of records before the end. */
function startBar(
  inputs: readonly Input[],
  terminal: Terminal,
): { readonly advance: (bytes: number, tally: Tally) => void; readonly stop: Bar["stop"] } {
  const total = inputs.reduce((sum, { bytes }) => sum + (bytes ?? Number.NaN), 0);
  if (!(total > 0)) return { advance: () => {}, stop: () => {} };
  const bar = terminal.startBar("ingesting {bar} {percentage}% | {records} sent, {failed} failed");
  let done = 0;
  return {
    advance(bytes, { records, failed }) {
      done += bytes;
      bar.update(done, total, { records, failed });
    },
    stop: bar.stop,
  };
}

function summary(
  { records, aspects, failed, position }: Tally,
  seconds: number,
  runId: string | undefined,
): string {
  const speed = Math.round(records / Math.max(seconds, 0.001));
  return (
    `ingested ${records} records (${aspects} aspects), ${failed} failed, ` +
    `in ${seconds.toFixed(2)} s (${speed} records/s), ` +
    `last log position ${position === 0 ? "none" : position}` +
    (runId === undefined ? "" : `, run id ${runId}`)
  );
}
