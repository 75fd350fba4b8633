/**
 * Sends appends over one streaming call to the server, in order. Each gets one result: appended,
 * rejected by the server, or unavailable after a timeout.
 *
 * When the call breaks (connection lost, new leader, timeout), all appends without a result are sent
 * again over the next call, in the same order and with the same event ids. The server repeats its
 * first result for events that it already has. It guarantees that only for appends with an expected
 * revision; other appends are first searched for in their stream.
 */
import shared from "@eventstore/db-client/generated/shared_pb.js";
import streams, {
  type BatchAppendReq,
  type BatchAppendResp,
} from "@eventstore/db-client/generated/streams_pb.js";
import { CatalogError } from "../../core/errors.ts";
import { position, type Revision, revision } from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { type Appended, WrongRevision } from "../change-log.ts";
import {
  type AppendCall,
  type Connection,
  nothing,
  pause,
  streamIdentifier,
  uuidText,
} from "./connection.ts";
import {
  accessDenied,
  appendTooLarge,
  isTransient,
  lostResponse,
  streamDeleted,
  translated,
} from "./errors.ts";

/** Events to append to one stream. */
export interface Draft {
  readonly stream: StreamName;
  /** The stream's name on the server. */
  readonly name: string;
  readonly expected: Revision | "any";
  readonly eventIds: readonly string[];
  readonly type: string;
  readonly json?: boolean;
  readonly records: readonly Uint8Array[];
  readonly bytes: number;
}

export interface AppendSession {
  send(draft: Draft): Promise<Appended>;
  /** Why appends currently fail; undefined if no reason is known. */
  trouble(): string | undefined;
  /** Rejects appends without a result. */
  close(): void;
}

interface Flight {
  readonly draft: Draft;
  readonly begun: number;
  /** Time of the first transmission; epoch milliseconds. */
  sentAt: number | undefined;
  readonly settle: (answer: Appended) => void;
  readonly reject: (error: unknown) => void;
}

interface SessionOptions {
  readonly connection: Connection;
  readonly logger?: Logger | undefined;
  /** Finds the first event's id in the stream, if it was written at or after a time. */
  readonly find: (draft: Draft, sinceMs: number) => Promise<Appended | undefined>;
  /** Resolves when the server answers a request. */
  readonly probe: () => Promise<unknown>;
}

const FLIGHTS_MAX = 8_192;
const FLYING_BYTES_MAX = 32 * 1024 * 1024;
/** Larger appends are split into several messages. */
const MESSAGE_BYTES_MAX = 1024 * 1024;
const PAUSE_MS_MAX = 2_000;
const CHECK_EVERY_MS = 250;

export function openAppendSession(options: SessionOptions): AppendSession {
  const { connection, find, probe, logger } = options;
  const { hosts } = connection.address;
  /** Appends in flight by correlation id, in the order in which they were sent. */
  const flying = new Map<string, Flight>();
  let flyingBytes = 0;
  /** Appends that are not sent yet. */
  let queue: Flight[] = [];
  let call: AppendCall | undefined;
  let opening = false;
  let broken: CatalogError | undefined;
  let breaks = 0;
  let number = 0;
  let clock: NodeJS.Timeout | undefined;
  const closing = new AbortController();

  function pump(): void {
    if (call === undefined) {
      if (!opening) void open();
      return;
    }
    let sent = 0;
    for (const flight of queue) {
      if (flying.size >= FLIGHTS_MAX || flyingBytes >= FLYING_BYTES_MAX) break;
      sent++;
      write(call, flight);
    }
    queue = sent === queue.length ? [] : queue.slice(sent);
  }

  function write(to: AppendCall, flight: Flight): void {
    const id = `00000000-0000-4000-8000-${(++number).toString(16).padStart(12, "0")}`;
    flying.set(id, flight);
    flyingBytes += flight.draft.bytes;
    flight.sentAt ??= Date.now();
    for (const message of messages(flight.draft, id)) to.write(message);
  }

  /** Retries until the call is open, or the session closes. */
  async function open(): Promise<void> {
    opening = true;
    while (call === undefined && !closing.signal.aborted) {
      try {
        if (broken !== undefined) {
          await probe();
          await lookForSent();
        }
        call = await connection.batchAppend();
        listen(call);
        if (broken !== undefined) logger?.info({ hosts }, "eventstoredb answers again");
        broken = undefined;
      } catch (error) {
        call = undefined;
        noteBreak(error);
        rejectLate();
        await pause(Math.min(50 * 2 ** breaks, PAUSE_MS_MAX), closing.signal);
      }
    }
    opening = false;
    if (!closing.signal.aborted) pump();
  }

  function listen(to: AppendCall): void {
    to.on("data", (response) => {
      if (call === to) answered(response);
    });
    const ended = (error: unknown): void => {
      if (call === to) breakOff(error);
    };
    to.on("error", ended);
    to.on("end", () => ended(new Error("14 UNAVAILABLE: the channel ended")));
  }

  function answered(response: BatchAppendResp): void {
    const id = uuidText(response.getCorrelationId());
    const flight = flying.get(id);
    // The server may repeat a response.
    if (flight === undefined) return;
    const error = response.getError();
    if (error !== undefined && error.getDetails()?.getTypeName() === TIMEOUT) {
      breakOff(new Error("4 DEADLINE_EXCEEDED: deadline of a write"));
      return;
    }
    if (error !== undefined && isTransient(new Error(error.getMessage()))) {
      breakOff(new Error(error.getMessage()));
      return;
    }
    flying.delete(id);
    flyingBytes -= flight.draft.bytes;
    breaks = 0;
    if (error === undefined) settle(flight, response);
    else flight.reject(appendError(flight.draft, error, hosts));
    if (queue.length > 0) pump();
  }

  function settle({ draft, settle: done, reject }: Flight, response: BatchAppendResp): void {
    const success = response.getSuccess();
    const place = Number(success?.getPosition()?.getCommitPosition() ?? 0);
    const last = Number(success?.getCurrentRevision() ?? 0);
    if (place > 0 && Number.isSafeInteger(place)) {
      done({ position: position(place), revision: revision(last), repeated: false });
      return;
    }
    // The response may lack a position if the server already had the events, so look it up.
    find(draft, 0).then(
      (found) =>
        done({
          ...(found ?? { position: position(place), revision: revision(last) }),
          repeated: false,
        }),
      reject,
    );
  }

  /** Ends the call. Appends that were sent over it may be in the log or not. */
  function breakOff(error: unknown): void {
    const ended = call;
    call = undefined;
    queue = [...flying.values(), ...queue];
    flying.clear();
    flyingBytes = 0;
    ended?.cancel();
    noteBreak(error);
    rejectLate();
    // Even without pending appends, to detect when the server is back.
    if (!opening && !closing.signal.aborted) void reopen();
  }

  async function reopen(): Promise<void> {
    opening = true;
    await pause(Math.min(10 * 2 ** breaks, PAUSE_MS_MAX), closing.signal);
    await open();
  }

  function noteBreak(error: unknown): void {
    const reason = translated(error, hosts);
    if (broken === undefined) logger?.warn({ err: reason }, "appending to eventstoredb failed");
    broken = reason instanceof CatalogError ? reason : undefined;
    breaks = Math.min(breaks + 1, 10);
    if (!isTransient(error)) {
      // A retry would fail in the same way, so reject all pending appends now.
      for (const { reject, sentAt } of queue) {
        reject(sentAt === undefined ? reason : lost(reason));
      }
      queue = [];
    }
  }

  const lost = (reason: Error): Error =>
    reason instanceof CatalogError ? lostResponse(hosts, reason) : reason;

  /** Searches for appends without an expected revision that may already be in the log. */
  async function lookForSent(): Promise<void> {
    const doubtful = queue.filter(({ draft, sentAt }) => draft.expected === "any" && sentAt);
    const found = await Promise.all(
      doubtful.map(({ draft, sentAt }) => find(draft, (sentAt ?? 0) - CLOCKS_APART_MS_MAX)),
    );
    const done = new Set<Flight>();
    for (const [i, flight] of doubtful.entries()) {
      const answer = found[i];
      if (answer === undefined) continue;
      done.add(flight);
      flight.settle({ ...answer, repeated: false });
    }
    if (done.size > 0) queue = queue.filter((flight) => !done.has(flight));
  }

  function rejectLate(): void {
    const now = performance.now();
    const late = (flight: Flight): boolean => now - flight.begun > connection.deadlineMs;
    if (!queue.some(late)) return;
    const error = broken ?? (translated(new Error("deadline"), hosts) as CatalogError);
    for (const flight of queue) {
      if (late(flight)) flight.reject(flight.sentAt === undefined ? error : lost(error));
    }
    queue = queue.filter((flight) => !late(flight));
  }

  function checkProgress(): void {
    rejectLate();
    const [oldest] = flying.values();
    if (oldest !== undefined && performance.now() - oldest.begun > connection.deadlineMs) {
      breakOff(new Error("4 DEADLINE_EXCEEDED: deadline of a write"));
    }
    if (flying.size === 0 && queue.length === 0) {
      clearInterval(clock);
      clock = undefined;
    }
  }

  return {
    send(draft) {
      return new Promise((resolve, reject) => {
        const begun = performance.now();
        queue.push({ draft, begun, sentAt: undefined, settle: resolve, reject });
        clock ??= setInterval(checkProgress, CHECK_EVERY_MS);
        pump();
      });
    },

    trouble: () => broken?.message,

    close() {
      closing.abort();
      clearInterval(clock);
      const ended = call;
      call = undefined;
      ended?.cancel();
      const error = new CatalogError("unavailable", `the log at ${hosts} is closed`);
      for (const flight of [...flying.values(), ...queue]) flight.reject(lost(error));
      flying.clear();
      queue = [];
    },
  };
}

/** Maximum difference between the server's clock and the local one. */
const CLOCKS_APART_MS_MAX = 3_600_000;
const TIMEOUT = "event_store.client.Timeout";

type Status = NonNullable<ReturnType<BatchAppendResp["getError"]>>;

function appendError(draft: Draft, error: Status, hosts: string): Error {
  const details = error.getDetails();
  switch (details?.getTypeName()) {
    case "event_store.client.WrongExpectedVersion": {
      const wrong = shared.WrongExpectedVersion.deserializeBinary(details.getValue_asU8());
      const actual = wrong.hasCurrentStreamRevision()
        ? Number(wrong.getCurrentStreamRevision())
        : -1;
      // An append that expects any revision is rejected if the stream has only some of its events.
      const expected = draft.expected === "any" ? revision(actual) : draft.expected;
      return new WrongRevision(draft.stream, expected, revision(actual));
    }
    case "event_store.client.MaximumAppendSizeExceeded": {
      const size = shared.MaximumAppendSizeExceeded.deserializeBinary(details.getValue_asU8());
      return appendTooLarge(draft.stream, draft.bytes, size.getMaxappendsize());
    }
    case "event_store.client.AccessDenied":
      return accessDenied(hosts);
    case "event_store.client.StreamDeleted":
      return streamDeleted(draft.stream, hosts);
    default:
      return new CatalogError(
        "unavailable",
        `eventstoredb at ${hosts} rejected an append to "${draft.stream}": ${error.getMessage()}`,
      );
  }
}

function* messages(draft: Draft, id: string): Generator<BatchAppendReq> {
  let message = new streams.BatchAppendReq();
  message.setOptions(optionsOf(draft));
  let bytes = 0;
  for (const [i, data] of draft.records.entries()) {
    if (bytes > 0 && bytes + data.length > MESSAGE_BYTES_MAX) {
      yield message.setCorrelationId(correlation(id));
      message = new streams.BatchAppendReq();
      bytes = 0;
    }
    const event = new streams.BatchAppendReq.ProposedMessage();
    const eventId = new shared.UUID();
    eventId.setString(draft.eventIds[i] ?? "");
    event.setId(eventId);
    const metadata = event.getMetadataMap();
    metadata.set("type", draft.type);
    metadata.set("content-type", draft.json ? "application/json" : "application/octet-stream");
    event.setData(data);
    message.addProposedMessages(event);
    bytes += data.length;
  }
  yield message.setCorrelationId(correlation(id)).setIsFinal(true);
}

function correlation(id: string): InstanceType<typeof shared.UUID> {
  const uuid = new shared.UUID();
  uuid.setString(id);
  return uuid;
}

/** Without a deadline, because the server would compare it with its own clock. */
function optionsOf({ name, expected }: Draft): BatchAppendReq.Options {
  const options = new streams.BatchAppendReq.Options();
  options.setStreamIdentifier(streamIdentifier(name));
  if (expected === "any") options.setAny(nothing() as never);
  else if (expected < 0) options.setNoStream(nothing() as never);
  else options.setStreamPosition(String(expected));
  return options;
}
