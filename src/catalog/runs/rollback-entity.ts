/**
 * Rollback of a run for one entity: from the entity's records to the aspect commands that restore
 * its state without the run. Reads, but writes nothing.
 *
 * An entity that the run created and that has no other writers is soft-deleted (`status`), or
 * hard-deleted if the request says so. An entity with other writers is kept, unless the request
 * hard-deletes it, including their aspects.
 */
import { type PlacedChange, restoresEdges, type SystemMetadata } from "../../core/change.ts";
import type { AspectCommand, DefaultAspect } from "../../core/decide.ts";
import { EMPTY_STREAM, type Revision } from "../../core/position.ts";
import {
  DERIVED_HEADER,
  markOf,
  type RecordedWrite,
  ROLLBACK_HEADER,
  ROLLS_BACK_HEADER,
  type RolledBack,
  type RolledBackRun,
  rollBackAspect,
} from "../../core/rollback.ts";
import { entityStream, type StreamName, timeseriesStream } from "../../core/stream.ts";
import { appendAll } from "../../lib/lists.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import type { Entity } from "../../model/model.ts";
import type { Projection } from "../../projector/sink.ts";
import type { TimeseriesWrite } from "../../views/timeseries/timeseries-table.ts";
import type { Address } from "../address.ts";
import { createSeriesFold, type SeriesFold, type SeriesRollback } from "./rollback-timeseries.ts";

/** An aspect or event that the run wrote and that is rolled back. */
export interface RolledBackRow {
  readonly aspect: string;
  readonly version: number;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

export interface EntityRollback {
  /** Revision of the entity's stream when it was read. */
  readonly revision: Revision;
  readonly commands: readonly AspectCommand[];
  readonly events: readonly EventCommand[];
  /** Revisions of the event streams, by aspect. */
  readonly eventRevisions: ReadonlyMap<string, Revision>;
  /** Rolled back rows, without the key aspect of an entity that the run created. */
  readonly rows: readonly RolledBackRow[];
  readonly key: RolledBackRow | undefined;
  /** Number of aspects of such an entity with other writers. */
  readonly others: number;
  /** Effect on the entity itself. */
  readonly ends: "hidden" | "deleted" | undefined;
}

interface EventCommand {
  readonly aspect: string;
  readonly command: AspectCommand;
}

export interface RollbackTools {
  readonly log: Pick<ChangeLog, "readStream">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  /** The projection of the timeseries view. */
  readonly project: Projection<TimeseriesWrite>;
}

export interface EntityRollbackRequest extends RolledBackRun {
  readonly hardDelete: boolean;
  /** Default aspects of an entity. */
  readonly given: (address: Address) => Promise<readonly DefaultAspect[]>;
}

interface AspectWrite extends RecordedWrite {
  readonly revision: Revision;
  readonly system: SystemMetadata;
  /** True if a rollback wrote it. */
  readonly decided: boolean;
}

type AspectWrites = ReadonlyMap<string, readonly AspectWrite[]>;

/** `changes`: all changes that affect the entity, in the order of the log. */
export async function rollBackEntity(
  tools: RollbackTools,
  address: Address,
  changes: AsyncIterable<PlacedChange>,
  run: EntityRollbackRequest,
): Promise<EntityRollback> {
  const { urn, entity } = address;
  const { keyAspect } = entity;
  const { writes, series, revision } = await fold(tools, changes, keyAspect);
  const rolledBack = new Map<string, RolledBack<AspectWrite>>();
  for (const [aspect, all] of writes) {
    const found = rollBackAspect(all, run);
    if (found !== undefined && hasEffect(found, all)) rolledBack.set(aspect, found);
  }
  const keyRolledBack = rolledBack.get(keyAspect);
  const created = keyRolledBack !== undefined && keyRolledBack.restored === undefined;
  const others = created ? othersOf(entity, writes, rolledBack) + series.others(run) : 0;
  const seriesRolledBack = series.rollBack(run);
  const found = {
    revision,
    eventRevisions: series.revisions(),
    others,
    rows: [
      ...[...rolledBack]
        .filter(([aspect]) => !created || aspect !== keyAspect)
        .map(([aspect, { newest }]) => rowOf(aspect, newest)),
      ...seriesRolledBack.flatMap((one) => one.rolledBack.map((event) => rowOf(one.aspect, event))),
    ],
    key: created ? rowOf(keyAspect, keyRolledBack.newest) : undefined,
  };
  if (created && run.hardDelete) {
    const headers = { [ROLLBACK_HEADER]: run.runId };
    const commands = [commandOf(keyAspect, "delete", headers)];
    return { ...found, commands, events: [], ends: "deleted" };
  }
  const commands: AspectCommand[] = [];
  // Another writer would have created the entity, with its default aspects.
  const given = created && others > 0 ? await run.given(address) : [];
  const hides = created && others === 0 && entity.aspects.includes("status");
  for (const [aspect, one] of rolledBack) {
    if (created && aspect === keyAspect) continue;
    if (hides && aspect === "status") continue;
    const own = one.restored === undefined && given.find((other) => other.aspect === aspect);
    commands.push(
      own
        ? writeDefault(own, run)
        : await rollbackOf(tools, urn, aspect, one, writes.get(aspect) ?? [], run),
    );
  }
  const status = writes.get("status") ?? [];
  const isHidden = isThere(status) && status.at(-1)?.decided === true;
  const ends = hides && !isHidden ? "hidden" : undefined;
  if (ends !== undefined) commands.push(softDelete(run));
  const events: EventCommand[] = [];
  for (const one of seriesRolledBack) appendAll(events, await eventsOf(tools, urn, one, run));
  return { ...found, commands, events, ends };
}

async function fold(
  { project }: RollbackTools,
  changes: AsyncIterable<PlacedChange>,
  keyAspect: string,
): Promise<{ writes: AspectWrites; series: SeriesFold; revision: Revision }> {
  const writes = new Map<string, AspectWrite[]>([[keyAspect, []]]);
  const series = createSeriesFold(project);
  let revision = EMPTY_STREAM;
  for await (const change of changes) {
    series.add(change);
    if (change.timeseries) continue;
    revision = change.revision;
    if (restoresEdges(change)) continue;
    const { aspect, changeType } = change;
    if (!writes.has(aspect)) writes.set(aspect, []);
    // Deleting an entity deletes each of its aspects.
    const ends = changeType === "DELETE" && aspect === keyAspect;
    const one = writeOf(change);
    for (const [name, all] of writes) if (ends || name === aspect) all.push(one);
  }
  return { writes, series, revision };
}

function writeOf({ changeType, position, revision, system, headers }: PlacedChange): AspectWrite {
  return {
    changeType,
    position,
    revision,
    system,
    runId: system.runId,
    version: Number(system.version),
    registry: markOf(system),
    rollsBack: headers?.[ROLLS_BACK_HEADER],
    isDerived: headers?.[DERIVED_HEADER] !== undefined,
    decided: headers?.[ROLLBACK_HEADER] !== undefined,
  };
}

/** True if the aspect changes its value or its run. */
const hasEffect = (
  { restored }: RolledBack<AspectWrite>,
  writes: readonly AspectWrite[],
): boolean => restored !== undefined || isThere(writes);

const isThere = (writes: readonly AspectWrite[]): boolean =>
  writes.length > 0 && writes.at(-1)?.changeType !== "DELETE";

/** Number of aspects with a value without the run, except the key and `status`. */
function othersOf(
  { keyAspect }: Entity,
  writes: AspectWrites,
  rolledBack: ReadonlyMap<string, RolledBack<AspectWrite>>,
): number {
  let count = 0;
  for (const [aspect, all] of writes) {
    if (aspect === keyAspect || aspect === "status") continue;
    const one = rolledBack.get(aspect);
    if (one === undefined ? isThere(all) : one.restored !== undefined) count++;
  }
  return count;
}

async function rollbackOf(
  tools: RollbackTools,
  urn: string,
  aspect: string,
  { restored }: RolledBack<AspectWrite>,
  writes: readonly AspectWrite[],
  { runId }: RolledBackRun,
): Promise<AspectCommand> {
  const headers = { [ROLLS_BACK_HEADER]: runId };
  if (restored === undefined) return commandOf(aspect, "delete", headers);
  // A restatement refers to the value by its version.
  const made = writes.findLast(
    (one) => one.changeType === "UPSERT" && one.version === restored.version,
  );
  const value = made && (await recorded(tools, entityStream(urn), made.revision));
  if (value === undefined) return commandOf(aspect, "delete", headers);
  return putting(aspect, value, restored.system, headers);
}

async function eventsOf(
  tools: RollbackTools,
  urn: string,
  { aspect, ranges, restored }: SeriesRollback,
  { runId }: RolledBackRun,
): Promise<readonly EventCommand[]> {
  const rollsBack = { [ROLLS_BACK_HEADER]: runId };
  const made: EventCommand[] = ranges.map(({ from, to }) => {
    const headers = { ...rollsBack, "annals-from": String(from), "annals-to": String(to) };
    return { aspect, command: commandOf(aspect, "delete", headers) };
  });
  for (const { revision, system } of restored) {
    const value = await recorded(tools, timeseriesStream(urn, aspect), revision);
    if (value !== undefined) {
      made.push({ aspect, command: putting(aspect, value, system, rollsBack) });
    }
  }
  return made;
}

async function recorded(
  { log, decode }: RollbackTools,
  stream: StreamName,
  revision: Revision,
): Promise<string | undefined> {
  const [record] = await log.readStream(stream, revision, { limit: 1 });
  return record && decode(record)?.value;
}

const commandOf = (
  aspect: string,
  kind: "put" | "delete",
  headers: AspectCommand["headers"],
): AspectCommand => ({
  aspect,
  kind,
  headers,
  schemaVersion: 1,
  system: {},
  conditions: {},
  label: "",
});

/** The value as the effective run wrote it, with a new version and stamps. */
function putting(
  aspect: string,
  text: string,
  {
    lastRunId: _,
    version: __,
    aspectCreated: ___,
    aspectModified: ____,
    ...system
  }: SystemMetadata,
  headers: AspectCommand["headers"],
): AspectCommand {
  const value = { value: JSON.parse(text), text };
  const { schemaVersion = 1 } = system;
  return { ...commandOf(aspect, "put", headers), value, schemaVersion, system };
}

const writeDefault = (
  { aspect, validated, schemaVersion }: DefaultAspect,
  { runId }: RolledBackRun,
): AspectCommand => ({
  ...commandOf(aspect, "put", { [ROLLS_BACK_HEADER]: runId }),
  value: validated,
  schemaVersion,
});

const softDelete = ({ runId }: RolledBackRun): AspectCommand => ({
  ...commandOf("status", "put", { [ROLLBACK_HEADER]: runId }),
  value: { value: { removed: true }, text: '{"removed":true}' },
});

const rowOf = (aspect: string, { system }: { readonly system: SystemMetadata }): RolledBackRow => ({
  aspect,
  version: Number(system.version ?? 0),
  timestamp: system.lastObserved,
});
