/**
 * Which runs the log has told of, where each begins and ends in it, and what of it was undone: by a
 * rollback, or with all that was told with a model registry.
 *
 * Read from the log when it is first asked for, and from there on what has come since; in memory, some
 * hundred bytes a run. Between pages others have their turn.
 */
import { setImmediate as turn } from "node:timers/promises";
import { type Change, NO_RUN_ID, type PlacedChange, restoresEdges } from "../core/change.ts";
import { type Position, START } from "../core/position.ts";
import {
  markOf,
  type Registry,
  ROLLBACK_HEADER,
  registryMark,
  UNDOES_HEADER,
  type UndoneRun,
} from "../core/undo.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import { readable } from "../log/readable.ts";
import { createDeletedRows } from "./deleted-rows.ts";

/**
 * In place of an aspect: a run was rolled back, or all that was told with a model registry, where one
 * is named. What was told before is undone.
 */
const ROLLBACK = "$rollbacks";

export interface Run {
  readonly runId: string;
  /** Place of the record before its first, and of its last. */
  readonly after: Position;
  readonly last: Position;
  /** Its records of no entity that was deleted since: without those that are undone, and all of them. */
  readonly rows: number;
  readonly allRows: number;
  /** Of its last record, in epoch milliseconds. */
  readonly timestamp: number;
}

export interface RunLedger {
  /** With everything that the log has now. */
  read(): Promise<Runs>;
}

interface Runs {
  readonly position: Position;
  all(): Iterable<Run>;
  find(runId: string): Run | undefined;
  /** Whether what a run told at a position, with a model registry or none, was undone since. */
  isUndone: UndoneRun["isUndone"];
}

interface Dependencies {
  readonly log: Pick<ChangeLog, "readAll">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
}

interface LedgerDependencies extends Dependencies {
  readonly log: Pick<ChangeLog, "readAll" | "readStream">;
  readonly keyAspectOf: (entityType: string) => string | undefined;
}

/** Records that are read at once: what others wait for meanwhile is some milliseconds. */
const PAGE_MAX = 500;
/** Of deletions it is fewer: each has streams of its own to be read. */
const DEATHS_MAX = 20;

export function createRunLedger({ log, decode, keyAspectOf }: LedgerDependencies): RunLedger {
  const read = (record: LogRecord) => readable(decode, record);
  const deletedRows = createDeletedRows({ log, decode: read, keyAspectOf });
  const runs = new Map<string, { -readonly [Key in keyof Run]: Run[Key] }>();
  /** Of each registry's mark: how many rows of which runs are told with it. */
  const registries = new Map<string, Map<string, number>>();
  /** Timeseries aspects that were told of entities of each type. */
  const series = new Map<string, Set<string>>();
  /** Where runs, and marks of registries, were last undone. */
  const undone = { runs: new Map<string, Position>(), registries: new Map<string, Position>() };
  let at = START;
  let reading: Promise<void> | undefined;

  function undoRun(runId: string, position: Position): void {
    undone.runs.set(runId, position);
    const run = runs.get(runId);
    if (run !== undefined) run.rows = 0;
    for (const rows of registries.values()) rows.delete(runId);
  }

  function undoRegistry(mark: string, position: Position): void {
    undone.registries.set(mark, position);
    for (const [runId, rows] of registries.get(mark) ?? []) {
      const run = runs.get(runId);
      if (run !== undefined) run.rows -= rows;
    }
    registries.delete(mark);
  }

  function add(change: PlacedChange): void {
    const { position, created } = change;
    const { runId } = change.system;
    const registry = markOf(change.system);
    if (change.aspect === ROLLBACK) {
      if (registry === undefined) undoRun(runId, position);
      else undoRegistry(registry, position);
      return;
    }
    if (belongsToNoRun(change)) return;
    if (change.timeseries) {
      const aspects = series.get(change.entityType) ?? new Set();
      series.set(change.entityType, aspects.add(change.aspect));
    }
    if (registry !== undefined) {
      const rows = registries.get(registry) ?? new Map<string, number>();
      registries.set(registry, rows.set(runId, (rows.get(runId) ?? 0) + 1));
    }
    const run = runs.get(runId);
    if (run === undefined) {
      runs.set(runId, {
        runId,
        after: at,
        last: position,
        rows: 1,
        allRows: 1,
        timestamp: created.time,
      });
      return;
    }
    run.last = position;
    run.rows++;
    run.allRows++;
    if (created.time > run.timestamp) run.timestamp = created.time;
  }

  const isUndone: Runs["isUndone"] = (runId, position, registry) =>
    position <= (undone.runs.get(runId) ?? START) ||
    position <= (undone.registries.get(registry ?? "") ?? START);

  /** The rows of an entity go with it; those that were undone are no rows by then, but some of all. */
  async function bury(death: PlacedChange): Promise<void> {
    for await (const row of deletedRows.rowsOf(death, series.get(death.entityType) ?? [])) {
      const { runId } = row.system;
      const registry = markOf(row.system);
      const run = runs.get(runId);
      if (run === undefined || belongsToNoRun(row)) continue;
      run.allRows--;
      if (isUndone(runId, row.position, registry)) continue;
      run.rows--;
      const ofRegistry = registry === undefined ? undefined : registries.get(registry);
      ofRegistry?.set(runId, (ofRegistry.get(runId) ?? 0) - 1);
    }
  }

  async function catchUp(): Promise<void> {
    let deaths = 0;
    for (;;) {
      const page = await log.readAll(at, { limit: PAGE_MAX });
      if (page.length === 0) return;
      for (const record of page) {
        const change = read(record);
        if (change !== undefined) add(change);
        if (change !== undefined && deletedRows.isHardDelete(change)) {
          await bury(change);
          if (++deaths % DEATHS_MAX === 0) await turn();
        }
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
      return {
        position: at,
        all: () => runs.values(),
        find: (runId) => runs.get(runId),
        isUndone,
      };
    },
  };
}

/** Records of a rollback, and restored edges, belong to no run, whatever run id they carry. */
const belongsToNoRun = (change: Change): boolean =>
  change.headers?.[UNDOES_HEADER] !== undefined ||
  change.headers?.[ROLLBACK_HEADER] !== undefined ||
  restoresEdges(change);

/** The record that says so: of a run, or of all that was told with a registry. */
export function rollbackNote(
  undone: string | Registry,
  namespace: string,
  created: Change["created"],
): Change & { readonly urn: string } {
  const isRun = typeof undone === "string";
  return {
    urn: executionOf(isRun ? undone : registryMark(undone), namespace),
    entityType: "dataHubExecutionRequest",
    aspect: ROLLBACK,
    changeType: "DELETE",
    created,
    system: {
      lastObserved: created.time,
      runId: isRun ? undone : NO_RUN_ID,
      ...(!isRun && { registryName: undone.name, registryVersion: undone.version }),
    },
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
    after,
    last,
    isOwn: ({ system }) => system.runId === runId,
  });

/** Records that were told with a model registry, from one place to another. */
export function recordsOfRegistry(
  dependencies: Dependencies,
  registry: Registry,
  part: Pick<Run, "after" | "last">,
): AsyncIterable<PlacedChange> {
  const mark = registryMark(registry);
  const isOwn = ({ system }: PlacedChange) => markOf(system) === mark;
  return recordsWith(dependencies, registry.name, { ...part, isOwn });
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
      if (change.aspect === ROLLBACK || belongsToNoRun(change)) continue;
      yield change;
    }
    await turn();
  }
}

const includes = (data: Uint8Array, part: Buffer): boolean =>
  part.length === 0 || Buffer.from(data.buffer, data.byteOffset, data.byteLength).includes(part);
