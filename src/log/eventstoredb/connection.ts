/**
 * The connection to EventStoreDB. The client finds the node, holds the channel and replaces it when
 * the leader changes. Calls use that channel with the client's generated protocol code.
 *
 * The client's own append is not used. It has one table of pending appends for all connections: when
 * one breaks, a late response of another throws an exception that cannot be caught, and a stream that
 * the server ends leaves its appends pending for ever. Its read of $all has no filter.
 */
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { EventStoreDBClient } from "@eventstore/db-client";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import { StreamsClient } from "@eventstore/db-client/generated/streams_grpc_pb.js";
import type {
  BatchAppendReq,
  BatchAppendResp,
  ReadReq,
  ReadResp,
} from "@eventstore/db-client/generated/streams_pb.js";
import { CatalogError } from "../../core/errors.ts";
import { dropWarnings } from "../../lib/known-warnings.ts";
import { type Address, parseAddress } from "./connection-string.ts";
import { asCommandError, isTransient, translated } from "./errors.ts";

/** A streaming read; `cancel` ends it. */
export interface ReadCall extends Readable {
  on(event: "data", listener: (response: ReadResp) => void): this;
  on(event: "error", listener: (error: Error) => void): this;
  on(event: string, listener: (...values: unknown[]) => void): this;
  cancel(): void;
}

/** A bidirectional call that sends appends and receives their results. */
export interface AppendCall {
  write(request: BatchAppendReq): boolean;
  end(): void;
  cancel(): void;
  on(event: "data", listener: (response: BatchAppendResp) => void): this;
  on(event: "error", listener: (error: Error) => void): this;
  on(event: "end", listener: () => void): this;
}

export interface Connection {
  readonly address: Address;
  /** Timeout of a call. */
  readonly deadlineMs: number;
  /** Starts a read. `endless`: a call without a timeout. */
  read(
    request: ReadReq,
    options: { readonly endless?: boolean; readonly deadlineMs?: number | undefined },
  ): Promise<ReadCall>;
  batchAppend(): Promise<AppendCall>;
  /** Tries up to three times within the timeout; rejects with CatalogError or WrongRevision. */
  retrying<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  serverVersion(): Promise<string>;
  /** Number of channels to the server that broke or were replaced. */
  disconnections(): number;
  close(): Promise<void>;
}

/** Internal members of the client, of the pinned version. */
interface ClientInside {
  getGRPCClient(service: typeof StreamsClient, name: string): Promise<StreamsClient>;
  callArguments(
    options: { requiresLeader?: boolean },
    call: { deadline?: Date | number },
  ): [unknown, unknown];
  createDeadline(): Date;
  handleError(client: StreamsClient, error: Error): Promise<void>;
  getChannel(): Promise<{ close(): void }>;
  readonly capabilities: Promise<{ readonly serverVersion: string }>;
}

/** The part of gRPC's channel that is used here. */
interface Channel {
  getConnectivityState(connect: boolean): number;
  watchConnectivityState(state: number, deadline: number, changed: (error?: Error) => void): void;
  close(): void;
}

/** gRPC's state of a connected channel. */
const READY = 2;

const TRIES_MAX = 3;
const FIRST_PAUSE_MS = 100;

/** Connects with the first call. Throws CatalogError `invalid` for an invalid address. */
export function openConnection(connection: string): Connection {
  const address = parseAddress(connection);
  const client = createClient(address);
  // These members are private; the version is pinned, and tests with a server use each of them.
  const inside = client as unknown as ClientInside;
  const deadlineMs = Math.max(inside.createDeadline().getTime() - Date.now(), 1);
  let connected = false;
  let watched: Channel | undefined;
  let disconnections = 0;

  /** Counts disconnections. The channel reconnects by itself, so only its state shows them. */
  function watch(channel: Channel): void {
    if (channel === watched) return;
    if (watched !== undefined) disconnections++;
    watched = channel;
    const next = (): void => {
      // Throws if the channel was shut down; it is not used again.
      const state = channel.getConnectivityState(false);
      channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, (error) => {
        if (error !== undefined || channel !== watched) return;
        if (state === READY) disconnections++;
        attempt(next);
      });
    };
    attempt(next);
  }

  async function call<C extends { on(event: "error", listener: (error: Error) => void): unknown }>(
    deadline: Date | number,
    begin: (streams: StreamsClient, metadata: never, options: never) => C,
  ): Promise<C> {
    connected = true;
    const streams = await inside.getGRPCClient(StreamsClient, "annals");
    watch(streams.getChannel() as Channel);
    // All calls go to the leader: a follower may lag behind.
    const [metadata, options] = inside.callArguments({ requiresLeader: true }, { deadline });
    const begun = begin(streams, metadata as never, options as never);
    // Makes the next call find the leader again. Errors are ignored, because the next call reports
    // them itself.
    begun.on("error", (error) => void inside.handleError(streams, error).catch(() => undefined));
    return begun;
  }

  return {
    address,
    deadlineMs,

    read(request, { endless = false, deadlineMs: own = deadlineMs }) {
      const deadline = endless ? Number.POSITIVE_INFINITY : new Date(Date.now() + own);
      return call(
        deadline,
        (streams, metadata, options) => streams.read(request, metadata, options) as ReadCall,
      );
    },

    batchAppend: () =>
      call(
        Number.POSITIVE_INFINITY,
        (streams, metadata, options) => streams.batchAppend(metadata, options) as AppendCall,
      ),

    async retrying(work, signal) {
      const begin = performance.now();
      for (let attempt = 1; ; attempt++) {
        try {
          return await work();
        } catch (error) {
          const late = performance.now() - begin > deadlineMs / 2;
          if (attempt === TRIES_MAX || late || signal?.aborted || !isTransient(error)) {
            throw translated(error, address.hosts);
          }
          await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1), signal);
        }
      }
    },

    async serverVersion() {
      connected = true;
      return (await inside.capabilities).serverVersion;
    },

    disconnections: () => disconnections,

    async close() {
      watched = undefined;
      await client.dispose();
      if (!connected) return;
      // Without a node there is no channel to close.
      const channel = await inside.getChannel().catch(() => undefined);
      channel?.close();
    },
  };
}

/** Node deprecates IP addresses as TLS server names; gRPC passes one for such hosts. */
const isServerNameOfAddress: Parameters<typeof dropWarnings>[0] = ({ code }) => code === "DEP0123";

function createClient(address: Address): EventStoreDBClient {
  dropWarnings(isServerNameOfAddress);
  try {
    return EventStoreDBClient.connectionString(address.connection);
  } catch (error) {
    // The client's message contains the address with the password.
    const { message } = asCommandError(error);
    const why = message.includes("certificate") ? message : "a value in it is malformed";
    throw new CatalogError("invalid", `the address of eventstoredb at ${address.hosts}: ${why}`, {
      hint: "Write it as esdb://user:password@host:2113?tls=true&tlsCAFile=ca.crt",
    });
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The users of the channel get the error, too.
  }
}

/** Resolves after a delay, or when the signal aborts. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => {});

export const nothing = (): InstanceType<typeof shared.Empty> => new shared.Empty();

export function streamIdentifier(name: string): InstanceType<typeof shared.StreamIdentifier> {
  const identifier = new shared.StreamIdentifier();
  identifier.setStreamName(new Uint8Array(Buffer.from(name)));
  return identifier;
}

/** Formats both encodings of a UUID as text. */
export function uuidText(uuid: InstanceType<typeof shared.UUID> | undefined): string {
  const bits = uuid?.getStructured();
  if (bits === undefined) return uuid?.getString() ?? "";
  const half = (value: string): string =>
    BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, "0");
  const digits = half(bits.getMostSignificantBits()) + half(bits.getLeastSignificantBits());
  const ends = [0, 8, 12, 16, 20, 32];
  return ends
    .slice(1)
    .map((end, i) => digits.slice(ends[i], end))
    .join("-");
}
