/**
 * The EventStoreDB protocol double: the gRPC services that the client uses, served in this process
 * from memory (event-store.ts). It can stop and start again with its state, follow another leader,
 * and inject faults (`faults`).
 */

import gossipService from "@eventstore/db-client/generated/gossip_grpc_pb.js";
import gossip from "@eventstore/db-client/generated/gossip_pb.js";
import featuresService from "@eventstore/db-client/generated/serverfeatures_grpc_pb.js";
import features from "@eventstore/db-client/generated/serverfeatures_pb.js";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import streamsService from "@eventstore/db-client/generated/streams_grpc_pb.js";
import streams, {
  type AppendReq,
  type AppendResp,
  type DeleteReq,
  type DeleteResp,
  type TombstoneReq,
  type TombstoneResp,
} from "@eventstore/db-client/generated/streams_pb.js";
import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServerReadableStream,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { type AppendFaults, answerAppend, answerBatchAppend, type BatchCall } from "./appending.ts";
import { type AppendResult, createEventStore, type EventStore } from "./event-store.ts";
import { accessDenied, type Failure, failure, notLeader, unauthenticated } from "./failures.ts";
import { answerRead, type ReadCall, type ReadFaults } from "./reading.ts";

export interface EventStoreServerOptions {
  /** Any free port if absent. */
  readonly port?: number | undefined;
  /** The content; another server may have the same. */
  readonly store?: EventStore | undefined;
  readonly appendBytesMax?: number | undefined;
  /** The release that the server reports. */
  readonly version?: string | undefined;
  /** `user:password` of each of `$admins`. When absent, or without TLS, no user is checked. */
  readonly users?: readonly string[] | undefined;
  /** `user:password` of each of `$ops`, who may not read `$all` and `$users`. */
  readonly operators?: readonly string[] | undefined;
  readonly tls?: { readonly key: Buffer; readonly certificate: Buffer } | undefined;
}

export interface EventStoreServer {
  readonly port: number;
  /** `esdb://127.0.0.1:…`, with or without TLS. */
  readonly address: string;
  readonly store: EventStore;
  /** Sets the store that is served after the next start. */
  serve(store: EventStore): void;
  readonly faults: AppendFaults & ReadFaults;
  /** Streams that reject all users, by prefixes of their names. */
  readonly forbidden: Set<string>;
  /** Number of calls by name; `readStream`: reads of a single stream, which `read` counts, too. */
  readonly asked: Map<string, number>;
  /** Names of the streams that clients have read. */
  readonly streamsRead: string[];
  /** Makes another server the leader; undefined: this one. */
  follow(leader: EventStoreServer | undefined): void;
  stop(): Promise<void>;
  /** Starts on the same port. */
  start(): Promise<void>;
  /** Breaks all connections, and continues to serve. */
  drop(): Promise<void>;
}

export const HOST = "127.0.0.1";
const VERSION = "24.10.0-test";
const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
const ADMINS_ONLY: readonly string[] = ["$all", "$users"];
const LEADER = 8;
const FOLLOWER = 6;

export async function startEventStoreServer(
  options: EventStoreServerOptions = {},
): Promise<EventStoreServer> {
  const { appendBytesMax = 1024 * 1024, version = VERSION, users, operators = [], tls } = options;
  let store = options.store ?? createEventStore();
  const faults = {
    denied: false,
    delayMs: 0,
    loseAnswerAfter: undefined as number | undefined,
    silent: false,
    duplicates: false,
    rejection: undefined as string | undefined,
  };
  const forbidden = new Set<string>();
  const asked = new Map<string, number>();
  const streamsRead: string[] = [];
  let leader: EventStoreServer | undefined;
  let serving: Server | undefined;
  let port = options.port ?? 0;

  /** The error of the call; undefined if the call is allowed. */
  function objection(what: string, metadata: Metadata, stream = ""): Failure | undefined {
    asked.set(what, (asked.get(what) ?? 0) + 1);
    const requiresLeader = metadata.get("requires-leader")[0] === "true";
    if (leader !== undefined && (requiresLeader || what !== "read")) {
      return notLeader({ host: HOST, port: leader.port });
    }
    if ([...forbidden].some((begin) => stream.startsWith(begin))) return accessDenied();
    if (users === undefined || tls === undefined) return undefined;
    const given = metadata.get("authorization")[0];
    if (given === undefined) return accessDenied();
    const user = Buffer.from(String(given).replace(/^Basic /, ""), "base64").toString();
    if (users.includes(user)) return undefined;
    if (!operators.includes(user)) return unauthenticated();
    return ADMINS_ONLY.includes(stream) ? accessDenied() : undefined;
  }

  function read(call: ReadCall): void {
    const wanted = call.request.getOptions()?.getStream()?.getStreamIdentifier();
    const name = wanted ? Buffer.from(wanted.getStreamName_asU8()).toString() : "$all";
    const against = objection("read", call.metadata, name);
    if (name !== "$all") {
      asked.set("readStream", (asked.get("readStream") ?? 0) + 1);
      streamsRead.push(name);
    }
    if (against !== undefined) call.emit("error", against);
    else answerRead(store, call, faults).catch((error) => call.emit("error", error));
  }

  function batchAppend(call: BatchCall): void {
    const against = objection("batchAppend", call.metadata);
    if (against !== undefined) {
      call.emit("error", against);
      return;
    }
    answerBatchAppend(store, call, faults, {
      appendBytesMax,
      lose: () => void drop(),
      // This server was the leader when the call began.
      objection: () => leader && notLeader({ host: HOST, port: leader.port }),
    });
  }

  function append(
    call: ServerReadableStream<AppendReq, AppendResp>,
    done: sendUnaryData<AppendResp>,
  ): void {
    const against = objection("append", call.metadata);
    const requests: AppendReq[] = [];
    call.on("data", (request) => requests.push(request));
    call.on("end", () => {
      if (against !== undefined) done(against);
      else done(null, answerAppend(store, requests));
    });
  }

  function remove<Q extends DeleteReq | TombstoneReq, R extends DeleteResp | TombstoneResp>(
    work: (stream: string) => AppendResult,
    response: R,
    call: ServerUnaryCall<Q, R>,
    done: sendUnaryData<R>,
  ): void {
    const wanted = call.request.getOptions()?.getStreamIdentifier();
    const name = Buffer.from(wanted?.getStreamName_asU8() ?? []).toString();
    const against = objection("delete", call.metadata, name);
    const { outcome } = against ? { outcome: "rejected" } : work(name);
    if (outcome === "appended") {
      response.setNoPosition(new shared.Empty());
      done(null, response);
    } else done(against ?? failure(status.FAILED_PRECONDITION, outcome));
  }

  function create(): Server {
    const server = new Server({ "grpc.max_receive_message_length": MESSAGE_BYTES_MAX });
    server.addService(streamsService.StreamsService as never, {
      read: read as never,
      batchAppend: batchAppend as never,
      append: append as never,
      delete: ((call: ServerUnaryCall<DeleteReq, DeleteResp>, done: sendUnaryData<DeleteResp>) =>
        remove((name) => store.delete(name, "any"), new streams.DeleteResp(), call, done)) as never,
      tombstone: ((
        call: ServerUnaryCall<TombstoneReq, TombstoneResp>,
        done: sendUnaryData<TombstoneResp>,
      ) =>
        remove(
          (name) => store.tombstone(name, "any"),
          new streams.TombstoneResp(),
          call,
          done,
        )) as never,
    });
    server.addService(featuresService.ServerFeaturesService as never, {
      getSupportedMethods: ((_: unknown, done: sendUnaryData<unknown>) => {
        done(null, supportedMethods(version));
      }) as never,
    });
    server.addService(gossipService.GossipService as never, {
      read: ((_: unknown, done: sendUnaryData<unknown>) => done(null, members())) as never,
    });
    return server;
  }

  function members(): InstanceType<typeof gossip.ClusterInfo> {
    const member = (at: number, state: number) => {
      const endpoint = new gossip.EndPoint();
      endpoint.setAddress(HOST);
      endpoint.setPort(at);
      const info = new gossip.MemberInfo();
      info.setState(state as never);
      info.setIsAlive(true);
      info.setHttpEndPoint(endpoint);
      return info;
    };
    const info = new gossip.ClusterInfo();
    info.setMembersList(
      leader === undefined
        ? [member(port, LEADER)]
        : [member(port, FOLLOWER), member(leader.port, LEADER)],
    );
    return info;
  }

  async function start(): Promise<void> {
    const server = create();
    const credentials =
      tls === undefined
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(null, [
            { private_key: tls.key, cert_chain: tls.certificate },
          ]);
    port = await new Promise((resolve, reject) => {
      server.bindAsync(`${HOST}:${port}`, credentials, (error, bound) => {
        if (error === null) resolve(bound);
        else reject(error);
      });
    });
    serving = server;
  }

  async function stop(): Promise<void> {
    serving?.forceShutdown();
    serving = undefined;
  }

  async function drop(): Promise<void> {
    await stop();
    await start();
  }

  await start();
  return {
    get port() {
      return port;
    },
    get address() {
      return `esdb://${HOST}:${port}?tls=${tls !== undefined}`;
    },
    get store() {
      return store;
    },
    serve(other) {
      store = other;
    },
    faults,
    forbidden,
    asked,
    streamsRead,
    follow(other) {
      leader = other;
    },
    stop,
    start,
    drop,
  };
}

function supportedMethods(version: string): InstanceType<typeof features.SupportedMethods> {
  const methods = Object.values(streamsService.StreamsService).map(({ path }) => {
    const [, service = "", name = ""] = path.split("/");
    const method = new features.SupportedMethod();
    method.setServiceName(service);
    method.setMethodName(name);
    return method;
  });
  const supported = new features.SupportedMethods();
  supported.setEventStoreServerVersion(version);
  supported.setMethodsList(methods);
  return supported;
}
