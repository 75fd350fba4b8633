/** The result of `annals verify` in a running service (src/cli/commands/operations/verify.ts). */
import { expect, test } from "vitest";
import { verifyRunning } from "../../src/cli/commands/operations/verify.ts";
import { exitCodes } from "../../src/cli/failure.ts";

/** Runs the command on a service whose job ends like this. */
async function verified(job: { state: "done" | "failed"; batches: number }) {
  const result = { view: "graph", time: 20, position: 7, rows: 3, differences: 0 };
  const replies: Readonly<Record<string, unknown>> = {
    verify: "n:1",
    getJob: {
      id: "n:1",
      kind: "verify",
      started: 10,
      perSecond: 0,
      ...job,
      counts: { batches: job.batches },
    },
    listDifferences: { views: [result], differences: [] },
  };
  const printed: unknown[] = [];
  const operation = {
    client: { act: async (action: string) => replies[action] },
    terminal: { startBar: () => ({ update: () => {}, stop: () => {} }), note: () => {} },
    print: async ({ value }: { value: unknown }) => void printed.push(value),
  } as unknown as Parameters<typeof verifyRunning>[1];
  const code = await verifyRunning({ views: ["graph"], repair: false }, operation);
  return { code, ...(printed[0] as { views: readonly unknown[]; unknown: readonly unknown[] }) };
}

test("the result of a verification that the job has waited for is not that of the job", async () => {
  const { code, views, unknown } = await verified({ state: "failed", batches: 0 });
  expect(code).toBe(exitCodes.failed);
  expect(views).toEqual([]);
  expect(unknown).toEqual([{ view: "graph", reason: "this verification did not reach it" }]);
});

test("the result of the job itself is printed", async () => {
  const { code, views, unknown } = await verified({ state: "done", batches: 1 });
  expect(code).toBe(exitCodes.done);
  expect(views).toMatchObject([{ view: "graph", count: 0 }]);
  expect(unknown).toEqual([]);
});
