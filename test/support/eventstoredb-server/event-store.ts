/**
 * The storage of the EventStoreDB protocol double: streams, $all, and the rules by which a server
 * appends, repeats, truncates and deletes. In memory. It answers as an EventStoreDB 24.10 server was
 * observed to answer; test/adapter/eventstoredb-double.test.ts has one test for each observation.
 */

export type Expected = number | "any" | "stream_exists" | "no_stream";

export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export interface StoredEvent extends ProposedEvent {
  readonly stream: string;
  readonly revision: number;
  /** Position of its record. */
  readonly position: number;
  /** Position of the next record. */
  readonly end: number;
  /** Epoch milliseconds. */
  readonly time: number;
}

export type AppendResult =
  | { readonly outcome: "appended"; readonly revision: number; readonly position: number }
  | { readonly outcome: "wrong_revision"; readonly actual: number }
  | { readonly outcome: "deleted" };

interface Stream {
  events: StoredEvent[];
  /** Revision of the next event. */
  next: number;
  truncateBefore: number;
  countMax: number;
  tombstoned: boolean;
}

export interface EventStore {
  append(stream: string, expected: Expected, events: readonly ProposedEvent[]): AppendResult;
  /** Undefined for an absent or deleted stream; empty when all of its events are truncated. */
  readStream(stream: string): readonly StoredEvent[] | "tombstoned" | undefined;
  /** In the order of positions. */
  readonly all: readonly StoredEvent[];
  /** Position of the next record. */
  end(): number;
  /** True at the log's start, and where a record begins or began (scavenged ones included). */
  isPosition(at: number): boolean;
  /** The events are removed; revisions continue when the stream is written again. */
  delete(stream: string, expected: Expected): AppendResult;
  tombstone(stream: string, expected: Expected): AppendResult;
  /** Removes truncated events from $all. */
  scavenge(): void;
  /** The content of a backup at this time. */
  copy(): EventStore;
  /** Forgets event ids, as a server does after a while. */
  forgetIds(): void;
  /** Calls when events were added, until the returned function is called. */
  listen(listener: () => void): () => void;
}

/** Index of the first event at or after a position. */
export function indexAt(events: readonly StoredEvent[], position: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.position ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `$tb` of a deleted stream. */
const NEVER = Number.MAX_SAFE_INTEGER;
/** Position of the first record after the server's own ones. */
const FIRST_POSITION = 546;
/** After so many appends the server writes an event of its own. */
const STATISTICS_EVERY = 7;
const NO_BYTES = new Uint8Array();

interface State {
  readonly all: StoredEvent[];
  readonly streams: Map<string, Stream>;
  readonly ids: Map<string, StoredEvent>;
  readonly positions: Set<number>;
  readonly end: number;
  readonly appends: number;
}

export function createEventStore(backup?: State): EventStore {
  const all: StoredEvent[] = backup?.all ?? [];
  const streams = backup?.streams ?? new Map<string, Stream>();
  const ids = backup?.ids ?? new Map<string, StoredEvent>();
  const listeners = new Set<() => void>();
  const positions = backup?.positions ?? new Set<number>([0]);
  let end = backup?.end ?? FIRST_POSITION;
  let appends = backup?.appends ?? 0;

  const find = (name: string): Stream | undefined => streams.get(name);
  const lastOf = (stream: Stream | undefined): number => (stream?.next ?? 0) - 1;
  const softDeleted = (stream: Stream | undefined): boolean => stream?.truncateBefore === NEVER;

  function visible({ events, truncateBefore, countMax, next }: Stream): readonly StoredEvent[] {
    const first = Math.max(truncateBefore, next - countMax);
    return first <= 0 ? events : events.slice(first);
  }

  function write(name: string, proposed: readonly ProposedEvent[]): StoredEvent | undefined {
    let stream = find(name);
    if (stream === undefined) {
      stream = { events: [], next: 0, truncateBefore: 0, countMax: NEVER, tombstoned: false };
      streams.set(name, stream);
    }
    // A deleted stream that is written again has its new events only.
    if (softDeleted(stream)) stream.truncateBefore = stream.next;
    let last: StoredEvent | undefined;
    for (const event of proposed) {
      const size = 64 + event.data.length + event.metadata.length + 2 * name.length;
      last = {
        ...event,
        stream: name,
        revision: stream.next++,
        position: end,
        end: end + size,
        time: Date.now(),
      };
      positions.add(last.position);
      end += size;
      stream.events.push(last);
      all.push(last);
      ids.set(event.id, last);
      if (name.startsWith("$$")) follow(name.slice(2), event.data);
    }
    return last;
  }

  /** Metadata of a stream that was just written. */
  function follow(name: string, data: Uint8Array): void {
    const metadata = JSON.parse(Buffer.from(data).toString()) as Record<string, number>;
    const stream = find(name);
    if (stream === undefined) return;
    stream.truncateBefore = metadata.$tb ?? 0;
    stream.countMax = metadata.$maxCount ?? NEVER;
  }

  const own = (stream: string, type: string, data: object): void => {
    write(stream, [
      {
        id: crypto.randomUUID(),
        type,
        contentType: "application/json",
        data: Buffer.from(JSON.stringify(data)),
        metadata: NO_BYTES,
      },
    ]);
  };

  /** The event with an id, in the stream at a revision (or anywhere). */
  function known(name: string, id: string, revision?: number): StoredEvent | undefined {
    if (revision !== undefined) {
      const event = find(name)?.events[revision];
      return event?.id === id ? event : undefined;
    }
    const event = ids.get(id);
    return event?.stream === name ? event : undefined;
  }

  /** Undefined if the events may be written. */
  function verdict(
    name: string,
    expected: Expected,
    events: readonly ProposedEvent[],
  ): AppendResult | undefined {
    const stream = find(name);
    const actual = lastOf(stream);
    if (stream?.tombstoned) return { outcome: "deleted" };
    const wrong = { outcome: "wrong_revision", actual } as const;
    if (expected === "stream_exists") return actual < 0 || softDeleted(stream) ? wrong : undefined;
    const at = expected === "no_stream" ? -1 : expected;
    if (at !== "any" && at > actual) return wrong;
    if (at === actual) return undefined;
    // A repetition if the stream has all of them; rejected if it has some.
    const found = events.map(({ id }, i) => known(name, id, at === "any" ? undefined : at + 1 + i));
    const last = found.at(-1);
    if (found.every((each) => each !== undefined) && last !== undefined) {
      return { outcome: "appended", revision: last.revision, position: last.position };
    }
    if (found.some((each) => each !== undefined)) return wrong;
    if (at === "any" || (at === -1 && softDeleted(stream))) return undefined;
    return wrong;
  }

  function notify(): void {
    if (++appends % STATISTICS_EVERY === 0) own("$stats-test", "$statsCollected", { appends });
    for (const listener of listeners) listener();
  }

  if (backup === undefined) {
    own("$users", "$User", { name: "admin" });
    own("$$$stats-test", "$metadata", { $maxCount: 2 });
  }

  return {
    all,
    end: () => end,
    isPosition: (at) => positions.has(at),

    append(name, expected, events) {
      const empty = events.length === 0 && find(name)?.tombstoned !== true;
      const judged = empty ? undefined : verdict(name, expected, events);
      if (judged !== undefined) return judged;
      const last = empty ? undefined : write(name, events);
      if (!empty) notify();
      const revision = last?.revision ?? lastOf(find(name));
      return { outcome: "appended", revision, position: last?.position ?? end };
    },

    readStream(name) {
      const stream = find(name);
      if (stream?.tombstoned) return "tombstoned";
      if (stream === undefined || softDeleted(stream)) return undefined;
      return visible(stream);
    },

    delete(name, expected) {
      const judged = verdict(name, expected, []);
      if (judged !== undefined) return judged;
      own(`$$${name}`, "$metadata", { $tb: NEVER });
      notify();
      return { outcome: "appended", revision: lastOf(find(name)), position: end };
    },

    tombstone(name, expected) {
      const judged = verdict(name, expected, []);
      if (judged !== undefined) return judged;
      own(name, "$streamDeleted", {});
      const stream = find(name);
      if (stream !== undefined) stream.tombstoned = true;
      notify();
      return { outcome: "appended", revision: lastOf(stream), position: end };
    },

    scavenge() {
      const kept = all.filter(({ stream: name, revision }) => {
        const stream = find(name);
        if (stream === undefined || stream.tombstoned) return stream?.next === revision + 1;
        const [first] = softDeleted(stream) ? [] : visible(stream);
        return first === undefined ? false : revision >= first.revision;
      });
      all.splice(0, all.length, ...kept);
    },

    copy: () =>
      createEventStore({
        ...{ all: [...all], ids: new Map(ids), positions: new Set(positions), end, appends },
        streams: new Map(
          [...streams].map(([name, stream]) => [name, { ...stream, events: [...stream.events] }]),
        ),
      }),

    forgetIds: () => ids.clear(),

    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
