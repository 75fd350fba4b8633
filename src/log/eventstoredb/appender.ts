/**
 * Appends records: one append on the server for each stream of a call. append-queue.ts orders the appends of
 * a stream; append-session.ts sends them, and finds them again if a response was lost.
 */
import type { StreamName } from "../../core/stream.ts";
import { type Append, type Appended, WrongRevision } from "../change-log.ts";
import { checkAppend } from "../check-arguments.ts";
import { createAppendQueue, type QueuedAppend } from "./append-queue.ts";
import type { AppendSession, Draft } from "./append-session.ts";
import { appendTooLarge } from "./errors.ts";
import { eventIds, eventType, serverName } from "./events.ts";
import type { LogReader } from "./log-reader.ts";

interface Parts {
  readonly session: Pick<AppendSession, "send">;
  readonly reader: Pick<LogReader, "findAppend" | "lastRevision" | "note">;
  /** Prefix of the log's streams on the server. */
  readonly prefix: string;
  /** The server's maximum. */
  readonly appendBytesMax: number;
}

interface Appender {
  /**
   * As ChangeLog.append. An append that one stream rejects does not stop the others. Throws `too_large`
   * before anything is sent.
   */
  append(appends: readonly Append[]): Promise<readonly Appended[]>;
  /** Resolves when no append is in flight. */
  idle(): Promise<void>;
}

export function createAppender({ session, reader, prefix, appendBytesMax }: Parts): Appender {
  const queues = createAppendQueue();

  function draftOf(append: Append): Draft {
    checkAppend(append);
    const { stream, expected, records, id } = append;
    const name = serverName(prefix, stream);
    const type = eventType(stream);
    // The server counts the bytes like this.
    const bytes = records.reduce((sum, each) => sum + each.length + 2 * type.length, 0);
    if (bytes > appendBytesMax) throw appendTooLarge(stream, bytes, appendBytesMax);
    const ids = eventIds(name, id, records.length);
    return { stream, name, expected, eventIds: ids, type, records, bytes };
  }

  function queuedAppendOf({ id }: Append, draft: Draft): QueuedAppend {
    const earlier = async (): Promise<Appended | undefined> =>
      id && reader.findAppend(draft.stream, id);
    return {
      stream: draft.stream,
      expected: draft.expected,
      count: draft.records.length,
      alone: id !== undefined,
      earlier,
      actual: () => reader.lastRevision(draft.stream),
      send: id === undefined ? () => session.send(draft) : () => sendOnce(draft, earlier),
    };
  }

  async function sendOnce(
    draft: Draft,
    earlier: () => Promise<Appended | undefined>,
  ): Promise<Appended> {
    const before = await earlier();
    if (before !== undefined) return before;
    try {
      return await session.send(draft);
    } catch (error) {
      // Another node may have appended it meanwhile.
      const found = error instanceof WrongRevision ? await earlier() : undefined;
      if (found === undefined) throw error;
      return found;
    }
  }

  function append(appends: readonly Append[]): Promise<readonly Appended[]> {
    // Checks all appends before it sends any.
    const queuedAppends = appends.map((append) => queuedAppendOf(append, draftOf(append)));
    const answer = sendAll(appends, queuedAppends);
    // Attached first, so that it runs before the caller's own handlers.
    answer.catch(() => queues.resultReported(queuedAppends));
    return answer;
  }

  async function sendAll(
    appends: readonly Append[],
    queuedAppends: readonly QueuedAppend[],
  ): Promise<readonly Appended[]> {
    const outcomes = await Promise.allSettled(queuedAppends.map(queues.enqueue));
    const appended: Appended[] = [];
    const byStream = new Map<StreamName, Appended>();
    const failures: unknown[] = [];
    for (const [n, outcome] of outcomes.entries()) {
      if (outcome.status === "rejected") {
        failures.push(outcome.reason);
        continue;
      }
      reader.note(outcome.value.position);
      appended.push(outcome.value);
      byStream.set(appends[n]?.stream ?? "", outcome.value);
    }
    if (failures.length > 0) throw failureOf(failures, byStream);
    return appended;
  }

  return { append, idle: queues.idle };
}

/** If the result of any append is unknown, the error is not a WrongRevision, which callers decide on. */
function failureOf(
  failures: readonly unknown[],
  appended: ReadonlyMap<StreamName, Appended>,
): unknown {
  const unknown = failures.find((failure) => !(failure instanceof WrongRevision));
  const [lost] = failures;
  if (unknown !== undefined || !(lost instanceof WrongRevision)) return unknown;
  return new WrongRevision(lost.stream, lost.expected, lost.actual, appended);
}
