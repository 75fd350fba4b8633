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

export interface QueuedAppend {
  readonly stream: StreamName;
  readonly expected: Revision | "any";
  readonly count: number;
  /** True if no other append to its stream may be in flight. */
  readonly alone: boolean;
  readonly send: () => Promise<Appended>;
  /** The result of an earlier append with the same id. */
  readonly earlier: () => Promise<Appended | undefined>;
  /** The stream's current revision. */
  readonly actual: () => Promise<Revision>;
}

interface AppendQueue {
  /** Settles as `send` does, or rejects with the error of the append that it builds on. */
  enqueue(queued: QueuedAppend): Promise<Appended>;
  /** Call it when the caller of these appends has their result. */
  resultReported(queuedAppends: readonly QueuedAppend[]): void;
  /** Resolves when no append is in flight or waits. */
  idle(): Promise<void>;
}

interface Waiting extends QueuedAppend {
  /** The argument of `enqueue`. */
  readonly queued: QueuedAppend;
  /** Logical time of the call of `enqueue`. */
  readonly enqueuedAt: number;
  readonly resolve: (answer: Appended) => void;
  readonly reject: (error: unknown) => void;
}

interface Lost {
  readonly queued: QueuedAppend;
  /** The revision that it would have reached; undefined: any. */
  readonly revision: number | undefined;
  readonly error: unknown;
  /** Logical time at which its caller had the result; infinite until then. */
  reportedAt: number;
}

interface StreamQueue {
  waiting: Waiting[];
  inFlight: number;
  /** True if the append in flight must be alone. */
  closed: boolean;
  lost: Lost[];
}

/** About 5 MB of names. */
const REACHED_MAX = 30_000;

export function createAppendQueue(): AppendQueue {
  const queues = new Map<StreamName, StreamQueue>();
  const resting = new Set<() => void>();
  /** Revisions that appends of this process reached: an append that builds on them is certain. */
  const reached = new Map<StreamName, number>();
  /** Logical clock: counts the calls of `enqueue` and `resultReported`. */
  let clock = 0;

  const maySend = (queue: StreamQueue, queued: QueuedAppend): boolean =>
    queue.inFlight === 0 || (!queue.closed && !queued.alone && queued.expected === "any");

  function start(queue: StreamQueue, queued: Waiting): void {
    const lost = lostPredecessor(queue, queued, reached.get(queued.stream));
    queue.inFlight++;
    queue.closed = queued.alone || queued.expected !== "any";
    const sending = lost === undefined ? queued.send() : rejectUnlessRepeated(queued, lost.error);
    sending.then(
      (answer) => {
        recordReached(queued.stream, answer.revision);
        queued.resolve(answer);
        finished(queue, queued.stream);
      },
      (error) => {
        recordLost(queue, queued, error);
        queued.reject(error);
        finished(queue, queued.stream);
      },
    );
  }

  function finished(queue: StreamQueue, stream: StreamName): void {
    queue.inFlight--;
    if (queue.inFlight === 0) queue.closed = false;
    for (let next = queue.waiting[0]; next !== undefined && maySend(queue, next); ) {
      queue.waiting.shift();
      start(queue, next);
      next = queue.waiting[0];
    }
    dropIfEmpty(queue, stream);
  }

  function dropIfEmpty(queue: StreamQueue, stream: StreamName): void {
    if (queue.lost.length > 0) {
      // An append that was issued before the result may still wait.
      const [first] = queue.waiting;
      queue.lost = queue.lost.filter(({ reportedAt }) => reportedAt > (first?.enqueuedAt ?? clock));
    }
    if (queue.inFlight > 0 || queue.waiting.length > 0 || queue.lost.length > 0) return;
    queues.delete(stream);
    if (queues.size > 0) return;
    for (const resolve of resting) resolve();
    resting.clear();
  }

  function recordLost(queue: StreamQueue, { queued }: Waiting, error: unknown): void {
    const { expected, count } = queued;
    const revision = expected === "any" ? undefined : expected + count;
    queue.lost.push({ queued, revision, error, reportedAt: Number.POSITIVE_INFINITY });
  }

  function recordReached(stream: StreamName, revision: number): void {
    const before = reached.get(stream) ?? -1;
    // Inserted again: the oldest entry is evicted first.
    reached.delete(stream);
    reached.set(stream, Math.max(before, revision));
    if (reached.size <= REACHED_MAX) return;
    const [oldest] = reached.keys();
    if (oldest !== undefined) reached.delete(oldest);
  }

  return {
    enqueue(queued) {
      return new Promise((resolve, reject) => {
        let queue = queues.get(queued.stream);
        if (queue === undefined) {
          queue = { waiting: [], inFlight: 0, closed: false, lost: [] };
          queues.set(queued.stream, queue);
        }
        const waiting = { ...queued, queued, enqueuedAt: ++clock, resolve, reject };
        if (queue.waiting.length === 0 && maySend(queue, queued)) start(queue, waiting);
        else queue.waiting.push(waiting);
      });
    },

    resultReported(queuedAppends) {
      clock++;
      for (const queued of queuedAppends) {
        const queue = queues.get(queued.stream);
        if (queue === undefined) continue;
        for (const lost of queue.lost) if (lost.queued === queued) lost.reportedAt = clock;
        dropIfEmpty(queue, queued.stream);
      }
    },

    idle() {
      if (queues.size === 0) return Promise.resolve();
      return new Promise((resolve) => resting.add(resolve));
    },
  };
}

/** The lost append that an append builds on, if it was issued before the result of the lost one. */
function lostPredecessor(
  queue: StreamQueue,
  { expected, enqueuedAt }: Waiting,
  reached: number | undefined,
): Lost | undefined {
  if (expected === "any" || reached === expected) return undefined;
  return queue.lost.find(
    ({ reportedAt, revision }) =>
      enqueuedAt < reportedAt && (revision === undefined || revision === expected),
  );
}

/**
 * Resolves a repeated append with its earlier result. Otherwise rejects with the stream's revision, or
 * with the error itself if that revision is the expected one by accident.
 */
async function rejectUnlessRepeated(queued: Waiting, error: unknown): Promise<Appended> {
  const { stream, expected } = queued;
  const earlier = await queued.earlier();
  if (earlier !== undefined) return earlier;
  if (!(error instanceof WrongRevision) || expected === "any") throw error;
  const actual = await queued.actual();
  throw actual === expected ? error : new WrongRevision(stream, expected, actual);
}
