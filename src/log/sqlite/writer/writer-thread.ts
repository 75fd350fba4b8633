/**
 * The thread that owns the log's write connection. It reports when the file is open, takes one batch
 * or one step of scavenging at a time, responds when it is on disk, then runs checkpoints. On a close
 * message it closes the file, confirms and ends.
 */
import { BroadcastChannel, parentPort, workerData } from "node:worker_threads";
import { assert, CatalogError, messageOf } from "../../../core/errors.ts";
import { collectGarbage, GARBAGE_BYTES } from "../../../lib/collect-garbage.ts";
import { closeWriter } from "../../../storage/sqlite/close-writer.ts";
import { watchIdentity } from "../file-identity.ts";
import { createIndexState } from "../indexes/index-state.ts";
import { wakeChannelName } from "../notify.ts";
import { openForWriting } from "../schema.ts";
import type { FromWriter, ToWriter } from "./batch.ts";
import { createBatchWriter, MayBeKept } from "./batch-writer.ts";
import { createCheckpointer } from "./checkpoint.ts";
import { createScavenger } from "./scavenger.ts";
import { createTailCut } from "./truncate-wal.ts";

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

const post = (message: FromWriter): void => port.postMessage(message);

port.on("message", (message: ToWriter) => {
  if ("close" in message) {
    readers.close();
    closeWriter(database, file);
    post({ closed: true });
    port.close();
    return;
  }
  try {
    const replacement = replaced();
    if (replacement !== undefined) throw replacement;
    if ("calls" in message) {
      post(writeBatch(message));
      if (message.data.length > GARBAGE_BYTES) collectGarbage();
      readers.postMessage(null);
    } else post({ scavenged: scavenge(message) });
  } catch (error) {
    const hint = error instanceof CatalogError ? error.hint : undefined;
    post({ failure: messageOf(error), mayBeKept: error instanceof MayBeKept, hint });
  }
  try {
    checkpoint();
  } catch {
    // The records are durable in the write-ahead log; the next batch reports a lasting error.
  }
});

post({ opened: true });
