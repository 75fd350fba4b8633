/** Which runs of ingestion there were, and what each told. */
import type { AspectReader } from "../aspects/aspect-table.ts";
import type { PlacedChange } from "../core/change.ts";
import { currentAspect, type EntityState } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import type { Model } from "../model/model.ts";
import type { Catalog, Envelope, RunRow } from "./catalog.ts";
import type { EntityStates } from "./entity-states.ts";
import { type Run, type RunLedger, recordsOfRun } from "./run-ledger.ts";
import type { Eyes } from "./sight.ts";
import { tellable } from "./withheld-ports.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readAll">;
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

export function createRuns(dependencies: Dependencies, ledger: RunLedger): Runs {
  const { model, states, aspects } = dependencies;

  const keyAspectOf = (change: PlacedChange) => model.entities.get(change.entityType)?.keyAspect;

  /** Those of entities that are there and not soft-deleted. */
  async function living(changes: readonly PlacedChange[]): Promise<readonly PlacedChange[]> {
    const urns = [...new Set(changes.map(({ urn }) => urn))];
    const found = await states.read(urns);
    const byUrn = new Map(found.map((state) => [state.urn, state]));
    return changes.filter((change) => isLiving(byUrn.get(change.urn), keyAspectOf(change)));
  }

  async function rowOf(change: PlacedChange, includeAspect: boolean): Promise<RunRow> {
    const { urn, aspect: aspectName, system } = change;
    return {
      ...{ runId: system.runId, urn, aspectName, timestamp: system.lastObserved },
      version: Number(system.version ?? 0),
      keyAspect: aspectName === keyAspectOf(change),
      ...(includeAspect && { aspect: await envelopeOf(change) }),
    };
  }

  /** What was told; of a confirmation, the value that it confirmed. */
  async function envelopeOf(change: PlacedChange): Promise<Envelope | undefined> {
    const { urn, aspect, system, created } = change;
    const version = Number(system.version ?? 0);
    const told =
      change.changeType === "RESTATE" ? await aspects.findValue(urn, aspect, version) : change;
    if (told?.value === undefined) return undefined;
    const { time, actor } = created;
    return {
      ...{ name: aspect, type: change.timeseries ? "TIMESERIES" : "VERSIONED", version },
      ...{ value: JSON.parse(told.value), created: { time, actor }, systemMetadata: system },
    };
  }

  return {
    async listRuns({ pageOffset = 0, pageSize = 100, includeSoft = false }) {
      checkPage({ pageOffset, pageSize });
      const listed: Run[] = [];
      for (const run of (await ledger.read()).all()) {
        if (run.rows > 0 || includeSoft) listed.push(run);
      }
      listed.sort((a, b) => b.timestamp - a.timestamp || b.last - a.last);
      const page = listed.slice(pageOffset, pageOffset + Math.min(pageSize, pageMax));
      return page.map(({ runId, rows, allRows, timestamp }) => ({
        ...{ runId, rows: includeSoft ? allRows : rows, timestamp },
      }));
    },

    async describeRun({ runId, start, count, includeSoft = false, includeAspect = false }) {
      checkPage({ start, count });
      const run = (await ledger.read()).find(runId);
      if (run === undefined) return [];
      const end = start + Math.min(count, pageMax);
      const rows: PlacedChange[] = [];
      let passed = 0;
      let slice: PlacedChange[] = [];

      async function take(): Promise<void> {
        for (const change of includeSoft ? slice : await living(slice)) {
          if (passed >= start && passed < end) rows.push(change);
          passed++;
        }
        slice = [];
      }

      for await (const change of recordsOfRun(dependencies, run)) {
        if (passed >= end) break;
        if (change.urn === "" || (!includeSoft && change.position <= run.undoneAt)) continue;
        slice.push(change);
        if (slice.length === sliceMax) await take();
      }
      await take();
      if (includeAspect) await dependencies.caughtUp();
      return Promise.all(rows.map((change) => rowOf(change, includeAspect)));
    },
  };
}

/** Runs tell of entities whatever they are: they are for those who may see all. */
export function createSeenRuns(
  catalog: Runs & Pick<Catalog, "rollbackRun">,
  { look, withheld }: Eyes,
): Runs & Pick<Catalog, "rollbackRun"> {
  async function whole(): Promise<void> {
    if (look === undefined || (await look()).everything) return;
    throw new CatalogError("forbidden", "runs are shown to those who may see all", {
      hint: "Ask an administrator",
    });
  }

  async function tellableRows(rows: readonly RunRow[]): Promise<readonly RunRow[]> {
    if (withheld === undefined) return rows;
    const told: RunRow[] = [];
    for (const row of rows) {
      if (await tellable({ urn: row.urn, aspect: row.aspectName }, withheld)) told.push(row);
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

function isLiving(state: EntityState | undefined, keyAspect: string | undefined): boolean {
  if (state === undefined || currentAspect(state, keyAspect ?? "") === undefined) return false;
  const status = currentAspect(state, "status")?.value;
  return status === undefined || JSON.parse(status).removed !== true;
}

function checkPage(page: Readonly<Record<string, number>>): void {
  const wrong = Object.entries(page).find(([, value]) => value < 0);
  if (wrong === undefined) return;
  throw new CatalogError("malformed", `${wrong[0]} is ${wrong[1]}`, { hint: "Send 0 or more" });
}
