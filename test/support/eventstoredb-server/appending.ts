/** Appends of the EventStoreDB protocol double: the call for one append, and the call for many. */
import shared from "@eventstore/db-client/generated/shared_pb.js";
import rpc from "@eventstore/db-client/generated/status_pb.js";
import streams, {
  type AppendReq,
  type AppendResp,
  type BatchAppendReq,
  type BatchAppendResp,
} from "@eventstore/db-client/generated/streams_pb.js";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import any from "google-protobuf/google/protobuf/any_pb.js";
import type { AppendResult, EventStore, Expected, ProposedEvent } from "./event-store.ts";
import { identifier } from "./reading.ts";

export type BatchCall = ServerDuplexStream<BatchAppendReq, BatchAppendResp>;

export interface AppendFaults {
  /** True: appends are denied. */
  denied: boolean;
  /** The duration of an append, in milliseconds. */
  delayMs: number;
  /**
   * After so many more appends, the next one is stored, but its response and connection are lost.
   */
  loseAnswerAfter: number | undefined;
  /** Appends are stored, but get no response. */
  silent: boolean;
  /** Every response is sent twice. */
  duplicates: boolean;
  /** The message of an error that every append gets, as from a busy server; nothing is stored. */
  rejection: string | undefined;
}

interface Gathered {
  readonly name: string;
  readonly expected: Expected;
  readonly events: ProposedEvent[];
  bytes: number;
}

/** `lose` ends the connection; `objection` returns the reason if no more appends are accepted. */
export function answerBatchAppend(
  store: EventStore,
  call: BatchCall,
  faults: AppendFaults,
  options: {
    readonly appendBytesMax: number;
    readonly lose: () => void;
    readonly objection: () => Error | undefined;
  },
): void {
  const gathered = new Map<string, Gathered>();
  let answered: Promise<void> = Promise.resolve();
  let ended = false;

  call.on("data", (request: BatchAppendReq) => {
    if (ended) return;
    const against = options.objection();
    if (against !== undefined) {
      ended = true;
      call.emit("error", against);
      return;
    }
    const id = request.getCorrelationId()?.getString() ?? "";
    const given = request.getOptions();
    if (given !== undefined) gathered.set(id, { ...targetOf(given), events: [], bytes: 0 });
    const append = gathered.get(id);
    if (append === undefined) return;
    for (const message of request.getProposedMessagesList()) {
      const event = eventOf(message);
      append.events.push(event);
      append.bytes += event.data.length + event.metadata.length + 2 * event.type.length;
    }
    const respond = (fill: (response: BatchAppendResp) => void): void => {
      const response = new streams.BatchAppendResp();
      response.setCorrelationId(request.getCorrelationId());
      response.setStreamIdentifier(identifier(append.name));
      fill(response);
      if (ended || call.cancelled || call.destroyed || faults.silent) return;
      call.write(response);
      if (faults.duplicates) call.write(response);
    };
    if (append.bytes > options.appendBytesMax) {
      gathered.delete(id);
      const details = new shared.MaximumAppendSizeExceeded();
      details.setMaxappendsize(options.appendBytesMax);
      respond((response) => response.setError(errorOf(details, "MaximumAppendSizeExceeded")));
      return;
    }
    if (!request.getIsFinal()) return;
    gathered.delete(id);
    if (faults.denied) {
      respond((response) => response.setError(errorOf(new shared.AccessDenied(), "AccessDenied")));
      return;
    }
    if (faults.rejection !== undefined) {
      const status = new rpc.Status();
      status.setMessage(faults.rejection);
      status.setDetails(packed(new shared.Empty(), "google.protobuf.Empty"));
      respond((response) => response.setError(status));
      return;
    }
    if (append.name === "") {
      respond((response) => response.setError(errorOf(new shared.BadRequest(), "BadRequest")));
      return;
    }
    const { delayMs } = faults;
    const append1 = (): void => {
      const result = store.append(append.name, append.expected, append.events);
      if (faults.loseAnswerAfter !== undefined && --faults.loseAnswerAfter < 0) {
        faults.loseAnswerAfter = undefined;
        options.lose();
        return;
      }
      respond((response) => sendResult(response, append, result));
    };
    if (delayMs === 0) append1();
    else {
      const due = new Promise((resolve) => setTimeout(resolve, delayMs));
      answered = Promise.all([answered, due]).then(append1);
    }
  });
  call.on("end", () => void answered.then(() => call.end()));
}

/** The call for one append: options, then events. */
export function answerAppend(store: EventStore, requests: readonly AppendReq[]): AppendResp {
  const options = requests[0]?.getOptions();
  const name = Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
  let expected: Expected = "any";
  if (options?.hasRevision()) expected = Number(options.getRevision());
  else if (options?.hasNoStream()) expected = "no_stream";
  else if (options?.hasStreamExists()) expected = "stream_exists";
  const events = requests.slice(1).flatMap((request) => {
    const message = request.getProposedMessage();
    return message === undefined ? [] : [eventOf(message as never)];
  });
  const result = store.append(name, expected, events);
  const response = new streams.AppendResp();
  if (result.outcome === "appended") {
    const success = new streams.AppendResp.Success();
    success.setCurrentRevision(String(result.revision));
    const place = new streams.AppendResp.Position();
    place.setCommitPosition(String(result.position));
    place.setPreparePosition(String(result.position));
    success.setPosition(place);
    response.setSuccess(success);
  } else {
    const wrong = new streams.AppendResp.WrongExpectedVersion();
    const actual = result.outcome === "deleted" ? -1 : result.actual;
    if (actual < 0) wrong.setCurrentNoStream(new shared.Empty());
    else wrong.setCurrentRevision(String(actual));
    wrong.setExpectedAny(new shared.Empty());
    response.setWrongExpectedVersion(wrong);
  }
  return response;
}

function targetOf(options: BatchAppendReq.Options): { name: string; expected: Expected } {
  const name = Buffer.from(options.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
  if (options.hasStreamPosition()) return { name, expected: Number(options.getStreamPosition()) };
  if (options.hasNoStream()) return { name, expected: "no_stream" };
  return { name, expected: options.hasStreamExists() ? "stream_exists" : "any" };
}

function eventOf(message: BatchAppendReq.ProposedMessage): ProposedEvent {
  const metadata = message.getMetadataMap();
  return {
    id: message.getId()?.getString() ?? "",
    type: metadata.get("type") ?? "",
    contentType: metadata.get("content-type") ?? "",
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

function sendResult(
  response: BatchAppendResp,
  { name, expected }: Gathered,
  result: AppendResult,
): void {
  if (result.outcome === "appended") {
    const success = new streams.BatchAppendResp.Success();
    if (result.revision < 0) success.setNoStream(nothing());
    else success.setCurrentRevision(String(result.revision));
    const place = new shared.AllStreamPosition();
    place.setCommitPosition(String(result.position));
    place.setPreparePosition(String(result.position));
    success.setPosition(place);
    response.setSuccess(success);
  } else if (result.outcome === "deleted") {
    const deleted = new shared.StreamDeleted();
    deleted.setStreamIdentifier(identifier(name));
    response.setError(errorOf(deleted, "StreamDeleted"));
  } else {
    const wrong = new shared.WrongExpectedVersion();
    if (result.actual < 0) wrong.setCurrentNoStream(new shared.Empty() as never);
    else wrong.setCurrentStreamRevision(String(result.actual));
    if (typeof expected === "number") wrong.setExpectedStreamPosition(String(expected));
    else wrong.setExpectedAny(new shared.Empty() as never);
    response.setError(errorOf(wrong, "WrongExpectedVersion"));
  }
}

/** The generated type of an empty member is google's, but the client's type is its own. */
const nothing = () => new shared.Empty() as never;

interface Message {
  serializeBinary(): Uint8Array;
}

function packed(message: Message, type: string): InstanceType<typeof any.Any> {
  const details = new any.Any();
  details.pack(message.serializeBinary(), type);
  return details;
}

function errorOf(message: Message, name: string): InstanceType<typeof rpc.Status> {
  const error = new rpc.Status();
  error.setMessage(name);
  error.setDetails(packed(message, `event_store.client.${name}`));
  return error;
}
