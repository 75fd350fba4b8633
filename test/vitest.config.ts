/**
 * Vitest for the whole project; the folder of the project is the root. Times are bounds for what
 * hangs: on a slow machine that others use, too, a test may take many times what it takes alone.
 */
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = new URL("..", import.meta.url).pathname;
const equal = `${root}test/support/no-niceness.cjs`;
const patience = 120_000;

/** What takes longest begins first, so that it is not waited for at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => /\/test\/(adapter|e2e)\//.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  root,
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/servers/shared-stores.ts"],
    setupFiles: ["test/support/seed.ts"],
    testTimeout: patience,
    hookTimeout: patience,
    expect: { poll: { timeout: 30_000, interval: 50 } },
    pool: "forks",
    // One more than there are cores on most machines that test: many a test waits for a server.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    execArgv: ["--require", equal],
    env: {
      // For what tests start: threads have both, processes the first.
      NODE_OPTIONS: `--require ${JSON.stringify(equal)}`,
      // Sources that were compiled before.
      NODE_COMPILE_CACHE: `${root}node_modules/.cache/annals`,
    },
  },
});
