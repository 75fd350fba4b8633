/**
 * The order of appends, stream by stream. Appends to different streams are in flight at the same
 * time, as are those to one stream that expect any revision.
 *
 * An append that expects a revision waits for the results of earlier appends to its stream. Sent at
 * once, it could succeed by accident: if the append that it builds on loses a race, the other writer's
 * record has the expected revision. After a lost append, later appends are rejected with its error if
 * they expect the revision that it would have reached, and were issued before its caller had the
 * result. An append that is issued after the result is sent, because its caller could consider it.
 *
 * An append with an id waits likewise: its stream is searched for the id before it is sent.
 */
import type { Revision } from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import { type Appended, WrongRevision } from "../change-log.ts";

export interface Passenger {
  readonly stream: StreamName;
  readonly expected: Revision | "any";
  readonly count: number;
  /** True if no other append to its stream may be in flight. */
  readonly alone: boolean;
  readonly fly: () => Promise<Appended>;
  /** The result of an earlier append with the same id. */
  readonly earlier: () => Promise<Appended | undefined>;
  /** The stream's current revision. */
  readonly actual: () => Promise<Revision>;
}

export interface Lanes {
  /** Settles as `fly` does, or rejects with the error of the append that it builds on. */
  board(passenger: Passenger): Promise<Appended>;
  /** Call it when the caller of these appends has their result. */
  answered(passengers: readonly Passenger[]): void;
  /** Resolves when no append is in flight or waits. */
  idle(): Promise<void>;
}

interface Waiting extends Passenger {
  /** The argument of `board`. */
  readonly passenger: Passenger;
  /** Logical time of the call of `board`. */
  readonly boarded: number;
  readonly resolve: (answer: Appended) => void;
  readonly reject: (error: unknown) => void;
}

interface Lost {
  readonly passenger: Passenger;
  /** The revision that it would have reached; undefined: any. */
  readonly revision: number | undefined;
  readonly error: unknown;
  /** Logical time at which its caller had the result; infinite until then. */
  answered: number;
}

interface Lane {
  waiting: Waiting[];
  flying: number;
  /** True if the append in flight must be alone. */
  closed: boolean;
  lost: Lost[];
}

/** About 5 MB of names. */
const REACHED_MAX = 30_000;

export function createLanes(): Lanes {
  const lanes = new Map<StreamName, Lane>();
  const resting = new Set<() => void>();
  /** Revisions that appends of this process reached: an append that builds on them is certain. */
  const reached = new Map<StreamName, number>();
  /** Logical clock: counts the calls of `board` and `answered`. */
  let clock = 0;

  const mayFly = (lane: Lane, passenger: Passenger): boolean =>
    lane.flying === 0 || (!lane.closed && !passenger.alone && passenger.expected === "any");

  function start(lane: Lane, passenger: Waiting): void {
    const lost = groundLost(lane, passenger, reached.get(passenger.stream));
    lane.flying++;
    lane.closed = passenger.alone || passenger.expected !== "any";
    const flight = lost === undefined ? passenger.fly() : refuse(passenger, lost.error);
    flight.then(
      (answer) => {
        noteReached(passenger.stream, answer.revision);
        passenger.resolve(answer);
        landed(lane, passenger.stream);
      },
      (error) => {
        noteLost(lane, passenger, error);
        passenger.reject(error);
        landed(lane, passenger.stream);
      },
    );
  }

  function landed(lane: Lane, stream: StreamName): void {
    lane.flying--;
    if (lane.flying === 0) lane.closed = false;
    for (let next = lane.waiting[0]; next !== undefined && mayFly(lane, next); ) {
      lane.waiting.shift();
      start(lane, next);
      next = lane.waiting[0];
    }
    leave(lane, stream);
  }

  function leave(lane: Lane, stream: StreamName): void {
    if (lane.lost.length > 0) {
      // An append that was issued before the result may still wait.
      const [first] = lane.waiting;
      lane.lost = lane.lost.filter(({ answered }) => answered > (first?.boarded ?? clock));
    }
    if (lane.flying > 0 || lane.waiting.length > 0 || lane.lost.length > 0) return;
    lanes.delete(stream);
    if (lanes.size > 0) return;
    for (const resolve of resting) resolve();
    resting.clear();
  }

  function noteLost(lane: Lane, { passenger }: Waiting, error: unknown): void {
    const { expected, count } = passenger;
    const revision = expected === "any" ? undefined : expected + count;
    lane.lost.push({ passenger, revision, error, answered: Number.POSITIVE_INFINITY });
  }

  function noteReached(stream: StreamName, revision: number): void {
    const before = reached.get(stream) ?? -1;
    // Inserted again: the oldest entry is evicted first.
    reached.delete(stream);
    reached.set(stream, Math.max(before, revision));
    if (reached.size <= REACHED_MAX) return;
    const [oldest] = reached.keys();
    if (oldest !== undefined) reached.delete(oldest);
  }

  return {
    board(passenger) {
      return new Promise((resolve, reject) => {
        let lane = lanes.get(passenger.stream);
        if (lane === undefined) {
          lane = { waiting: [], flying: 0, closed: false, lost: [] };
          lanes.set(passenger.stream, lane);
        }
        const waiting = { ...passenger, passenger, boarded: ++clock, resolve, reject };
        if (lane.waiting.length === 0 && mayFly(lane, passenger)) start(lane, waiting);
        else lane.waiting.push(waiting);
      });
    },

    answered(passengers) {
      clock++;
      for (const passenger of passengers) {
        const lane = lanes.get(passenger.stream);
        if (lane === undefined) continue;
        for (const lost of lane.lost) if (lost.passenger === passenger) lost.answered = clock;
        leave(lane, passenger.stream);
      }
    },

    idle() {
      if (lanes.size === 0) return Promise.resolve();
      return new Promise((resolve) => resting.add(resolve));
    },
  };
}

/** The lost append that an append builds on, if it was issued before the result of the lost one. */
function groundLost(
  lane: Lane,
  { expected, boarded }: Waiting,
  reached: number | undefined,
): Lost | undefined {
  if (expected === "any" || reached === expected) return undefined;
  return lane.lost.find(
    ({ answered, revision }) =>
      boarded < answered && (revision === undefined || revision === expected),
  );
}

/**
 * Resolves a repeated append with its earlier result. Otherwise rejects with the stream's revision, or
 * with the error itself if that revision is the expected one by accident.
 */
async function refuse(passenger: Waiting, error: unknown): Promise<Appended> {
  const { stream, expected } = passenger;
  const earlier = await passenger.earlier();
  if (earlier !== undefined) return earlier;
  if (!(error instanceof WrongRevision) || expected === "any") throw error;
  const actual = await passenger.actual();
  throw actual === expected ? error : new WrongRevision(stream, expected, actual);
}
