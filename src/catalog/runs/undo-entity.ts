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
import { entityStream, type StreamName, timeseriesStream } from "../../core/stream.ts";
import {
  markOf,
  type RecordedWrite,
  ROLLBACK_HEADER,
  UNDOES_HEADER,
  type Undone,
  type UndoneRun,
  undoAspect,
} from "../../core/undo.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import type { Entity } from "../../model/model.ts";
import type { Projection } from "../../projector/sink.ts";
import type { TimeseriesWrite } from "../../views/timeseries/timeseries-table.ts";
import type { Address } from "../address.ts";
import { createSeriesFold, type SeriesFold, type SeriesUndo } from "./undo-series.ts";

/** An aspect or event that the run wrote and that is rolled back. */
export interface UndoneRow {
  readonly aspect: string;
  readonly version: number;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

export interface EntityUndo {
  /** Revision of the entity's stream when it was read. */
  readonly revision: Revision;
  readonly commands: readonly AspectCommand[];
  readonly events: readonly EventCommand[];
  /** Revisions of the event streams, by aspect. */
  readonly eventRevisions: ReadonlyMap<string, Revision>;
  /** Rolled back rows, without the key aspect of an entity that the run created. */
  readonly rows: readonly UndoneRow[];
  readonly key: UndoneRow | undefined;
  /** Number of aspects of such an entity with other writers. */
  readonly others: number;
  /** Effect on the entity itself. */
  readonly ends: "hidden" | "deleted" | undefined;
}

interface EventCommand {
  readonly aspect: string;
  readonly command: AspectCommand;
}

export interface UndoTools {
  readonly log: Pick<ChangeLog, "readStream">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  /** The projection of the timeseries view. */
  readonly project: Projection<TimeseriesWrite>;
}

export interface UndoRequest extends UndoneRun {
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
export async function undoEntity(
  tools: UndoTools,
  address: Address,
  changes: AsyncIterable<PlacedChange>,
  run: UndoRequest,
): Promise<EntityUndo> {
  const { urn, entity } = address;
  const { keyAspect } = entity;
  const { writes, series, revision } = await fold(tools, changes, keyAspect);
  const undone = new Map<string, Undone<AspectWrite>>();
  for (const [aspect, all] of writes) {
    const found = undoAspect(all, run);
    if (found !== undefined && hasEffect(found, all)) undone.set(aspect, found);
  }
  const keyUndone = undone.get(keyAspect);
  const created = keyUndone !== undefined && keyUndone.restored === undefined;
  const others = created ? othersOf(entity, writes, undone) + series.others(run) : 0;
  const seriesUndone = series.undo(run);
  const found = {
    revision,
    eventRevisions: series.revisions(),
    others,
    rows: [
      ...[...undone]
        .filter(([aspect]) => !created || aspect !== keyAspect)
        .map(([aspect, { newest }]) => rowOf(aspect, newest)),
      ...seriesUndone.flatMap((one) => one.undone.map((event) => rowOf(one.aspect, event))),
    ],
    key: created ? rowOf(keyAspect, keyUndone.newest) : undefined,
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
  for (const [aspect, one] of undone) {
    if (created && aspect === keyAspect) continue;
    if (hides && aspect === "status") continue;
    const own = one.restored === undefined && given.find((other) => other.aspect === aspect);
    commands.push(
      own
        ? writeDefault(own, run)
        : await undoing(tools, urn, aspect, one, writes.get(aspect) ?? [], run),
    );
  }
  const ends = hides && writes.get("status")?.at(-1)?.decided !== true ? "hidden" : undefined;
  if (ends !== undefined) commands.push(softDelete(run));
  const events: EventCommand[] = [];
  for (const one of seriesUndone) events.push(...(await eventsOf(tools, urn, one, run)));
  return { ...found, commands, events, ends };
}

async function fold(
  { project }: UndoTools,
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
    undoes: headers?.[UNDOES_HEADER],
    decided: headers?.[ROLLBACK_HEADER] !== undefined,
  };
}

/** True if the aspect changes its value or its run. */
const hasEffect = ({ restored }: Undone<AspectWrite>, writes: readonly AspectWrite[]): boolean =>
  restored !== undefined || isThere(writes);

const isThere = (writes: readonly AspectWrite[]): boolean =>
  writes.length > 0 && writes.at(-1)?.changeType !== "DELETE";

/** Number of aspects with a value without the run, except the key and `status`. */
function othersOf(
  { keyAspect }: Entity,
  writes: AspectWrites,
  undone: ReadonlyMap<string, Undone<AspectWrite>>,
): number {
  let count = 0;
  for (const [aspect, all] of writes) {
    if (aspect === keyAspect || aspect === "status") continue;
    const one = undone.get(aspect);
    if (one === undefined ? isThere(all) : one.restored !== undefined) count++;
  }
  return count;
}

async function undoing(
  tools: UndoTools,
  urn: string,
  aspect: string,
  { restored }: Undone<AspectWrite>,
  writes: readonly AspectWrite[],
  { runId }: UndoneRun,
): Promise<AspectCommand> {
  const headers = { [UNDOES_HEADER]: runId };
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
  tools: UndoTools,
  urn: string,
  { aspect, ranges, restored }: SeriesUndo,
  { runId }: UndoneRun,
): Promise<readonly EventCommand[]> {
  const undoes = { [UNDOES_HEADER]: runId };
  const made: EventCommand[] = ranges.map(({ from, to }) => {
    const headers = { ...undoes, "annals-from": String(from), "annals-to": String(to) };
    return { aspect, command: commandOf(aspect, "delete", headers) };
  });
  for (const { revision, system } of restored) {
    const value = await recorded(tools, timeseriesStream(urn, aspect), revision);
    if (value !== undefined) {
      made.push({ aspect, command: putting(aspect, value, system, undoes) });
    }
  }
  return made;
}

async function recorded(
  { log, decode }: UndoTools,
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
  { aspect, settled, schemaVersion }: DefaultAspect,
  { runId }: UndoneRun,
): AspectCommand => ({
  ...commandOf(aspect, "put", { [UNDOES_HEADER]: runId }),
  value: settled,
  schemaVersion,
});

const softDelete = ({ runId }: UndoneRun): AspectCommand => ({
  ...commandOf("status", "put", { [ROLLBACK_HEADER]: runId }),
  value: { value: { removed: true }, text: '{"removed":true}' },
});

const rowOf = (aspect: string, { system }: { readonly system: SystemMetadata }): UndoneRow => ({
  aspect,
  version: Number(system.version ?? 0),
  timestamp: system.lastObserved,
});
