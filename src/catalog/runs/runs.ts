/** Lists ingestion runs and their records. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { PlacedChange } from "../../core/change.ts";
import { currentAspect, type EntityState } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { markOf } from "../../core/rollback.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { readable } from "../../log/codecs/try-decode.ts";
import type { Model } from "../../model/model.ts";
import type { AspectReader } from "../../views/aspects/aspect-table.ts";
import type { AccessContext } from "../access/access-filter.ts";
import { isVisibleChange } from "../access/restricted-ports.ts";
import type { Catalog, Envelope, RunRow } from "../catalog.ts";
import { isSoftDeleted } from "../read/soft-deleted.ts";
import type { EntityCache } from "../write/entity-cache.ts";
import { createDeletedRows } from "../write/entity-lifetimes.ts";
import { type Run, type RunLedger, recordsOfRun } from "./run-ledger.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readAll" | "readStream">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly model: Pick<Model, "entities">;
  readonly states: Pick<EntityCache, "read">;
  readonly aspects: Pick<AspectReader, "findValue">;
  /** Waits until the aspect view has every acknowledged write. */
  readonly caughtUp: () => Promise<void>;
}

type Runs = Pick<Catalog, "listRuns" | "describeRun">;

/** Maximum number of runs or rows in a page. */
const pageMax = 10_000;
/** Records whose entities are read per batch. */
const sliceMax = 200;
/** Bytes of the values in a response, as text. */
const responseBytesMax = 32 * 1024 * 1024;

export function createRuns(dependencies: Dependencies, ledger: RunLedger): Runs {
  const { model, states, aspects } = dependencies;

  const keyAspectOf = (change: PlacedChange) => model.entities.get(change.entityType)?.keyAspect;

  const { lastHardDelete } = createDeletedRows({
    log: dependencies.log,
    decode: (record) => readable(dependencies.decode, record),
    keyAspectOf: (type) => model.entities.get(type)?.keyAspect,
  });

  /**
   * Changes of existing entities since their creation; without `soft`, not of soft-deleted ones.
   */
  async function currentChanges(
    changes: readonly PlacedChange[],
    soft: boolean,
  ): Promise<readonly PlacedChange[]> {
    const urns = [...new Set(changes.map(({ urn }) => urn))];
    const found = await states.read(urns);
    const byUrn = new Map(found.map((state) => [state.urn, state]));
    const ofExisting = changes.filter((change) =>
      exists(byUrn.get(change.urn), keyAspectOf(change), soft),
    );
    const deletions = new Map<string, Position>();
    for (const { urn } of ofExisting) {
      const state = byUrn.get(urn);
      if (state !== undefined && !deletions.has(urn))
        deletions.set(urn, await lastHardDelete(state));
    }
    return ofExisting.filter(({ urn, position }) => position > (deletions.get(urn) ?? START));
  }

  function rowOf(change: PlacedChange, value: unknown): RunRow {
    const { urn, aspect: aspectName, system } = change;
    return {
      runId: system.runId,
      urn,
      aspectName,
      timestamp: system.lastObserved,
      version: Number(system.version ?? 0),
      keyAspect: aspectName === keyAspectOf(change),
      ...(value !== undefined && { aspect: envelopeOf(change, value) }),
    };
  }

  function envelopeOf(change: PlacedChange, value: unknown): Envelope {
    const { aspect: name, system, timeseries } = change;
    const { time, actor } = change.created;
    return {
      name,
      type: timeseries ? "TIMESERIES" : "VERSIONED",
      version: Number(system.version ?? 0),
      value,
      created: { time, actor },
      systemMetadata: system,
    };
  }

  /** The written value as JSON text; for a restatement, the value that it confirms. */
  async function textOf({ urn, aspect, system, changeType, value }: PlacedChange) {
    if (changeType !== "RESTATE") return value;
    return (await aspects.findValue(urn, aspect, Number(system.version ?? 0)))?.value;
  }

  /** The values of the changes, in order. Throws `too_large` before too many are in memory. */
  async function valuesOf(changes: readonly PlacedChange[]): Promise<readonly unknown[]> {
    const values: unknown[] = [];
    let bytes = 0;
    for (const [n, change] of changes.entries()) {
      const text = await textOf(change);
      bytes += text?.length ?? 0;
      if (bytes > responseBytesMax && n > 0) throw tooLarge(changes.length);
      values.push(text === undefined ? undefined : JSON.parse(text));
      if (n % sliceMax === 0) await yieldToEventLoop();
    }
    return values;
  }

  return {
    async listRuns({ pageOffset = 0, pageSize = 100, includeSoft = false }) {
      checkPage({ pageOffset, pageSize });
      const listed: Run[] = [];
      for (const run of (await ledger.read()).all()) {
        if ((includeSoft ? run.allRows : run.rows) > 0) listed.push(run);
      }
      listed.sort((a, b) => b.timestamp - a.timestamp || b.last - a.last);
      const page = listed.slice(pageOffset, pageOffset + Math.min(pageSize, pageMax));
      return page.map(({ runId, rows, allRows, timestamp }) => ({
        runId,
        rows: includeSoft ? allRows : rows,
        timestamp,
      }));
    },

    async describeRun({ runId, start, count, includeSoft = false, includeAspect = false }) {
      checkPage({ start, count });
      const runs = await ledger.read();
      const run = runs.find(runId);
      if (run === undefined) return [];
      const end = start + Math.min(count, pageMax);
      const rows: PlacedChange[] = [];
      let passed = 0;
      let slice: PlacedChange[] = [];
      let bytes = 0;

      function keep(change: PlacedChange): void {
        rows.push(includeAspect ? change : { ...change, value: undefined });
        if (includeAspect) bytes += change.value?.length ?? 0;
        if (bytes > responseBytesMax && rows.length > 1) throw tooLarge(rows.length);
      }

      async function take(): Promise<void> {
        for (const change of await currentChanges(slice, includeSoft)) {
          if (passed >= start && passed < end) keep(change);
          passed++;
        }
        slice = [];
      }

      for await (const change of recordsOfRun(dependencies, run)) {
        if (passed >= end) break;
        const { urn, position, system } = change;
        const isGone = !includeSoft && runs.isRolledBack(runId, position, markOf(system));
        if (urn === "" || isGone) continue;
        slice.push(change);
        if (slice.length === sliceMax) await take();
      }
      await take();
      if (!includeAspect) return rows.map((change) => rowOf(change, undefined));
      await dependencies.caughtUp();
      const values = await valuesOf(rows);
      return rows.map((change, n) => rowOf(change, values[n]));
    },
  };
}

/** Runs contain any entities, so only callers who may see everything may read them. */
export function createSeenRuns(
  catalog: Runs & Pick<Catalog, "rollbackRun">,
  { resolveFilter, restricted }: AccessContext,
): Runs & Pick<Catalog, "rollbackRun"> {
  async function requireFullAccess(): Promise<void> {
    if (resolveFilter === undefined || (await resolveFilter()).everything) return;
    throw new CatalogError("forbidden", "runs are visible only to users who may see all entities", {
      hint: "Ask an administrator",
    });
  }

  async function visibleRows(rows: readonly RunRow[]): Promise<readonly RunRow[]> {
    if (restricted === undefined) return rows;
    const visible: RunRow[] = [];
    for (const row of rows) {
      if (await isVisibleChange({ urn: row.urn, aspect: row.aspectName }, restricted))
        visible.push(row);
    }
    return visible;
  }

  return {
    listRuns: async (page) => requireFullAccess().then(() => catalog.listRuns(page)),
    describeRun: async (query) =>
      requireFullAccess().then(async () => visibleRows(await catalog.describeRun(query))),
    rollbackRun: async (...asked) => requireFullAccess().then(() => catalog.rollbackRun(...asked)),
  };
}

function exists(
  state: EntityState | undefined,
  keyAspect: string | undefined,
  soft: boolean,
): boolean {
  if (state === undefined || currentAspect(state, keyAspect ?? "") === undefined) return false;
  return soft || !isSoftDeleted(state);
}

function checkPage(page: Readonly<Record<string, number>>): void {
  const wrong = Object.entries(page).find(([, value]) => value < 0);
  if (wrong === undefined) return;
  throw new CatalogError("malformed", `${wrong[0]} is ${wrong[1]}`, { hint: "Send 0 or more" });
}

const tooLarge = (count: number): CatalogError =>
  new CatalogError(
    "too_large",
    `the values of ${count} rows have more than ${responseBytesMax} bytes, the maximum of a response`,
    { hint: "Request fewer rows at a time, or omit includeAspect" },
  );
