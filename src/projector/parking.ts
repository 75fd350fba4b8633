/**
 * What a view could not take. A record that cannot be decoded, projected or applied is parked: from
 * it on the view passes over the entity, and takes everything else. Retried, the entity is made
 * anew from the log; a record that is dropped is passed over for ever.
 *
 * What is parked is told by the log, in a stream per view: a view is what follows from the log, with
 * this stream in it, also when it is grown again.
 */
import { CatalogError } from "../core/errors.ts";
import { type Position, position } from "../core/position.ts";
import { parkingStream } from "../core/stream.ts";
import type { ChangeLog } from "../log/change-log.ts";
import { decodeParking, encodeParking, type ParkingRecord } from "../log/parking-codec.ts";
import type { PassedOver, View } from "./sink.ts";

/** An entity that a view passes over. */
export interface Parked {
  readonly view: string;
  readonly urn: string;
  /** Of the first record that it passes over. */
  readonly position: Position;
  readonly reason: string;
  /** When it was parked, in epoch milliseconds. */
  readonly time: number;
}

/** Where records of parking are kept: the log. */
export interface ParkingNotes {
  load(view: string): Promise<readonly ParkingRecord[]>;
  /** Resolves when it is durable. */
  write(view: string, record: ParkingRecord): Promise<void>;
}

/** The parking of one view. */
export interface Parking extends PassedOver {
  /** Whether there is anything to pass over. */
  readonly idle: boolean;
  find(urn: string): Parked | undefined;
  /** Number of parked entities. */
  readonly size: number;
  list(): readonly Parked[];
  park(change: { readonly urn: string; readonly position: Position }, error: Error): Promise<void>;
  /** The view has the entity again. */
  release(urn: string): Promise<void>;
  /** The view never takes this record of an entity that is parked. Throws `not_found`. */
  drop(urn: string, at: Position, actor: string | undefined): Promise<void>;
}

const PAGE_MAX = 500;

export async function openParking(
  view: string,
  notes: ParkingNotes,
  now: () => number,
): Promise<Parking> {
  const parked = new Map<string, Parked>();
  const dropped = new Set<Position>();
  const droppedOf = new Set<string>();
  for (const record of await notes.load(view)) take(record);

  function take({ kind, urn, position: place, reason, time }: ParkingRecord): void {
    const at = position(place);
    if (kind === "parked") parked.set(urn, { view, urn, position: at, reason: reason ?? "", time });
    else if (kind === "released") parked.delete(urn);
    else {
      dropped.add(at);
      droppedOf.add(urn);
    }
  }

  async function write(record: Omit<ParkingRecord, "time">): Promise<void> {
    const full = { ...record, time: now() };
    await notes.write(view, full);
    take(full);
  }

  return {
    skips({ urn, position: at }) {
      const from = parked.get(urn)?.position;
      return (from !== undefined && at >= from) || dropped.has(at);
    },
    isDropped: (at) => dropped.has(at),
    hasDropped: (urn) => droppedOf.has(urn),
    get idle() {
      return parked.size === 0 && dropped.size === 0;
    },
    find: (urn) => parked.get(urn),
    get size() {
      return parked.size;
    },
    list: () => [...parked.values()].sort((a, b) => a.position - b.position),
    async park({ urn, position: at }, error) {
      await write({ kind: "parked", urn, position: at, reason: error.message, actor: null });
    },
    async release(urn) {
      const one = parked.get(urn);
      if (one === undefined) return;
      await write({ kind: "released", urn, position: one.position, reason: null, actor: null });
    },
    async drop(urn, at, actor = undefined) {
      if (!parked.has(urn)) throw notParked(view, urn);
      await write({ kind: "dropped", urn, position: at, reason: null, actor: actor ?? null });
    },
  };
}

export type ReadParking = Omit<Parking, "park" | "release" | "drop">;

/** What a view passes over, as the log tells it now: for reading, nothing is noted by it. */
export function parkingNow(log: Pick<ChangeLog, "readStream">, view: string): Promise<ReadParking> {
  const write = () => Promise.reject(new Error("who only reads what is parked notes nothing"));
  return openParking(view, { load: () => readParking(log, view), write }, Date.now);
}

/** The parking of a view that heeds it, where it is fed. */
export async function openParkingOf(
  { name, heed }: Pick<View, "name" | "heed">,
  notes: ParkingNotes,
  now: () => number,
): Promise<Parking> {
  const parking = await openParking(name, notes, now);
  heed?.(parking);
  return parking;
}

/** What a log says of the parking of a view. */
export async function readParking(
  log: Pick<ChangeLog, "readStream">,
  view: string,
): Promise<readonly ParkingRecord[]> {
  const records: ParkingRecord[] = [];
  for (;;) {
    const from = records.length as Parameters<ChangeLog["readStream"]>[1];
    const page = await log.readStream(parkingStream(view), from, { limit: PAGE_MAX });
    if (page.length === 0) return records;
    records.push(...page.map(decodeParking));
  }
}

export async function noteParking(
  log: Pick<ChangeLog, "append">,
  view: string,
  record: ParkingRecord,
): Promise<void> {
  const records = [encodeParking(record)];
  await log.append([{ stream: parkingStream(view), expected: "any", records }]);
}

export const notParked = (view: string, urn: string): CatalogError =>
  new CatalogError("not_found", `"${urn.slice(0, 200)}" is not parked in the view "${view}"`, {
    hint: "POST /operations?action=listParked lists what is",
  });

/** An entity that a record bears on which is not its own cannot be taken. */
export class EntityRefused extends Error {
  readonly urn: string;

  constructor(urn: string, cause: Error) {
    super(cause.message, { cause });
    this.urn = urn;
  }
}

/**
 * Parks an entity and restores its earlier state, which `keep` writes into the view. If the view rejects
 * that, too, the entity is parked from its first record on. If the view still rejects it, the view omits
 * the entity, so that no entity stops the view. `upTo`: position of the checkpoint afterwards.
 */
export async function setAside(
  view: Pick<View, "aside" | "sink">,
  parking: Parking,
  parked: {
    readonly urn: string;
    readonly position: Position;
    readonly error: Error;
    readonly upTo?: Position | undefined;
  },
  keep: () => Promise<void>,
): Promise<void> {
  const { urn, position: at, error, upTo } = parked;
  if (parking.find(urn)?.position !== at) await parking.park({ urn, position: at }, error);
  const poison = await poisonOf(keep);
  if (poison === undefined) return;
  if (view.aside === undefined) throw poison;
  const beginning = await view.aside.beginning(urn);
  if (beginning !== undefined && beginning < at) {
    await parking.park({ urn, position: beginning }, error);
    if ((await poisonOf(keep)) === undefined) return;
  }
  await view.aside.leaveOut(urn);
  if (upTo !== undefined) await view.sink.apply([], upTo);
}

/** The error if the view rejects the entity; undefined if it accepts it. Throws errors of the store. */
async function poisonOf(keep: () => Promise<void>): Promise<Error | undefined> {
  try {
    await keep();
    return undefined;
  } catch (error) {
    if (isPoison(error)) return error;
    throw error;
  }
}

/** Whether an error says something of what was to be written, and not of where. */
export const isPoison = (error: unknown): error is Error =>
  error instanceof Error &&
  !(
    error instanceof CatalogError &&
    ["unavailable", "conflict", "rate_limited"].includes(error.code)
  );
