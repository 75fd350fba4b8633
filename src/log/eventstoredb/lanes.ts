/**
 * Who may be in flight beside whom, stream by stream. Appends of different streams fly side by side,
 * as do those of one stream that expect no revision.
 *
 * An append that names a revision waits for those before it to its stream. Sent at once it could
 * be taken for what it is not: when the one it stands on loses against another writer, that
 * writer's record lies just where its own was expected, and the revision is right by accident. So
 * it is sent when the ground it stands on is known, and refused when that was lost.
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
  /** Nothing else of its stream may be in flight, whatever it expects. */
  readonly alone: boolean;
  readonly fly: () => Promise<Appended>;
  /** What the append was answered when it was made before. */
  readonly earlier: () => Promise<Appended | undefined>;
  /** Where the stream is. */
  readonly actual: () => Promise<Revision>;
}

export interface Lanes {
  /** Resolves or rejects as the flight does, or rejects when what it stands on was lost. */
  board(passenger: Passenger): Promise<Appended>;
  /** Resolves when nothing flies or waits. */
  idle(): Promise<void>;
}

interface Waiting extends Passenger {
  readonly turn: number;
  readonly resolve: (answer: Appended) => void;
  readonly reject: (error: unknown) => void;
}

interface Lost {
  /** Where the stream would have been after it; undefined: wherever. */
  readonly revision: number | undefined;
  readonly turn: number;
  readonly error: unknown;
}

interface Lane {
  waiting: Waiting[];
  flying: number;
  /** Whether what flies must be alone. */
  closed: boolean;
  lost: Lost[];
}

/** Some 5 MB of names. */
const REACHED_MAX = 30_000;

export function createLanes(): Lanes {
  const lanes = new Map<StreamName, Lane>();
  const resting = new Set<() => void>();
  /** Where our own appends took streams lately: that ground is certain. */
  const reached = new Map<StreamName, number>();
  /** Who boards in a turn cannot have heard yet of what was lost in it. */
  let turn = 0;

  const mayFly = (lane: Lane, passenger: Passenger): boolean =>
    lane.flying === 0 || (!lane.closed && !passenger.alone && passenger.expected === "any");

  function start(lane: Lane, passenger: Waiting): void {
    const lost = groundLost(lane, passenger, reached.get(passenger.stream));
    lane.flying++;
    lane.closed = passenger.alone || passenger.expected !== "any";
    const flight = lost === undefined ? passenger.fly() : refuse(passenger, lost);
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
      // Those that wait since before may still stand on it.
      const since = Math.min(turn, ...lane.waiting.map((each) => each.turn));
      lane.lost = lane.lost.filter((each) => each.turn >= since);
    }
    if (lane.flying > 0 || lane.waiting.length > 0 || lane.lost.length > 0) return;
    lanes.delete(stream);
    if (lanes.size > 0) return;
    for (const resolve of resting) resolve();
    resting.clear();
  }

  function noteLost(lane: Lane, { stream, expected, count }: Passenger, error: unknown): void {
    const revision = expected === "any" ? undefined : expected + count;
    lane.lost.push({ revision, turn, error });
    setImmediate(() => {
      turn++;
      leave(lane, stream);
    });
  }

  function noteReached(stream: StreamName, revision: number): void {
    const before = reached.get(stream) ?? -1;
    // Put in anew, so that the one that was put in longest ago goes first.
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
        const waiting = { ...passenger, turn, resolve, reject };
        if (lane.waiting.length === 0 && mayFly(lane, passenger)) start(lane, waiting);
        else lane.waiting.push(waiting);
      });
    },

    idle() {
      if (lanes.size === 0) return Promise.resolve();
      return new Promise((resolve) => resting.add(resolve));
    },
  };
}

/** Why an append must fail whose ground may be an append that failed. */
function groundLost(lane: Lane, passenger: Waiting, reached: number | undefined): unknown {
  const { expected } = passenger;
  if (expected === "any" || reached === expected) return undefined;
  const lost = lane.lost.find(
    (each) =>
      each.turn >= passenger.turn && (each.revision === undefined || each.revision === expected),
  );
  return lost?.error;
}

/** As the server would have refused it, had it come to know. */
async function refuse(passenger: Waiting, lost: unknown): Promise<Appended> {
  const { stream, expected } = passenger;
  const earlier = await passenger.earlier();
  if (earlier !== undefined) return earlier;
  if (!(lost instanceof WrongRevision) || expected === "any") throw lost;
  throw new WrongRevision(stream, expected, await passenger.actual());
}
