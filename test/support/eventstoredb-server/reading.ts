/** Reads and subscriptions of the EventStoreDB protocol double. */
import { randomUUID } from "node:crypto";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import streams, {
  type ReadReq,
  type ReadResp,
} from "@eventstore/db-client/generated/streams_pb.js";
import { type ServerWritableStream, status } from "@grpc/grpc-js";
import { type EventStore, indexAt, type StoredEvent } from "./event-store.ts";
import { failure } from "./failures.ts";

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

export interface ReadFaults {
  /** Every event of a subscription is sent twice. */
  duplicates: boolean;
}

type Options = ReadReq.Options;

const WINDOW = 32;

/** A read ends by itself, a subscription with the call. */
export async function answerRead(
  store: EventStore,
  call: ReadCall,
  faults: ReadFaults,
): Promise<void> {
  const options = call.request.getOptions();
  if (options === undefined) throw failure(status.INVALID_ARGUMENT, "options are missing");
  if (options.hasSubscription()) return subscribe(store, call, options, faults);
  const limit = Number(options.getCount());
  if (options.hasAll()) await answerAll(store, call, options, limit);
  else await answerStream(store, call, options, limit);
  call.end();
}

async function answerAll(
  store: EventStore,
  call: ReadCall,
  options: Options,
  limit: number,
): Promise<void> {
  const backward = options.getReadDirection() === 1;
  const all = options.getAll();
  const fits = filterOf(options);
  const place = Number(all?.getPosition()?.getCommitPosition() ?? 0);
  if (all?.hasPosition() && place > store.end() && backward) {
    throw failure(status.UNKNOWN, "Unexpected ReadAllResult: Error");
  }
  if (all?.hasPosition() && place < store.end() && !store.isPosition(place)) {
    const result = options.hasFilter() ? "FilteredReadAllResult" : "ReadAllResult";
    throw failure(status.UNKNOWN, `Unexpected ${result}: InvalidPosition`);
  }
  const events = store.all;
  const at = all?.hasPosition() ? indexAt(events, place) : all?.hasEnd() ? events.length : 0;
  const found: StoredEvent[] = [];
  // A copy: events that are appended during the read are not part of it.
  const step = backward ? -1 : 1;
  for (let i = backward ? at - 1 : at; found.length < limit; i += step) {
    const event = events[i];
    if (event === undefined) break;
    if (fits(event)) found.push(event);
  }
  await send(call, found);
}

async function answerStream(
  store: EventStore,
  call: ReadCall,
  options: Options,
  limit: number,
): Promise<void> {
  const backward = options.getReadDirection() === 1;
  const wanted = options.getStream();
  const name = Buffer.from(wanted?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
  if (name === "") throw failure(status.INVALID_ARGUMENT, "stream name is empty");
  const events = store.readStream(name);
  if (events === "tombstoned") {
    throw failure(status.FAILED_PRECONDITION, "stream is deleted", {
      exception: "stream-deleted",
      "stream-name": name,
    });
  }
  if (events === undefined) {
    const absent = new streams.ReadResp.StreamNotFound();
    absent.setStreamIdentifier(identifier(name));
    const response = new streams.ReadResp();
    response.setStreamNotFound(absent);
    call.write(response);
    return;
  }
  const from = wanted?.hasRevision() ? Number(wanted.getRevision()) : undefined;
  const within = events.filter(({ revision }) => {
    if (from === undefined) return wanted?.hasEnd() ? backward : !backward;
    return backward ? revision <= from : revision >= from;
  });
  await send(call, (backward ? within.toReversed() : within).slice(0, limit));
}

async function subscribe(
  store: EventStore,
  call: ReadCall,
  options: Options,
  faults: ReadFaults,
): Promise<void> {
  const fits = filterOf(options);
  const filter = options.getFilter();
  const window = (filter?.getMax() || WINDOW) * (filter?.getCheckpointintervalmultiplier() || 1);
  let at = beginOf(store, options);
  let considered = 0;
  let live = false;
  let wake: (() => void) | undefined;
  const stop = store.listen(() => wake?.());
  call.on("cancelled", () => wake?.());

  const confirmation = new streams.ReadResp.SubscriptionConfirmation();
  confirmation.setSubscriptionId(randomUUID());
  const confirmed = new streams.ReadResp();
  confirmed.setConfirmation(confirmation);
  call.write(confirmed);
  try {
    while (!call.cancelled && !call.destroyed) {
      const next = store.all.slice(indexAt(store.all, at));
      for (const event of next) {
        at = event.end;
        if (fits(event)) await send(call, faults.duplicates ? [event, event] : [event]);
        if (filter === undefined || ++considered % window !== 0) continue;
        const checkpoint = new streams.ReadResp.Checkpoint();
        checkpoint.setCommitPosition(String(event.position));
        checkpoint.setPreparePosition(String(event.position));
        const response = new streams.ReadResp();
        response.setCheckpoint(checkpoint);
        call.write(response);
      }
      if (next.length > 0) continue;
      if (!live) {
        const response = new streams.ReadResp();
        response.setCaughtUp(new streams.ReadResp.CaughtUp());
        call.write(response);
      }
      live = true;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    stop();
  }
}

/** Starts after the first event at or after the position, like the server. */
function beginOf(store: EventStore, options: Options): number {
  const all = options.getAll();
  if (all === undefined) throw failure(status.UNIMPLEMENTED, "subscribe to $all");
  if (all.hasEnd()) return store.end();
  if (!all.hasPosition()) return 0;
  const place = Number(all.getPosition()?.getCommitPosition());
  if (place >= store.end()) return place;
  if (!store.isPosition(place)) {
    throw failure(status.INVALID_ARGUMENT, "Trying to read from an invalid position.");
  }
  return store.all[indexAt(store.all, place)]?.end ?? store.end();
}

function filterOf(options: Options): (event: StoredEvent) => boolean {
  const filter = options.getFilter();
  const byStream = filter?.hasStreamIdentifier() ?? false;
  const expression = byStream ? filter?.getStreamIdentifier() : filter?.getEventType();
  if (expression === undefined) return () => true;
  const regex = expression.getRegex() === "" ? undefined : new RegExp(expression.getRegex());
  const prefixes = expression.getPrefixList();
  return (event) => {
    const text = byStream ? event.stream : event.type;
    return regex ? regex.test(text) : prefixes.some((prefix) => text.startsWith(prefix));
  };
}

async function send(call: ReadCall, events: readonly StoredEvent[]): Promise<void> {
  for (const event of events) {
    if (call.cancelled || call.destroyed) return;
    if (!call.write(responseOf(event))) await drained(call);
  }
}

/** Resolves when the call can take more, or has ended. */
function drained(call: ReadCall): Promise<void> {
  const ways = ["drain", "cancelled", "close"] as const;
  return new Promise((resolve) => {
    const done = (): void => {
      for (const way of ways) call.removeListener(way, done);
      resolve();
    };
    for (const way of ways) call.on(way, done);
  });
}

function responseOf(event: StoredEvent): ReadResp {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent();
  const id = new shared.UUID();
  id.setString(event.id);
  recorded.setId(id);
  recorded.setStreamIdentifier(identifier(event.stream));
  recorded.setStreamRevision(String(event.revision));
  recorded.setCommitPosition(String(event.position));
  recorded.setPreparePosition(String(event.position));
  const metadata = recorded.getMetadataMap();
  metadata.set("type", event.type);
  metadata.set("content-type", event.contentType);
  metadata.set("created", String(event.time * 10_000));
  recorded.setData(event.data);
  recorded.setCustomMetadata(event.metadata);
  const read = new streams.ReadResp.ReadEvent();
  read.setEvent(recorded);
  read.setCommitPosition(String(event.position));
  const response = new streams.ReadResp();
  response.setEvent(read);
  return response;
}

export function identifier(name: string): InstanceType<typeof shared.StreamIdentifier> {
  const written = new shared.StreamIdentifier();
  written.setStreamName(new Uint8Array(Buffer.from(name)));
  return written;
}
