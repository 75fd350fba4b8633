/**
 * Vitest for the whole project; the folder of the project is the root. Times are bounds for what
 * hangs: on a slow machine that others use, too, a test may take many times what it takes alone.
 */
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { excludedFiles } from "./groups.ts";
import { memoryDirectory } from "./support/memory-directory.ts";

const root = new URL("..", import.meta.url).pathname;
const equal = `${root}test/support/no-niceness.cjs`;
const patience = 120_000;
// Who says where what is temporary goes is heeded.
const memory = process.env.TMPDIR === undefined ? memoryDirectory() : undefined;
if (memory !== undefined) process.env.TMPDIR = memory;

/** What takes longest begins first, so that it is not waited for at the end. */
const longest: readonly RegExp[] = [
  /\/cluster\//,
  /\/e2e\/(rebuild|verify\.)/,
  /\/(adapter|e2e)\//,
  /\/(projector\/.*(servers|elasticsearch)|auth\/(attacks|kafka|nodes)|graphql\/move|support\/)/,
  /\/(catalog\/(as-of|rollback)|cli\/(operator|program|refused))/,
  /./,
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      longest.findIndex((one) => one.test(moduleId));
    // Stable: among equals, what took longer the last time, or else the larger file.
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  root,
  test: {
    include: ["test/**/*.test.ts"],
    // groups.ts lists the files of each run.
    exclude: [...excludedFiles(process.env, process.argv)],
    globalSetup: ["test/support/servers/shared-stores.ts"],
    setupFiles: ["test/support/seed.ts"],
    testTimeout: patience,
    hookTimeout: 3 * patience, // A cluster of servers starts in a hook.
    expect: { poll: { timeout: 30_000, interval: 50 } },
    pool: "forks",
    // Files of a worker share the modules of the project, which are evaluated once and stay compiled:
    // a third less work. A file leaves nothing behind in them; one that replaces a module resets them.
    isolate: false,
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
