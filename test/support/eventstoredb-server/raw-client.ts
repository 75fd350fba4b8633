/**
 * A client that only speaks the protocol: no retries, no translated errors. It shows tests of the
 * protocol double the exact responses of a server.
 */
import { randomUUID } from "node:crypto";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import { StreamsClient } from "@eventstore/db-client/generated/streams_grpc_pb.js";
import streams, {
  type BatchAppendResp,
  type ReadReq,
  type ReadResp,
} from "@eventstore/db-client/generated/streams_pb.js";
import { credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { eventOf, type RawEvent } from "../../../src/log/eventstoredb/reads.ts";

export interface RawRead {
  /** "start" is the default. */
  readonly from?: number | "start" | "end";
  readonly backward?: boolean;
  readonly count?: number;
  /** Prefix of event types. */
  readonly types?: string;
  readonly subscribe?: boolean;
}

export interface RawAnswer {
  readonly events: readonly RawEvent[];
  readonly notFound: boolean;
  readonly error?: Pick<ServiceError, "code" | "details" | "metadata"> | undefined;
}

export interface RawAppended {
  readonly revision?: number | undefined;
  readonly position?: number | undefined;
  /** Type of the error's details, without its package. */
  readonly error?: string | undefined;
  /** Current revision of the stream, if the error contains it. */
  readonly actual?: number | undefined;
}

export type RawClient = ReturnType<typeof openRawClient>;

const nothing = () => new shared.Empty();

function identifier(name: string) {
  const written = new shared.StreamIdentifier();
  written.setStreamName(new Uint8Array(Buffer.from(name)));
  return written;
}

/** `user`: `name:password`; `certificate`: of the server's authority, where it has TLS. */
export function openRawClient(
  port: number,
  options: { readonly user?: string; readonly certificate?: Buffer } = {},
) {
  const { user, certificate } = options;
  const client = new StreamsClient(
    `127.0.0.1:${port}`,
    certificate === undefined ? credentials.createInsecure() : credentials.createSsl(certificate),
  );
  const metadata = new Metadata();
  if (user !== undefined) {
    metadata.set("authorization", `Basic ${Buffer.from(user).toString("base64")}`);
  }

  function begin(target: { all: true } | { stream: string }, read: RawRead) {
    const options = new streams.ReadReq.Options();
    const { from = "start" } = read;
    if ("all" in target) options.setAll(allFrom(from));
    else options.setStream(streamFrom(target.stream, from));
    if (read.types === undefined) options.setNoFilter(nothing());
    else options.setFilter(typeFilter(read.types));
    options.setReadDirection(read.backward ? 1 : 0);
    if (read.subscribe) {
      options.setSubscription(new streams.ReadReq.Options.SubscriptionOptions());
    } else options.setCount(String(read.count ?? 1_000));
    const uuids = new streams.ReadReq.Options.UUIDOption();
    uuids.setString(nothing());
    options.setUuidOption(uuids);
    const request = new streams.ReadReq();
    request.setOptions(options);
    return client.read(request, metadata as never);
  }

  function read(target: { all: true } | { stream: string }, how: RawRead): Promise<RawAnswer> {
    const call = begin(target, how);
    const events: RawEvent[] = [];
    let notFound = false;
    return new Promise((resolve) => {
      call.on("data", (response: ReadResp) => {
        notFound ||= response.hasStreamNotFound();
        const event = eventOf(response);
        if (event !== undefined) events.push(event);
      });
      call.on("error", (error: ServiceError) => resolve({ events, notFound, error }));
      call.on("end", () => resolve({ events, notFound }));
    });
  }

  return {
    readAll: (how: RawRead = {}) => read({ all: true }, how),
    readStream: (stream: string, how: RawRead = {}) => read({ stream }, how),

    /** Resolves with the events received until `until` holds, or with the error. */
    async subscribe(
      how: RawRead,
      until: (events: readonly RawEvent[]) => Promise<boolean>,
    ): Promise<RawAnswer> {
      const call = begin({ all: true }, { ...how, subscribe: true });
      const events: RawEvent[] = [];
      let error: ServiceError | undefined;
      let confirmed = false;
      call.on("data", (response: ReadResp) => {
        confirmed ||= response.hasConfirmation();
        const event = eventOf(response);
        if (event !== undefined) events.push(event);
      });
      call.on("error", (cause: ServiceError) => {
        error = cause;
      });
      while (error === undefined && !(confirmed && (await until(events)))) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      call.cancel();
      return { events, notFound: false, error };
    },

    /** `ids`: one for each event; `expected`: -1 for no stream. */
    append(
      stream: string,
      expected: number | "any",
      events: readonly { readonly id?: string; readonly data: string }[],
      type = "t",
    ): Promise<RawAppended> {
      const call = client.batchAppend(metadata as never);
      const request = new streams.BatchAppendReq();
      const correlation = new shared.UUID();
      correlation.setString(randomUUID());
      request.setCorrelationId(correlation);
      const options = new streams.BatchAppendReq.Options();
      options.setStreamIdentifier(identifier(stream));
      if (expected === "any") options.setAny(nothing() as never);
      else if (expected < 0) options.setNoStream(nothing() as never);
      else options.setStreamPosition(String(expected));
      request.setOptions(options);
      for (const { id = randomUUID(), data } of events) {
        const message = new streams.BatchAppendReq.ProposedMessage();
        const uuid = new shared.UUID();
        uuid.setString(id);
        message.setId(uuid);
        message.getMetadataMap().set("type", type);
        message.getMetadataMap().set("content-type", "application/octet-stream");
        message.setData(new Uint8Array(Buffer.from(data)));
        request.addProposedMessages(message);
      }
      request.setIsFinal(true);
      return new Promise((resolve, reject) => {
        call.on("data", (response: BatchAppendResp) => {
          resolve(appendedOf(response));
          call.end();
        });
        call.on("error", (error: ServiceError) => {
          if (error.code !== 1) reject(error);
        });
        call.write(request);
      });
    },

    close: () => client.close(),
  };
}

function appendedOf(response: BatchAppendResp): RawAppended {
  const success = response.getSuccess();
  if (success !== undefined) {
    return {
      revision: Number(success.getCurrentRevision()),
      position: Number(success.getPosition()?.getCommitPosition()),
    };
  }
  const details = response.getError()?.getDetails();
  const error = details?.getTypeName().replace("event_store.client.", "");
  if (error !== "WrongExpectedVersion") return { error };
  const wrong = shared.WrongExpectedVersion.deserializeBinary(details?.getValue_asU8() as never);
  const absent = !wrong.hasCurrentStreamRevision();
  return { error, actual: absent ? -1 : Number(wrong.getCurrentStreamRevision()) };
}

function allFrom(from: number | "start" | "end"): ReadReq.Options.AllOptions {
  const all = new streams.ReadReq.Options.AllOptions();
  if (from === "start") all.setStart(nothing());
  else if (from === "end") all.setEnd(nothing());
  else {
    const place = new streams.ReadReq.Options.Position();
    place.setCommitPosition(String(from));
    place.setPreparePosition(String(from));
    all.setPosition(place);
  }
  return all;
}

function streamFrom(name: string, from: number | "start" | "end"): ReadReq.Options.StreamOptions {
  const stream = new streams.ReadReq.Options.StreamOptions();
  stream.setStreamIdentifier(identifier(name));
  if (from === "start") stream.setStart(nothing());
  else if (from === "end") stream.setEnd(nothing());
  else stream.setRevision(String(from));
  return stream;
}

function typeFilter(prefix: string): ReadReq.Options.FilterOptions {
  const filter = new streams.ReadReq.Options.FilterOptions();
  const expression = new streams.ReadReq.Options.FilterOptions.Expression();
  expression.setPrefixList([prefix]);
  filter.setEventType(expression);
  filter.setMax(32);
  filter.setCheckpointintervalmultiplier(1);
  return filter;
}
