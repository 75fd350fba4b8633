/**
 * Which runs the log has told of, where each begins and ends in it, and which were rolled back.
 *
 * Read from the log when it is first asked for, and from there on what has come since; in memory, some
 * hundred bytes a run. Between pages others have their turn.
 */
import { setImmediate as turn } from "node:timers/promises";
import { type Change, NO_RUN_ID, type PlacedChange } from "../core/change.ts";
import { type Position, START } from "../core/position.ts";
import {
  markOf,
  type Registry,
  ROLLBACK_HEADER,
  registryMark,
  UNDOES_HEADER,
} from "../core/undo.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";

/** In place of an aspect: a run was rolled back. What it told before is undone. */
const ROLLBACK = "$rollbacks";

export interface Run {
  readonly runId: string;
  /** Place of the record before its first, and of its last. */
  readonly after: Position;
  readonly last: Position;
  /** Its records since it was last rolled back, and all of them. */
  readonly rows: number;
  readonly allRows: number;
  /** Of its last record, in epoch milliseconds. */
  readonly timestamp: number;
  /** Where it was last rolled back; START: never. */
  readonly undoneAt: Position;
}

export interface RunLedger {
  /** With everything that the log has now. */
  read(): Promise<Runs>;
}

export interface Runs {
  readonly position: Position;
  all(): Iterable<Run>;
  find(runId: string): Run | undefined;
}

interface Dependencies {
  readonly log: Pick<ChangeLog, "readAll">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
}

/** Records that are read at once: what others wait for meanwhile is some milliseconds. */
const PAGE_MAX = 500;

export function createRunLedger({ log, decode }: Dependencies): RunLedger {
  const runs = new Map<string, { -readonly [Key in keyof Run]: Run[Key] }>();
  let at = START;
  let reading: Promise<void> | undefined;

  function add(change: PlacedChange): void {
    const { position, created } = change;
    const { runId } = change.system;
    if (change.aspect === ROLLBACK) {
      const run = runs.get(runId);
      if (run !== undefined) [run.rows, run.undoneAt] = [0, position];
      return;
    }
    if (isOfRollback(change)) return;
    const run = runs.get(runId);
    if (run === undefined) {
      runs.set(runId, {
        ...{ runId, after: at, last: position, rows: 1, allRows: 1 },
        ...{ timestamp: created.time, undoneAt: START },
      });
      return;
    }
    run.last = position;
    run.rows++;
    run.allRows++;
    if (created.time > run.timestamp) run.timestamp = created.time;
  }

  async function catchUp(): Promise<void> {
    for (;;) {
      const page = await log.readAll(at, { limit: PAGE_MAX });
      if (page.length === 0) return;
      for (const record of page) {
        const change = readable(decode, record);
        if (change !== undefined) add(change);
        at = record.position;
      }
      await turn();
    }
  }

  return {
    async read() {
      // A catching up that has begun may be past what this caller wrote before: one more follows.
      if (reading !== undefined) await reading;
      reading ??= catchUp().finally(() => {
        reading = undefined;
      });
      await reading;
      return { position: at, all: () => runs.values(), find: (runId) => runs.get(runId) };
    },
  };
}

/** What a rollback wrote is of no run, whatever run told of it first. */
const isOfRollback = ({ headers }: Change): boolean =>
  headers?.[UNDOES_HEADER] !== undefined || headers?.[ROLLBACK_HEADER] !== undefined;

/** What no release can read says nothing of runs; views park it and name it. */
export function readable(
  decode: Dependencies["decode"],
  record: LogRecord,
): PlacedChange | undefined {
  try {
    return decode(record);
  } catch {
    return undefined;
  }
}

/** The record that says so. */
export function rollbackNote(
  runId: string,
  namespace: string,
  created: Change["created"],
): Change & { readonly urn: string } {
  return {
    urn: executionOf(runId, namespace),
    entityType: "dataHubExecutionRequest",
    aspect: ROLLBACK,
    changeType: "DELETE",
    created,
    system: { lastObserved: created.time, runId },
  };
}

/** The entity that stands for a run, if its client tells of one. */
export const executionOf = (runId: string, namespace: string): string =>
  `urn:${namespace}:dataHubExecutionRequest:${runId}`;

/** Records of a run from one place to another, in their order. */
export const recordsOfRun = (
  dependencies: Dependencies,
  { runId, after, last }: Pick<Run, "runId" | "after" | "last">,
): AsyncIterable<PlacedChange> =>
  // A record of the run has its name in it: most others need not be decoded.
  recordsWith(dependencies, runId === NO_RUN_ID ? "" : runId, {
    ...{ after, last },
    isOwn: ({ system }) => system.runId === runId,
  });

/** Records that were told with a model registry, from the beginning to a place. */
export function recordsOfRegistry(
  dependencies: Dependencies,
  registry: Registry,
  last: Position,
): AsyncIterable<PlacedChange> {
  const mark = registryMark(registry);
  const isOwn = ({ system }: PlacedChange) => markOf(system) === mark;
  return recordsWith(dependencies, registry.name, { after: START, last, isOwn });
}

async function* recordsWith(
  { log, decode }: Dependencies,
  text: string,
  part: {
    readonly after: Position;
    readonly last: Position;
    readonly isOwn: (change: PlacedChange) => boolean;
  },
): AsyncIterable<PlacedChange> {
  const name = Buffer.from(text);
  let { after } = part;
  while (after < part.last) {
    const page = await log.readAll(after, { limit: PAGE_MAX });
    if (page.length === 0) return;
    for (const record of page) {
      after = record.position;
      if (after > part.last) return;
      if (!includes(record.data, name)) continue;
      const change = readable(decode, record);
      if (change === undefined || !part.isOwn(change)) continue;
      if (change.aspect === ROLLBACK || isOfRollback(change)) continue;
      yield change;
    }
    await turn();
  }
}

const includes = (data: Uint8Array, part: Buffer): boolean =>
  part.length === 0 || Buffer.from(data.buffer, data.byteOffset, data.byteLength).includes(part);
