/**
 * Who does the work of a verification: this thread, and others beside it (verify-hand.ts), each with
 * its own reading connections. What there is to do waits here, and goes to whoever has the least when
 * there is room for it; a thread that has not started yet has none.
 */
import { setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { Entity, Places, VerifiedEntities } from "./verify-entities.ts";
import type { HeldSums } from "./view-rows.ts";

export interface Batch {
  /** Views to fold for, and to compare with. */
  readonly views: readonly string[];
  readonly entities: readonly Entity[];
  readonly places: Places;
  readonly compare: boolean;
}

/** Sums over all rows of a view. */
export interface Summing {
  readonly view: string;
  /** Entities that are in no sum. */
  readonly leftOut: readonly string[];
  /** Neither are those that records after this one are of, up to the state that is read. */
  readonly since: Position | undefined;
}

export interface Summed extends HeldSums {
  /** Which others are in no sum. */
  readonly more: readonly string[];
  /** Whether a record after `since` bears on many entities of the view. */
  readonly bearing: boolean;
}

/** Looking for what no row of a view shows (ViewRows.faults). */
export interface Searching {
  readonly view: string;
  readonly deep: boolean;
}

/** What one thread does. */
export interface Work {
  verify(batch: Batch): Promise<VerifiedEntities>;
  /** Undefined where too many entities would be left out. */
  sum(asked: Summing): Promise<Summed | undefined>;
  faults(asked: Searching): Promise<readonly string[]>;
}

export interface Hands extends Work {
  readonly count: number;
  close(): Promise<void>;
}

export interface HandData {
  /** Address of the module that opens the stores (verify-hand.ts). */
  readonly module: string;
  readonly config: unknown;
  readonly views: readonly string[];
  /** Which editions of them (row-adapters.ts); those in place when absent. */
  readonly beside?: unknown;
}

export type ToHand =
  | "close"
  | { readonly id: number; readonly batch: Batch }
  | { readonly id: number; readonly sum: Summing }
  | { readonly id: number; readonly faults: Searching };

export type FromHand =
  | "started"
  | {
      readonly id: number;
      readonly done: VerifiedEntities | Summed | readonly string[] | undefined;
    }
  | { readonly id: number; readonly failure: { readonly code: string; readonly message: string } };

type Kind = keyof Work;

interface Hand {
  /** How many things it has now, of at most `room`. */
  taken: number;
  room: number;
  /** What it takes before what. */
  readonly order: readonly Kind[];
  readonly work: Work;
  close(): Promise<void>;
}

/** `own`: what this thread does itself. */
export function createHands(own: Work, others: readonly HandData[]): Hands {
  // Others first: this thread has the rest to do besides.
  const hands: readonly Hand[] = [...others.map((data) => startHand(data, deal)), ownHand(own)];
  const waiting: Readonly<Record<Kind, ((work: Work) => Promise<void>)[]>> = {
    sum: [],
    faults: [],
    verify: [],
  };

  function deal(): void {
    const free = hands.filter(({ taken, room }) => taken < room);
    for (const hand of free.sort((one, other) => one.taken - other.taken)) {
      const kind = hand.order.find((one) => waiting[one].length > 0);
      const task = kind && waiting[kind].shift();
      if (task === undefined) return;
      hand.taken++;
      task(hand.work).then(() => {
        hand.taken--;
        deal();
      });
    }
  }

  const ask = <T>(kind: Kind, use: (work: Work) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting[kind].push((work) => use(work).then(resolve, reject));
      deal();
    });

  return {
    count: hands.length,
    verify: (batch) => ask("verify", (work) => work.verify(batch)),
    sum: (asked) => ask("sum", (work) => work.sum(asked)),
    faults: (asked) => ask("faults", (work) => work.faults(asked)),
    async close() {
      for (const hand of hands) await hand.close();
    },
  };
}

/**
 * Before each thing that it does it is heard what others have done: they would wait for more otherwise.
 * Nobody is heard while a file is looked through, so that others do that.
 */
function ownHand(own: Work): Hand {
  const hearing =
    <A, T>(use: (asked: A) => Promise<T>) =>
    async (asked: A) => {
      await turn();
      return use(asked);
    };
  const work = { verify: hearing(own.verify), sum: hearing(own.sum), faults: hearing(own.faults) };
  return { taken: 0, room: 1, order: ["sum", "verify", "faults"], work, close: async () => {} };
}

/** One thing in work and one in waiting: this thread may be long in hearing that it has done one. */
const ROOM = 2;

/** `onStarted`: now it has room. */
function startHand(data: HandData, onStarted: () => void): Hand {
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  let ended: Error | undefined;
  const worker = new Worker(new URL("verify-hand.ts", import.meta.url), {
    workerData: data,
    name: "verify",
  });
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.on("message", (message: FromHand) => {
    if (message === "started") {
      hand.room = ROOM;
      onStarted();
      return;
    }
    const wait = pending.get(message.id);
    pending.delete(message.id);
    if ("failure" in message) wait?.reject(failed(message.failure));
    else wait?.resolve(message.done);
  });
  const fail = (cause: unknown) => {
    ended ??= new CatalogError("unavailable", `verifying ended: ${cause}`, { cause });
    hand.room = 0;
    for (const { reject } of pending.values()) reject(ended);
    pending.clear();
  };
  worker.on("error", fail);
  worker.on("exit", (code) => fail(`a thread exited with code ${code}`));

  type Asked =
    | { readonly batch: Batch }
    | { readonly sum: Summing }
    | { readonly faults: Searching };
  function ask(message: Asked): Promise<unknown> {
    if (ended !== undefined) return Promise.reject(ended);
    const wait = Promise.withResolvers<unknown>();
    pending.set(++last, wait);
    worker.postMessage({ id: last, ...message } satisfies ToHand);
    return wait.promise;
  }

  const hand: Hand = {
    taken: 0,
    room: 0,
    order: ["sum", "faults", "verify"],
    work: {
      verify: async (batch) => (await ask({ batch })) as VerifiedEntities,
      sum: async (sum) => (await ask({ sum })) as Summed | undefined,
      faults: async (faults) => (await ask({ faults })) as readonly string[],
    },
    async close() {
      if (ended === undefined) worker.postMessage("close" satisfies ToHand);
      await exited;
    },
  };
  return hand;
}

const failed = ({ code, message }: { code: string; message: string }): Error =>
  code === "unavailable" ? new CatalogError("unavailable", message) : new Error(message);
