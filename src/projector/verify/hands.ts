/**
 * Who verifies batches of entities: this thread, and others beside it (verify-hand.ts), each with
 * its own reading connections. A batch goes to whoever has the least to do.
 */
import { Worker } from "node:worker_threads";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { Entity, VerifiedEntities } from "./verify-entities.ts";

export interface Batch {
  /** Views to compare with. */
  readonly views: readonly string[];
  readonly entities: readonly Entity[];
  readonly sizesAt: Readonly<Record<string, readonly Position[]>>;
}

export interface Hands {
  readonly count: number;
  verify(batch: Batch): Promise<VerifiedEntities>;
  close(): Promise<void>;
}

export interface HandData {
  /** Address of the module that opens the stores (verify-hand.ts). */
  readonly module: string;
  readonly config: unknown;
  readonly views: readonly string[];
}

export type ToHand = "close" | { readonly id: number; readonly batch: Batch };

export type FromHand =
  | { readonly id: number; readonly done: VerifiedEntities }
  | { readonly id: number; readonly failure: { readonly code: string; readonly message: string } };

interface Hand {
  waiting: number;
  verify(batch: Batch): Promise<VerifiedEntities>;
  close(): Promise<void>;
}

/** `own`: what this thread does itself. */
export function createHands(
  own: (batch: Batch) => Promise<VerifiedEntities>,
  others: readonly HandData[],
): Hands {
  const hands: readonly Hand[] = [
    { waiting: 0, verify: own, close: async () => {} },
    ...others.map(startHand),
  ];
  return {
    count: hands.length,
    async verify(batch) {
      const hand = hands.reduce((least, one) => (one.waiting < least.waiting ? one : least));
      hand.waiting++;
      try {
        return await hand.verify(batch);
      } finally {
        hand.waiting--;
      }
    },
    async close() {
      for (const hand of hands) await hand.close();
    },
  };
}

function startHand(data: HandData): Hand {
  const pending = new Map<number, PromiseWithResolvers<VerifiedEntities>>();
  let last = 0;
  let ended: Error | undefined;
  const worker = new Worker(new URL("verify-hand.ts", import.meta.url), {
    workerData: data,
    name: "verify",
  });
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.on("message", (message: FromHand) => {
    const wait = pending.get(message.id);
    pending.delete(message.id);
    if ("done" in message) wait?.resolve(message.done);
    else wait?.reject(failed(message.failure));
  });
  const fail = (cause: unknown) => {
    ended ??= new CatalogError("unavailable", `verifying ended: ${cause}`, { cause });
    for (const { reject } of pending.values()) reject(ended);
    pending.clear();
  };
  worker.on("error", fail);
  worker.on("exit", (code) => fail(`a thread exited with code ${code}`));
  return {
    waiting: 0,
    verify(batch) {
      if (ended !== undefined) return Promise.reject(ended);
      const wait = Promise.withResolvers<VerifiedEntities>();
      pending.set(++last, wait);
      worker.postMessage({ id: last, batch } satisfies ToHand);
      return wait.promise;
    },
    async close() {
      if (ended === undefined) worker.postMessage("close" satisfies ToHand);
      await exited;
    },
  };
}

const failed = ({ code, message }: { code: string; message: string }): Error =>
  code === "unavailable" ? new CatalogError("unavailable", message) : new Error(message);
