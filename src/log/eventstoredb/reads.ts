/**
 * Reads pages of events over the protocol. The caller bounds the number of events, this code bounds
 * the bytes. It cancels the call when the page is complete, because a filtered read would otherwise
 * continue to search for another event.
 */
import streams, {
  type ReadReq,
  type ReadResp,
} from "@eventstore/db-client/generated/streams_pb.js";
import { type Connection, nothing, streamIdentifier, uuidText } from "./connection.ts";
import { isNoStream, isStreamDeleted } from "./errors.ts";

/** A stored event. */
export interface RawEvent {
  readonly position: number;
  /** The stream's name on the server. */
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly id: string;
  /** Time of the write by the server's clock; epoch milliseconds. */
  readonly time: number;
  readonly data: Uint8Array;
}

/** Selects events of $all on the server. */
export type Filter =
  | { readonly types: readonly string[] }
  /** Streams with this prefix; the caller must check the types of their events. */
  | { readonly streamsBegin: string };

export interface Page {
  readonly events: readonly RawEvent[];
  /** True if the server ended the read: there are no further events. */
  readonly ended: boolean;
}

interface PageOptions {
  readonly count: number;
  readonly backward: boolean;
  readonly bytesMax: number;
  readonly deadlineMs?: number | undefined;
}

/** A page ends with the event that exceeds this size. */
export const PAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Options that read one event, forward. */
export const ONE = { count: 1, backward: false, bytesMax: PAGE_BYTES_MAX };

/** Number of events between two checkpoints of a filtered read. */
const SEARCH_WINDOW = 4_096;

/** Forward, `from` is inclusive; backward, it is exclusive. */
export function readAllPage(
  connection: Connection,
  from: number | "start" | "end",
  filter: Filter,
  options: PageOptions,
): Promise<Page> {
  const all = new streams.ReadReq.Options.AllOptions();
  if (from === "start") all.setStart(nothing());
  else if (from === "end") all.setEnd(nothing());
  else all.setPosition(allPosition(from));
  const request = new streams.ReadReq.Options();
  request.setAll(all);
  setFilter(request, filter);
  return readPage(connection, request, options);
}

/** Events of a stream from a revision on, inclusive; empty if the stream does not exist. */
export async function readStreamPage(
  connection: Connection,
  name: string,
  from: number | "end",
  options: PageOptions,
): Promise<Page> {
  try {
    return await readPage(connection, streamRequest(name, from), options);
  } catch (error) {
    if (isNoStream(error)) return { events: [], ended: true };
    throw error;
  }
}

/** True for a stream that was deleted for good. */
export async function isTombstoned(connection: Connection, name: string): Promise<boolean> {
  try {
    await readPage(connection, streamRequest(name, "end"), { ...ONE, backward: true });
    return false;
  } catch (error) {
    if (isStreamDeleted(error)) return true;
    if (isNoStream(error)) return false;
    throw error;
  }
}

function streamRequest(name: string, from: number | "end"): streams.ReadReq.Options {
  const stream = new streams.ReadReq.Options.StreamOptions();
  stream.setStreamIdentifier(streamIdentifier(name));
  if (from === "end") stream.setEnd(nothing());
  else stream.setRevision(String(from));
  const request = new streams.ReadReq.Options();
  request.setStream(stream);
  request.setNoFilter(nothing());
  return request;
}

/** Request for a subscription to events that are appended from now on. */
export function subscribeRequest(filter: Filter): ReadReq {
  const all = new streams.ReadReq.Options.AllOptions();
  all.setEnd(nothing());
  const request = new streams.ReadReq.Options();
  request.setAll(all);
  request.setSubscription(new streams.ReadReq.Options.SubscriptionOptions());
  setFilter(request, filter);
  return withDefaults(request);
}

export function eventOf(response: ReadResp): RawEvent | undefined {
  const event = response.getEvent()?.getEvent();
  if (event === undefined) return undefined;
  const metadata = event.getMetadataMap();
  return {
    position: Number(event.getCommitPosition()),
    stream: Buffer.from(event.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
    revision: Number(event.getStreamRevision()),
    type: metadata.get("type") ?? "",
    id: uuidText(event.getId()),
    // Ticks of 100 nanoseconds.
    time: Number(metadata.get("created") ?? 0) / 10_000,
    data: event.getData_asU8(),
  };
}

async function readPage(
  connection: Connection,
  options: ReadReq.Options,
  { count, backward, bytesMax, deadlineMs }: PageOptions,
): Promise<Page> {
  options.setCount(String(count));
  options.setReadDirection(backward ? 1 : 0);
  const call = await connection.read(withDefaults(options), { deadlineMs });
  const events: RawEvent[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    let absent = false;
    call.on("data", (response: ReadResp) => {
      absent ||= response.hasStreamNotFound();
      const event = eventOf(response);
      if (event === undefined || events.length === count || bytes >= bytesMax) return;
      events.push(event);
      bytes += event.data.length;
      if (events.length === count || bytes >= bytesMax) {
        resolve({ events, ended: false });
        call.cancel();
      }
    });
    call.on("error", reject);
    call.on("end", () => resolve({ events: absent ? [] : events, ended: true }));
  });
}

function withDefaults(options: ReadReq.Options): ReadReq {
  const uuids = new streams.ReadReq.Options.UUIDOption();
  uuids.setString(nothing());
  options.setUuidOption(uuids);
  options.setResolveLinks(false);
  const request = new streams.ReadReq();
  request.setOptions(options);
  return request;
}

function setFilter(options: ReadReq.Options, filter: Filter): void {
  const expression = new streams.ReadReq.Options.FilterOptions.Expression();
  const wanted = new streams.ReadReq.Options.FilterOptions();
  if ("types" in filter) {
    expression.setPrefixList([...filter.types]);
    wanted.setEventType(expression);
  } else {
    expression.setPrefixList([filter.streamsBegin]);
    wanted.setStreamIdentifier(expression);
  }
  wanted.setMax(SEARCH_WINDOW);
  wanted.setCheckpointintervalmultiplier(1);
  options.setFilter(wanted);
}

/** Appends use no transactions, so commit and prepare position are equal. */
function allPosition(at: number): ReadReq.Options.Position {
  const place = new streams.ReadReq.Options.Position();
  place.setCommitPosition(String(at));
  place.setPreparePosition(String(at));
  return place;
}
