/**
 * The thread that owns the log's write connection (writer-client.ts). It notifies the client when the
 * file is open. It writes one batch or one step of scavenging at a time, replies when it is on disk,
 * then runs checkpoints.
 */
import { BroadcastChannel, parentPort, workerData } from "node:worker_threads";
import { assert, CatalogError, messageOf } from "../../../core/errors.ts";
import { connect } from "../../../core/thread-calls.ts";
import { collectGarbage, GARBAGE_BYTES } from "../../../lib/collect-garbage.ts";
import { closeWriter } from "../../../storage/sqlite/close-writer.ts";
import type { Scavenged } from "../../change-log.ts";
import { watchIdentity } from "../file-identity.ts";
import { createIndexState } from "../indexes/index-state.ts";
import { wakeChannelName } from "../notify.ts";
import { openForWriting } from "../schema.ts";
import type { Batch, BatchReply, ScavengeStep } from "./batch.ts";
import { createBatchWriter, MayBeKept } from "./batch-writer.ts";
import { createCheckpointer } from "./checkpoint.ts";
import { createScavenger } from "./scavenger.ts";
import { createTailCut } from "./truncate-wal.ts";
import { MAY_BE_WRITTEN, NOT_WRITTEN, unscavenged, unwritten } from "./writer-errors.ts";

assert(parentPort !== null, "the writer is a thread");
const port = parentPort;
const { file, indexState } = workerData as {
  readonly file: string;
  readonly indexState: SharedArrayBuffer;
};

const database = openForWriting(file);
const replaced = watchIdentity(file);
const writeBatch = createBatchWriter(database, {
  cutTail: createTailCut(file, database),
  indexes: createIndexState(file, indexState),
});
const scavenge = createScavenger(database);
const checkpoint = createCheckpointer(database);
const readers = new BroadcastChannel(wakeChannelName(file));

// The garbage of the start.
collectGarbage();

/** Bytes of the last batch. */
let bytesWritten = 0;

/** Called after the reply is sent. */
function finish(): void {
  if (bytesWritten > GARBAGE_BYTES) collectGarbage();
  bytesWritten = 0;
  try {
    checkpoint();
  } catch {
    // The records are durable in the write-ahead log; the next batch reports a lasting error.
  }
}

const methods = {
  append(batch: Batch): BatchReply {
    // Microtasks run between the reply and the next call.
    queueMicrotask(finish);
    try {
      requireSameFile();
      const reply = writeBatch(batch);
      bytesWritten = batch.data.length;
      readers.postMessage(null);
      return reply;
    } catch (error) {
      throw unwritten(file, messageOf(error), hintOf(error));
    }
  },
  scavenge(step: ScavengeStep): Scavenged {
    queueMicrotask(finish);
    try {
      requireSameFile();
      return scavenge(step);
    } catch (error) {
      throw unscavenged(file, messageOf(error));
    }
  },
  close(): void {
    setImmediate(() => port.close());
    readers.close();
    closeWriter(database, file);
  },
};

function requireSameFile(): void {
  const replacement = replaced();
  if (replacement !== undefined) throw replacement;
}

function hintOf(error: unknown): string {
  if (error instanceof MayBeKept) return MAY_BE_WRITTEN;
  return (error instanceof CatalogError ? error.hint : undefined) ?? NOT_WRITTEN;
}

export type WriterMethods = typeof methods;
export type WriterOwner = { readonly opened: () => void };

connect<WriterOwner>(port, methods).notify("opened", undefined);
