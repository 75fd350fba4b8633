/**
 * What undoing a run comes to for one entity: from all that the log says of it to the intents that
 * make it what it would be without the run. Reads, but writes nothing.
 *
 * An entity that the run brought into being, and of which nobody else told anything, is hidden
 * (`status`), or deleted where that is asked for. One of which others told is kept, unless deleting is
 * asked for; then it goes with what they told.
 */
import { type PlacedChange, restoresEdges, type SystemMetadata } from "../core/change.ts";
import type { GivenAspect, Intent } from "../core/decide.ts";
import { EMPTY_STREAM, type Revision } from "../core/position.ts";
import { entityStream, type StreamName, timeseriesStream } from "../core/stream.ts";
import {
  markOf,
  ROLLBACK_HEADER,
  type Telling,
  UNDOES_HEADER,
  type Undone,
  type UndoneRun,
  undoAspect,
} from "../core/undo.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import type { Entity } from "../model/model.ts";
import type { Projection } from "../projector/sink.ts";
import type { TimeseriesWrite } from "../timeseries/timeseries-table.ts";
import type { Address } from "./address.ts";
import { createSeriesFold, type SeriesFold, type SeriesUndo } from "./undo-series.ts";

/** An aspect, or an event of one, that the run told and that is undone. */
export interface UndoneRow {
  readonly aspect: string;
  readonly version: number;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

export interface EntityUndo {
  /** Of the entity's stream, as it was read. */
  readonly revision: Revision;
  readonly intents: readonly Intent[];
  readonly events: readonly EventIntent[];
  /** Of the streams of events, by aspect. */
  readonly eventRevisions: ReadonlyMap<string, Revision>;
  /** Without the key aspect of an entity that the run brought into being. */
  readonly rows: readonly UndoneRow[];
  readonly key: UndoneRow | undefined;
  /** Aspects of such an entity that others told. */
  readonly others: number;
  /** What becomes of the entity now, beyond its aspects. */
  readonly ends: "hidden" | "deleted" | undefined;
}

interface EventIntent {
  readonly aspect: string;
  readonly intent: Intent;
}

export interface UndoTools {
  readonly log: Pick<ChangeLog, "readStream">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
  /** How the view of timeseries follows from the log. */
  readonly project: Projection<TimeseriesWrite>;
}

export interface UndoRequest extends UndoneRun {
  readonly hardDelete: boolean;
  /** What an entity gets by itself. */
  readonly given: (address: Address) => Promise<readonly GivenAspect[]>;
}

interface Told extends Telling {
  readonly revision: Revision;
  readonly system: SystemMetadata;
  /** A rollback decided it. */
  readonly decided: boolean;
}

type Tellings = ReadonlyMap<string, readonly Told[]>;

/** `changes`: all that bear on the entity, in the order of the log. */
export async function undoEntity(
  tools: UndoTools,
  address: Address,
  changes: AsyncIterable<PlacedChange>,
  run: UndoRequest,
): Promise<EntityUndo> {
  const { urn, entity } = address;
  const { keyAspect } = entity;
  const { tellings, series, revision } = await fold(tools, changes, keyAspect);
  const undone = new Map<string, Undone<Told>>();
  for (const [aspect, all] of tellings) {
    const found = undoAspect(all, run);
    if (found !== undefined && hasEffect(found, all)) undone.set(aspect, found);
  }
  const keyUndone = undone.get(keyAspect);
  const created = keyUndone !== undefined && keyUndone.restored === undefined;
  const others = created ? othersOf(entity, tellings, undone) + series.others(run) : 0;
  const seriesUndone = series.undo(run);
  const found = {
    revision,
    eventRevisions: series.revisions(),
    others,
    rows: [
      ...[...undone]
        .filter(([aspect]) => !created || aspect !== keyAspect)
        .map(([aspect, { told }]) => rowOf(aspect, told)),
      ...seriesUndone.flatMap((one) => one.undone.map((event) => rowOf(one.aspect, event))),
    ],
    key: created ? rowOf(keyAspect, keyUndone.told) : undefined,
  };
  if (created && run.hardDelete) {
    const headers = { [ROLLBACK_HEADER]: run.runId };
    const intents = [intentOf(keyAspect, "delete", headers)];
    return { ...found, intents, events: [], ends: "deleted" };
  }
  const intents: Intent[] = [];
  // Whoever else told of it would have brought it into being, with what an entity gets by itself.
  const given = created && others > 0 ? await run.given(address) : [];
  const hides = created && others === 0 && entity.aspects.includes("status");
  for (const [aspect, one] of undone) {
    if (created && aspect === keyAspect) continue;
    if (hides && aspect === "status") continue;
    const own = one.restored === undefined && given.find((other) => other.aspect === aspect);
    intents.push(
      own
        ? giving(own, run)
        : await undoing(tools, urn, aspect, one, tellings.get(aspect) ?? [], run),
    );
  }
  const ends = hides && tellings.get("status")?.at(-1)?.decided !== true ? "hidden" : undefined;
  if (ends !== undefined) intents.push(hiding(run));
  const events: EventIntent[] = [];
  for (const one of seriesUndone) events.push(...(await eventsOf(tools, urn, one, run)));
  return { ...found, intents, events, ends };
}

async function fold(
  { project }: UndoTools,
  changes: AsyncIterable<PlacedChange>,
  keyAspect: string,
): Promise<{ tellings: Tellings; series: SeriesFold; revision: Revision }> {
  const tellings = new Map<string, Told[]>([[keyAspect, []]]);
  const series = createSeriesFold(project);
  let revision = EMPTY_STREAM;
  for await (const change of changes) {
    series.add(change);
    if (change.timeseries) continue;
    revision = change.revision;
    if (restoresEdges(change)) continue;
    const { aspect, changeType } = change;
    if (!tellings.has(aspect)) tellings.set(aspect, []);
    // The end of an entity is the end of each of its aspects.
    const ends = changeType === "DELETE" && aspect === keyAspect;
    const one = toldBy(change);
    for (const [name, all] of tellings) if (ends || name === aspect) all.push(one);
  }
  return { tellings, series, revision };
}

function toldBy({ changeType, position, revision, system, headers }: PlacedChange): Told {
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

/** Whether the aspect becomes another one, or is told by another run. */
const hasEffect = ({ restored }: Undone<Told>, tellings: readonly Told[]): boolean =>
  restored !== undefined || isThere(tellings);

const isThere = (tellings: readonly Told[]): boolean =>
  tellings.length > 0 && tellings.at(-1)?.changeType !== "DELETE";

/** Aspects that have a value without the run, beside those that say nothing of the entity. */
function othersOf(
  { keyAspect }: Entity,
  tellings: Tellings,
  undone: ReadonlyMap<string, Undone<Told>>,
): number {
  let count = 0;
  for (const [aspect, all] of tellings) {
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
  { restored }: Undone<Told>,
  tellings: readonly Told[],
  { runId }: UndoneRun,
): Promise<Intent> {
  const headers = { [UNDOES_HEADER]: runId };
  if (restored === undefined) return intentOf(aspect, "delete", headers);
  // A telling that confirmed a value names it by its number.
  const made = tellings.findLast(
    (one) => one.changeType === "UPSERT" && one.version === restored.version,
  );
  const value = made && (await recorded(tools, entityStream(urn), made.revision));
  if (value === undefined) return intentOf(aspect, "delete", headers);
  return putting(aspect, value, restored.system, headers);
}

async function eventsOf(
  tools: UndoTools,
  urn: string,
  { aspect, ranges, retold }: SeriesUndo,
  { runId }: UndoneRun,
): Promise<readonly EventIntent[]> {
  const undoes = { [UNDOES_HEADER]: runId };
  const made: EventIntent[] = ranges.map(({ from, to }) => {
    const headers = { ...undoes, "annals-from": String(from), "annals-to": String(to) };
    return { aspect, intent: intentOf(aspect, "delete", headers) };
  });
  for (const { revision, system } of retold) {
    const value = await recorded(tools, timeseriesStream(urn, aspect), revision);
    if (value !== undefined) {
      made.push({ aspect, intent: putting(aspect, value, system, undoes) });
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

const intentOf = (aspect: string, kind: "put" | "delete", headers: Intent["headers"]): Intent => ({
  aspect,
  kind,
  headers,
  schemaVersion: 1,
  system: {},
  conditions: {},
  label: "",
});

/** As the run that is believed again told it; number and stamps are new. */
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
  headers: Intent["headers"],
): Intent {
  const value = { value: JSON.parse(text), text };
  const { schemaVersion = 1 } = system;
  return { ...intentOf(aspect, "put", headers), value, schemaVersion, system };
}

const giving = ({ aspect, settled, schemaVersion }: GivenAspect, { runId }: UndoneRun): Intent => ({
  ...intentOf(aspect, "put", { [UNDOES_HEADER]: runId }),
  value: settled,
  schemaVersion,
});

const hiding = ({ runId }: UndoneRun): Intent => ({
  ...intentOf("status", "put", { [ROLLBACK_HEADER]: runId }),
  value: { value: { removed: true }, text: '{"removed":true}' },
});

const rowOf = (aspect: string, { system }: { readonly system: SystemMetadata }): UndoneRow => ({
  aspect,
  version: Number(system.version ?? 0),
  timestamp: system.lastObserved,
});
