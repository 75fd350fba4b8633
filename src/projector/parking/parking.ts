/**
 * Parking: the dead letter list of a view, in a stream of the log per view. Log and parking
 * determine the content of a view, so a rebuild gives the same result.
 *
 * A view of records parks an entity at the first record that it cannot decode, project or apply,
 * and skips the entity's later records. A retry projects the entity from the log again. A dropped
 * record is skipped permanently.
 *
 * A view of documents (documents/document-view.ts) parks values: a document omits an aspect that
 * cannot be projected. Each change of the entity, and a retry, projects the aspect again. A dropped
 * value is omitted permanently. An entity whose document the store rejects has no document until
 * its next change.
 */
import { CatalogError, messageOf } from "../../core/errors.ts";
import type { FailedValue, ParkedValue, ParkedValues } from "../../core/parked-values.ts";
import { type Position, position, START } from "../../core/position.ts";
import { parkingStream } from "../../core/stream.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import {
  decodeParking,
  encodeParking,
  type ParkingRecord,
} from "../../log/codecs/parking-codec.ts";
import { recordsOf } from "../../log/whole-reads.ts";

/** A record or a value that a view could not apply. */
export interface Parked extends Partial<ParkedValue> {
  readonly view: string;
  readonly urn: string;
  /** Position of the record; for a value, position of the view. */
  readonly position: Position;
  readonly reason: string;
  /** When it was parked, in epoch milliseconds. */
  readonly time: number;
}

/** Stands for the whole document in place of one value. */
export const WHOLE_DOCUMENT: ParkedValue = { aspect: "", version: 0 };

/** Stores parking records: in the log, or in memory for a staging generation. */
export interface ParkingStore {
  load(view: string): Promise<readonly ParkingRecord[]>;
  /** Resolves when it is durable. */
  write(view: string, record: ParkingRecord): Promise<void>;
}

/** The parking of one view. */
export interface Parking extends ParkedValues {
  /** True if the view skips the change. */
  skips(change: { readonly urn: string; readonly position: Position }): boolean;
  /** True if the record was dropped. */
  isDropped(at: Position): boolean;
  /** True if the view skips no record. */
  readonly idle: boolean;
  find(urn: string): Parked | undefined;
  /** Number of entities with anything parked. */
  readonly size: number;
  list(): readonly Parked[];
  /** The parking records of dropped records and values. */
  dropped(): readonly ParkingRecord[];
  park(
    parked: Partial<ParkedValue> & { readonly urn: string; readonly position: Position },
    error: Error,
  ): Promise<void>;
  /** Removes the entity, or the value, from the list: the view contains it again. */
  release(urn: string, aspect?: string): Promise<void>;
  /** Skips this record, or this value, permanently. Throws `not_found` if it is not parked. */
  drop(parked: Omit<Parked, "view" | "reason" | "time">, actor: string | undefined): Promise<void>;
  /** Replaces the parked values of the entity. */
  replaceParkedValues(urn: string, failed: readonly FailedValue[], at: Position): Promise<void>;
}

async function openParking(view: string, store: ParkingStore, now: () => number): Promise<Parking> {
  const parked = new Map<string, Parked>();
  const dropped: ParkingRecord[] = [];
  const droppedRecords = new Set<Position>();
  const values = createParkedValues();
  for (const record of await store.load(view)) take(record);

  function take(record: ParkingRecord): void {
    const { kind, urn, aspect, version = 0, reason, time } = record;
    const at = position(record.position);
    if (kind === "dropped") dropped.push(record);
    const entry = { view, urn, position: at, reason: reason ?? "", time };
    if (aspect !== undefined) values.take(kind, { ...entry, aspect, version });
    else if (kind === "parked") parked.set(urn, entry);
    else if (kind === "released") parked.delete(urn);
    else droppedRecords.add(at);
  }

  async function write(record: Omit<ParkingRecord, "time">): Promise<void> {
    const full = { ...record, time: now() };
    await store.write(view, full);
    take(full);
  }

  const park: Parking["park"] = ({ urn, position: at, ...value }, error) =>
    write({ kind: "parked", urn, position: at, reason: error.message, actor: null, ...value });

  const release: Parking["release"] = async (urn, aspect) => {
    const one = aspect === undefined ? parked.get(urn) : values.find(urn, aspect);
    if (one === undefined) return;
    const { version } = one;
    const value = aspect === undefined ? {} : { aspect, version };
    const { position: at } = one;
    await write({ kind: "released", urn, position: at, reason: null, actor: null, ...value });
  };

  return {
    ...values.reads,
    skips({ urn, position: at }) {
      const from = parked.get(urn)?.position;
      return (from !== undefined && at >= from) || droppedRecords.has(at);
    },
    isDropped: (at) => droppedRecords.has(at),
    get idle() {
      return parked.size === 0 && droppedRecords.size === 0;
    },
    find: (urn) => parked.get(urn),
    get size() {
      return new Set([...parked.keys(), ...values.all().map(({ urn }) => urn)]).size;
    },
    list: () => [...parked.values(), ...values.all()].sort((a, b) => a.position - b.position),
    dropped: () => dropped,
    park,
    release,
    async drop({ urn, position: at, aspect, version }, actor = undefined) {
      const one = aspect === undefined ? parked.get(urn) : values.find(urn, aspect);
      if (one === undefined) throw notParked(view, urn);
      const value = aspect === undefined ? {} : { aspect, version };
      const who = actor ?? null;
      await write({ kind: "dropped", urn, position: at, reason: null, actor: who, ...value });
    },
    async replaceParkedValues(urn, failed, at) {
      for (const { aspect, version, error } of failed) {
        if (values.find(urn, aspect)?.version === version) continue;
        const what = `the aspect "${aspect}" could not be projected: ${messageOf(error)}`;
        await park({ urn, position: at, aspect, version }, new Error(what));
      }
      for (const { aspect = "" } of values.of(urn)) {
        if (aspect === WHOLE_DOCUMENT.aspect || failed.some((one) => one.aspect === aspect))
          continue;
        await release(urn, aspect);
      }
    },
  };
}

function createParkedValues() {
  /** Parked values by urn and aspect. */
  const parked = new Map<string, Map<string, Parked>>();
  const dropped = new Map<string, Set<string>>();
  const omitted = new Map<string, Position>();
  const keyOf = ({ aspect, version }: ParkedValue): string => `${aspect} ${version}`;
  const of = (urn: string): readonly Parked[] => [...(parked.get(urn)?.values() ?? [])];
  const find = (urn: string, aspect: string): Parked | undefined => parked.get(urn)?.get(aspect);

  return {
    of,
    find,
    all: () => [...parked.values()].flatMap((some) => [...some.values()]),
    take(kind: ParkingRecord["kind"], one: Parked & ParkedValue): void {
      const { urn, aspect } = one;
      if (kind === "parked") {
        const some = parked.get(urn) ?? new Map<string, Parked>();
        parked.set(urn, some.set(aspect, one));
      } else if (kind === "released") {
        const some = parked.get(urn);
        some?.delete(aspect);
        if (some?.size === 0) parked.delete(urn);
      } else if (aspect === WHOLE_DOCUMENT.aspect) omitted.set(urn, one.position);
      else dropped.set(urn, (dropped.get(urn) ?? new Set()).add(keyOf(one)));
    },
    reads: {
      omits: (urn, aspect, version) => dropped.get(urn)?.has(keyOf({ aspect, version })) ?? false,
      isRejected: (urn) => find(urn, WHOLE_DOCUMENT.aspect) !== undefined,
      omittedUpTo: (urn) => omitted.get(urn) ?? START,
      lists(urn, failed) {
        if (!parked.has(urn)) return failed.length === 0;
        const listed = of(urn).filter(({ aspect }) => aspect !== WHOLE_DOCUMENT.aspect);
        if (listed.length !== failed.length) return false;
        return failed.every(({ aspect, version }) => find(urn, aspect)?.version === version);
      },
    } satisfies ParkedValues,
  };
}

export type ReadParking = Omit<Parking, "park" | "release" | "drop">;

/** The parking of a view in the log, read-only. */
export function readOnlyParking(
  log: Pick<ChangeLog, "readStream">,
  view: string,
): Promise<ReadParking> {
  const write = () => Promise.reject(new Error("this parking is read-only"));
  return openParking(view, { load: () => readParking(log, view), write }, Date.now);
}

/** The parking of a view that this process projects. */
export async function openParkingOf(
  {
    name,
    onParking,
  }: {
    readonly name: string;
    readonly onParking?: ((parking: Parking) => void) | undefined;
  },
  store: ParkingStore,
  now: () => number,
): Promise<Parking> {
  const parking = await openParking(name, store, now);
  onParking?.(parking);
  return parking;
}

/** The parking records of a view in the log. */
export async function readParking(
  log: Pick<ChangeLog, "readStream">,
  view: string,
): Promise<readonly ParkingRecord[]> {
  return Array.fromAsync(recordsOf(log, parkingStream(view)), decodeParking);
}

export async function writeParking(
  log: Pick<ChangeLog, "append">,
  view: string,
  record: ParkingRecord,
): Promise<void> {
  const records = [encodeParking(record)];
  await log.append([{ stream: parkingStream(view), expected: "any", records }]);
}

/** The parking in the log. */
export const parkingIn = (log: Pick<ChangeLog, "readStream" | "append">): ParkingStore => ({
  load: (view) => readParking(log, view),
  write: (view, record) => writeParking(log, view, record),
});

export const notParked = (view: string, urn: string): CatalogError =>
  new CatalogError("not_found", `"${urn.slice(0, 200)}" is not parked in the view "${view}"`, {
    hint: "annals parked, or POST /operations?action=listParked, lists the parked entities",
  });

/** The view cannot apply a record because of another entity than the record's own. */
export class EntityRejected extends Error {
  readonly urn: string;

  constructor(urn: string, cause: Error) {
    super(cause.message, { cause });
    this.urn = urn;
  }
}

/** True if the written data causes the error, not the store. */
export const isPoison = (error: unknown): error is Error =>
  error instanceof Error &&
  !(
    error instanceof CatalogError &&
    ["unavailable", "conflict", "rate_limited"].includes(error.code)
  );
