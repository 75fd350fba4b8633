/**
 * Keeps the servers of one test run: each is started at most once, on the first request, by a
 * container engine if one is available, else from registry packages. The servers are children of a
 * separate process (store-keeper-process.ts), which ends them when this process ends in any way.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { OwnName, ReachedStore, SkippedStore, StoreName } from "../stores.ts";
import type { Answer, Question } from "./store-keeper-process.ts";

const program = fileURLToPath(new URL("store-keeper-process.ts", import.meta.url));

type Asked = Question extends infer Each
  ? Each extends Question
    ? Omit<Each, "id">
    : never
  : never;

/** A server for one test, which may break it. */
export interface OwnStore {
  readonly url: string;
  readonly version: string;
  /** The server's folder on this machine, with its data. */
  readonly folder: string;
  /** Sends SIGKILL; the data stays. */
  kill(): Promise<void>;
  /** Starts the server on the same address with the same data; resolves when it is ready. */
  start(): Promise<void>;
  /** Stops the server and deletes its data. */
  stop(): Promise<void>;
}

export interface StoreKeeper {
  reach(name: StoreName): Promise<ReachedStore | SkippedStore>;
  /** `within`: the parent of its folder; the system's temporary directory if absent. */
  own(name: OwnName, within?: string): Promise<OwnStore | SkippedStore>;
  /** Ends all servers and deletes their data. */
  close(): Promise<void>;
}

export function createStoreKeeper(): StoreKeeper {
  const waiting = new Map<number, (answer: Answer) => void>();
  let child: ChildProcess | undefined;
  let questions = 0;

  function started(): ChildProcess {
    if (child !== undefined) return child;
    // A session of its own: Ctrl-C reaches only this process, which then disconnects.
    const forked = fork(program, [], {
      detached: true,
      execArgv: [],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    forked.on("message", (answer: Answer) => {
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
      if (waiting.size === 0) letGo(forked);
    });
    forked.on("exit", () => {
      for (const [id, resolve] of waiting) resolve({ id, skipped: "the keeper of servers ended" });
      waiting.clear();
      child = undefined;
    });
    child = forked;
    return forked;
  }

  async function ask(question: Asked): Promise<Answer> {
    const keeper = started();
    const id = ++questions;
    keeper.ref();
    keeper.channel?.ref();
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      keeper.send({ ...question, id });
    });
  }

  return {
    async reach(name) {
      const { id: _, ...answer } = await ask({ act: "reach", name });
      return answer as ReachedStore | SkippedStore;
    },

    async own(name, within) {
      const answer = await ask({ act: "own", name, within });
      if ("skipped" in answer) return { skipped: answer.skipped };
      const { url, version = "", folder = "", server } = answer;
      const act = async (what: "kill" | "start" | "stop") => {
        const done = await ask({ act: what, server });
        if ("skipped" in done) throw new Error(`${name}: ${what}: ${done.skipped}`);
      };
      return {
        url,
        version,
        folder,
        kill: () => act("kill"),
        start: () => act("start"),
        stop: () => act("stop"),
      };
    },

    async close() {
      if (child === undefined) return;
      const ended = once(child, "exit");
      child.ref();
      child.disconnect();
      await ended;
    },
  };
}

/** A program with no more requests may end; its servers then end with it. */
function letGo(keeper: ChildProcess): void {
  keeper.unref();
  keeper.channel?.unref();
}
