/** Which runs of ingestion there were, and what each told. */
import { setImmediate as turn } from "node:timers/promises";
import type { AspectReader } from "../aspects/aspect-table.ts";
import type { PlacedChange } from "../core/change.ts";
import { currentAspect, type EntityState } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";
import { markOf } from "../core/undo.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import { readable } from "../log/readable.ts";
import type { Model } from "../model/model.ts";
import type { AccessContext } from "./access-filter.ts";
import type { Catalog, Envelope, RunRow } from "./catalog.ts";
import { createDeletedRows } from "./deleted-rows.ts";
import type { EntityStates } from "./entity-states.ts";
import { isVisibleChange } from "./restricted-ports.ts";
import { type Run, type RunLedger, recordsOfRun } from "./run-ledger.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readAll" | "readStream">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  readonly model: Pick<Model, "entities">;
  readonly states: Pick<EntityStates, "read">;
  readonly aspects: Pick<AspectReader, "findValue">;
  /** Waits until the aspect view has every write that was answered. */
  readonly caughtUp: () => Promise<void>;
}

type Runs = Pick<Catalog, "listRuns" | "describeRun">;

/** Most runs, or rows, of one page. */
const pageMax = 10_000;
/** Records whose entities are looked at in one go. */
const sliceMax = 200;
/** Of the values of one answer, as texts. */
const answerBytesMax = 32 * 1024 * 1024;

export function createRuns(dependencies: Dependencies, ledger: RunLedger): Runs {
  const { model, states, aspects } = dependencies;

  const keyAspectOf = (change: PlacedChange) => model.entities.get(change.entityType)?.keyAspect;

  const { lastHardDelete } = createDeletedRows({
    log: dependencies.log,
    decode: (record) => readable(dependencies.decode, record),
    keyAspectOf: (type) => model.entities.get(type)?.keyAspect,
  });

  /** Those of entities that are there, since they came to be; without `soft`, not of soft-deleted ones. */
  async function living(
    changes: readonly PlacedChange[],
    soft: boolean,
  ): Promise<readonly PlacedChange[]> {
    const urns = [...new Set(changes.map(({ urn }) => urn))];
    const found = await states.read(urns);
    const byUrn = new Map(found.map((state) => [state.urn, state]));
    const there = changes.filter((change) =>
      isLiving(byUrn.get(change.urn), keyAspectOf(change), soft),
    );
    const deaths = new Map<string, Position>();
    for (const { urn } of there) {
      const state = byUrn.get(urn);
      if (state !== undefined && !deaths.has(urn)) deaths.set(urn, await lastHardDelete(state));
    }
    return there.filter(({ urn, position }) => position > (deaths.get(urn) ?? START));
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

  /** What was told, as JSON text; of a confirmation, the value that it confirmed. */
  async function toldBy({ urn, aspect, system, changeType, value }: PlacedChange) {
    if (changeType !== "RESTATE") return value;
    return (await aspects.findValue(urn, aspect, Number(system.version ?? 0)))?.value;
  }

  /** Their values in this order. Throws `too_large` before more of them are in memory. */
  async function valuesOf(changes: readonly PlacedChange[]): Promise<readonly unknown[]> {
    const values: unknown[] = [];
    let bytes = 0;
    for (const [n, change] of changes.entries()) {
      const text = await toldBy(change);
      bytes += text?.length ?? 0;
      if (bytes > answerBytesMax && n > 0) throw tooLarge(changes.length);
      values.push(text === undefined ? undefined : JSON.parse(text));
      if (n % sliceMax === 0) await turn();
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
        if (bytes > answerBytesMax && rows.length > 1) throw tooLarge(rows.length);
      }

      async function take(): Promise<void> {
        for (const change of await living(slice, includeSoft)) {
          if (passed >= start && passed < end) keep(change);
          passed++;
        }
        slice = [];
      }

      for await (const change of recordsOfRun(dependencies, run)) {
        if (passed >= end) break;
        const { urn, position, system } = change;
        const isGone = !includeSoft && runs.isUndone(runId, position, markOf(system));
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

/** Runs tell of entities whatever they are: they are for those who may see all. */
export function createSeenRuns(
  catalog: Runs & Pick<Catalog, "rollbackRun">,
  { look, restricted }: AccessContext,
): Runs & Pick<Catalog, "rollbackRun"> {
  async function whole(): Promise<void> {
    if (look === undefined || (await look()).everything) return;
    throw new CatalogError("forbidden", "runs are shown to those who may see all", {
      hint: "Ask an administrator",
    });
  }

  async function tellableRows(rows: readonly RunRow[]): Promise<readonly RunRow[]> {
    if (restricted === undefined) return rows;
    const told: RunRow[] = [];
    for (const row of rows) {
      if (await isVisibleChange({ urn: row.urn, aspect: row.aspectName }, restricted))
        told.push(row);
    }
    return told;
  }

  return {
    listRuns: async (page) => whole().then(() => catalog.listRuns(page)),
    describeRun: async (query) =>
      whole().then(async () => tellableRows(await catalog.describeRun(query))),
    rollbackRun: async (...asked) => whole().then(() => catalog.rollbackRun(...asked)),
  };
}

function isLiving(
  state: EntityState | undefined,
  keyAspect: string | undefined,
  soft: boolean,
): boolean {
  if (state === undefined || currentAspect(state, keyAspect ?? "") === undefined) return false;
  if (soft) return true;
  const status = currentAspect(state, "status")?.value;
  return status === undefined || JSON.parse(status).removed !== true;
}

function checkPage(page: Readonly<Record<string, number>>): void {
  const wrong = Object.entries(page).find(([, value]) => value < 0);
  if (wrong === undefined) return;
  throw new CatalogError("malformed", `${wrong[0]} is ${wrong[1]}`, { hint: "Send 0 or more" });
}

const tooLarge = (count: number): CatalogError =>
  new CatalogError(
    "too_large",
    `the values of ${count} rows have more than ${answerBytesMax} bytes, which an answer may have`,
    { hint: "Ask for fewer at a time, or without includeAspect" },
  );
