/**
 * The command line with fake operations, run as a process because signals, exit codes and pipes
 * belong to processes. FAKE holds the behavior of the operations as JSON.
 */
import { createServer } from "node:net";
import type { LoggedRecord } from "../../src/cli/operations.ts";
import { runProgram } from "../../src/cli/program.ts";
import { position, revision } from "../../src/core/position.ts";

export interface Fake {
  /** Duration of opening. */
  readonly openMs?: number;
  /** Duration of closing; absent: endless. */
  readonly closeMs?: number;
  /** The port that the service listens on, which may be in use. */
  readonly listen?: number;
  readonly failLaterMs?: number;
  readonly records?: number;
  /** Duration of a rebuild. */
  readonly workMs?: number;
}

const fake: Fake = JSON.parse(process.env.FAKE ?? "{}");

process.exitCode = await runProgram(process.argv.slice(2), {
  async openService({ host, port }) {
    await new Promise((resolve) => setTimeout(resolve, fake.openMs ?? 0));
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(fake.listen ?? 0, host, resolve);
    });
    if (fake.failLaterMs !== undefined) {
      setTimeout(() => Promise.reject(new Error("a fault of ours")), fake.failLaterMs);
    }
    return {
      address: () => `http://${host}:${port}`,
      async close() {
        if (fake.closeMs === undefined) return new Promise(() => {});
        await new Promise((resolve) => setTimeout(resolve, fake.closeMs));
        server.close();
      },
    };
  },

  async *readLog({ data }, query) {
    for (let at = 0; at < Math.min(fake.records ?? 0, query.limit); at++) {
      yield [record(at + 1, JSON.stringify({ ...query, data }))];
    }
  },

  async rebuild(_, { views, onProgress }) {
    onProgress(position(5), position(10));
    await new Promise((resolve) => setTimeout(resolve, fake.workMs ?? 0));
    return views.map((view) => ({ view, records: 10 }));
  },

  async verify(_, { views, repair, onProgress }) {
    onProgress(5, 10);
    const differences = [
      { urn: "urn:li:tag:rare", aspect: "status", kind: "missing", should: "1" },
    ];
    const before = views.map((view) => ({
      ...{ view, position: position(9), rows: 8, count: differences.length, differences },
    }));
    const after = repair ? before.map((one) => ({ ...one, count: 0, differences: [] })) : before;
    return { before, after, unknown: [], records: 10, restored: repair ? 1 : 0, rebuilt: [] };
  },

  async copyLog(_, { onProgress }) {
    onProgress(position(5), position(10));
    return { copied: 10, there: fake.records ?? 0 };
  },

  async backup(_, { to, onProgress }) {
    onProgress({ step: "copying", done: 1, total: 2 });
    onProgress({ step: "verifying", done: 5, total: 10 });
    return { to, position: position(10), bytes: 2_500_000 };
  },

  async repairIndexes() {
    return { records: fake.records ?? 0 };
  },

  checkStores: async () => [
    {
      store: "log",
      place: "esdb://here",
      checking: Promise.resolve({ version: "9", findings: [] }),
    },
    {
      ...{ store: "graph", place: "bolt://there" },
      checking: Promise.resolve({ version: "", findings: fake.records === 0 ? [] : ["Mend it"] }),
    },
  ],
});

function record(at: number, value: string): LoggedRecord {
  const urn = "urn:li:tag:rare";
  const created = { time: 1, actor: "urn:li:corpuser:ada" };
  const change = { urn, entityType: "tag", aspect: "tagProperties", created };
  const system = { lastObserved: 1, runId: "r", version: "1" };
  return {
    position: position(at),
    stream: `entity-${urn}`,
    revision: revision(at - 1),
    change: { ...change, changeType: "UPSERT", value, system },
  };
}
