/**
 * Index of ingestion runs and model registries: their first and last records in the log, and what
 * was rolled back.
 *
 * Built from the log at the first request and extended by later ones; in memory, some hundred bytes
 * per run. Reading yields between pages.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type Change, NO_RUN_ID, type PlacedChange, restoresEdges } from "../../core/change.ts";
import { isPlatformEvent } from "../../core/platform-event.ts";
import { type Position, START } from "../../core/position.ts";
import {
  DERIVED_HEADER,
  markOf,
  type Registry,
  ROLLBACK_HEADER,
  ROLLS_BACK_HEADER,
  type RolledBackRun,
  registryMark,
} from "../../core/rollback.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { readable } from "../../log/codecs/try-decode.ts";
import { createDeletedRows } from "../write/entity-lifetimes.ts";

/**
 * Aspect name of a rollback record: of a run, or of a model registry if the record names one.
 * Earlier records are rolled back.
 */
const ROLLBACK = "$rollbacks";

/** The part of the log with all records of a run or registry. */
interface Span {
  /** Positions of the record before its first, and of its last. */
  readonly after: Position;
  readonly last: Position;
}

export interface Run extends Span {
  readonly runId: string;
  /**
   * Its records of entities that were not deleted since: `rows` without rolled back records,
   * `allRows` with them.
   */
  readonly rows: number;
  readonly allRows: number;
  /** Time of its last record, in epoch milliseconds. */
  readonly timestamp: number;
}

export interface RunLedger {
  /** The index up to the current head of the log. */
  read(): Promise<Runs>;
}

interface Runs {
  readonly position: Position;
  all(): Iterable<Run>;
  find(runId: string): Run | undefined;
  /** Undefined if no record was written with the registry. */
  findRegistry(registry: Registry): Span | undefined;
  /**
   * True if the run's record at the position, written with the registry if any, was rolled back
   * later.
   */
  isRolledBack: RolledBackRun["isRolledBack"];
}

interface Dependencies {
  readonly log: Pick<ChangeLog, "readAll">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
}

interface LedgerDependencies extends Dependencies {
  readonly log: Pick<ChangeLog, "readAll" | "readStream" | "head">;
  readonly keyAspectOf: (entityType: string) => string | undefined;
}

/** Records per read. Other requests wait some milliseconds for it. */
const PAGE_MAX = 500;
/** Fewer for deletions, each of which reads further streams. */
const DELETIONS_MAX = 20;

export function createRunLedger({ log, decode, keyAspectOf }: LedgerDependencies): RunLedger {
  const read = (record: LogRecord) => readable(decode, record);
  const deletedRows = createDeletedRows({ log, decode: read, keyAspectOf });
  const runs = new Map<string, { -readonly [Key in keyof Run]: Run[Key] }>();
  /** By registry mark: its records, and the number of rows of each run. */
  const registries = new Map<
    string,
    { readonly after: Position; last: Position; readonly rows: Map<string, number> }
  >();
  /** Timeseries aspects with events, by entity type. */
  const series = new Map<string, Set<string>>();
  /** Positions of the last rollback of each run and registry mark. */
  const rolledBack = { runs: new Map<string, Position>(), registries: new Map<string, Position>() };
  let at = START;
  let reading: Promise<void> | undefined;

  function rollBackRun(runId: string, position: Position): void {
    rolledBack.runs.set(runId, position);
    const run = runs.get(runId);
    if (run !== undefined) run.rows = 0;
    for (const { rows } of registries.values()) rows.delete(runId);
  }

  function rollBackRegistry(mark: string, position: Position): void {
    rolledBack.registries.set(mark, position);
    const rowsOfRuns = registries.get(mark)?.rows;
    for (const [runId, rows] of rowsOfRuns ?? []) {
      const run = runs.get(runId);
      if (run !== undefined) run.rows -= rows;
    }
    rowsOfRuns?.clear();
  }

  function add(change: PlacedChange): void {
    const { position, created } = change;
    const { runId } = change.system;
    const registry = markOf(change.system);
    if (change.aspect === ROLLBACK) {
      if (registry === undefined) rollBackRun(runId, position);
      else rollBackRegistry(registry, position);
      return;
    }
    if (belongsToNoRun(change)) return;
    if (change.timeseries) {
      const aspects = series.get(change.entityType) ?? new Set();
      series.set(change.entityType, aspects.add(change.aspect));
    }
    if (registry !== undefined) {
      const found = registries.get(registry) ?? { after: at, last: position, rows: new Map() };
      found.last = position;
      found.rows.set(runId, (found.rows.get(runId) ?? 0) + 1);
      registries.set(registry, found);
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

  const isRolledBack: Runs["isRolledBack"] = (runId, position, registry) =>
    position <= (rolledBack.runs.get(runId) ?? START) ||
    position <= (rolledBack.registries.get(registry ?? "") ?? START);

  /** A hard delete removes the entity's rows; rolled back rows only count in allRows. */
  async function removeRowsOf(deletion: PlacedChange): Promise<void> {
    for await (const row of deletedRows.rowsOf(deletion, series.get(deletion.entityType) ?? [])) {
      const { runId } = row.system;
      const registry = markOf(row.system);
      const run = runs.get(runId);
      if (run === undefined || belongsToNoRun(row)) continue;
      run.allRows--;
      if (isRolledBack(runId, row.position, registry)) continue;
      run.rows--;
      const ofRegistry = registry === undefined ? undefined : registries.get(registry)?.rows;
      ofRegistry?.set(runId, (ofRegistry.get(runId) ?? 0) - 1);
    }
  }

  async function catchUp(): Promise<void> {
    let deletions = 0;
    // Up to the head at present: while others write, a next page may never be empty.
    for (const head = await log.head(); at < head; ) {
      const page = await log.readAll(at, { limit: PAGE_MAX });
      if (page.length === 0) return;
      for (const record of page) {
        const change = read(record);
        if (change !== undefined) add(change);
        if (change !== undefined && deletedRows.isHardDelete(change)) {
          await removeRowsOf(change);
          if (++deletions % DELETIONS_MAX === 0) await yieldToEventLoop();
        }
        at = record.position;
      }
      await yieldToEventLoop();
    }
  }

  return {
    async read() {
      // A read in progress may have passed the caller's latest write: start another.
      if (reading !== undefined) await reading;
      reading ??= catchUp().finally(() => {
        reading = undefined;
      });
      await reading;
      return {
        position: at,
        all: () => runs.values(),
        find: (runId) => runs.get(runId),
        findRegistry: (registry) => registries.get(registryMark(registry)),
        isRolledBack,
      };
    },
  };
}

/**
 * Records of a rollback, derived ones and restored edges belong to no run, whatever run id they
 * carry.
 */
const belongsToNoRun = (change: Change): boolean =>
  change.headers?.[ROLLS_BACK_HEADER] !== undefined ||
  change.headers?.[ROLLBACK_HEADER] !== undefined ||
  change.headers?.[DERIVED_HEADER] !== undefined ||
  isPlatformEvent(change) ||
  restoresEdges(change);

/** The record of a rollback: of a run, or of a registry. */
export function rollbackNote(
  rolledBack: string | Registry,
  namespace: string,
  created: Change["created"],
): Change & { readonly urn: string } {
  const isRun = typeof rolledBack === "string";
  return {
    urn: executionOf(isRun ? rolledBack : registryMark(rolledBack), namespace),
    entityType: "dataHubExecutionRequest",
    aspect: ROLLBACK,
    changeType: "DELETE",
    created,
    system: {
      lastObserved: created.time,
      runId: isRun ? rolledBack : NO_RUN_ID,
      ...(!isRun && { registryName: rolledBack.name, registryVersion: rolledBack.version }),
    },
  };
}

/** The execution request entity of a run. */
export const executionOf = (runId: string, namespace: string): string =>
  `urn:${namespace}:dataHubExecutionRequest:${runId}`;

/** Records of a run between two positions, in order. */
export const recordsOfRun = (
  dependencies: Dependencies,
  { runId, after, last }: Span & Pick<Run, "runId">,
): AsyncIterable<PlacedChange> =>
  // A record of the run contains its id: most others need not be decoded.
  recordsWith(dependencies, runId === NO_RUN_ID ? "" : runId, {
    after,
    last,
    isOwn: ({ system }) => system.runId === runId,
  });

/** Records written with a model registry, between two positions. */
export function recordsOfRegistry(
  dependencies: Dependencies,
  registry: Registry,
  part: Span,
): AsyncIterable<PlacedChange> {
  const mark = registryMark(registry);
  const isOwn = ({ system }: PlacedChange) => markOf(system) === mark;
  return recordsWith(dependencies, registry.name, { ...part, isOwn });
}

async function* recordsWith(
  { log, decode }: Dependencies,
  text: string,
  part: Span & { readonly isOwn: (change: PlacedChange) => boolean },
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
    await yieldToEventLoop();
  }
}

const includes = (data: Uint8Array, part: Buffer): boolean =>
  part.length === 0 || Buffer.from(data.buffer, data.byteOffset, data.byteLength).includes(part);
