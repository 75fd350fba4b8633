/**
 * Vitest for the whole project; the root is the project's folder. Timeouts only end tests that
 * hang: on a busy machine, a test may take many times its usual duration.
 */
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { excludedFiles } from "./groups.ts";
import { memoryDirectory } from "./support/memory-directory.ts";

const root = new URL("..", import.meta.url).pathname;
const equal = `${root}test/support/no-niceness.cjs`;
const patience = 240_000;
// TMPDIR, where it is set, overrides the memory directory.
const memory = process.env.TMPDIR === undefined ? memoryDirectory() : undefined;
if (memory !== undefined) process.env.TMPDIR = memory;

/** Long suites run first, so that the run does not end with them. */
const longest: readonly RegExp[] = [
  /\/e2e\/(rebuild|verify\.)/,
  /\/(adapter|e2e)\//,
  /\/(projector\/.*(servers|elasticsearch)|auth\/(attacks|kafka|nodes)|graphql\/move|support\/)/,
  /\/(catalog\/(as-of|rollback)|cli\/(operator|program|rejected))/,
  /./,
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      longest.findIndex((one) => one.test(moduleId));
    // The sort is stable: files of equal rank stay in order of their last duration or size.
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

const shared: TestProjectInlineConfiguration["test"] = {
  setupFiles: ["test/support/seed.ts"],
  testTimeout: patience,
  hookTimeout: 3 * patience, // A cluster of servers starts in a hook.
  expect: { poll: { timeout: 60_000, interval: 50 } },
  pool: "forks",
  // Files of a worker share the modules of the project, which are evaluated once and stay compiled:
  // a third less work. A file leaves nothing behind in them; one that replaces a module resets them.
  isolate: false,
  execArgv: ["--require", equal],
  env: {
    // Processes get the preload by NODE_OPTIONS, threads also by execArgv.
    NODE_OPTIONS: `--require ${JSON.stringify(equal)}`,
    // The compile cache of sources.
    NODE_COMPILE_CACHE: `${root}node_modules/.cache/annals`,
  },
};

/** Each of these files starts several nodes and servers: they run last, one after the other. */
const clusters = "test/cluster/**/*.test.ts";
// groups.ts lists the files of each run.
const excluded = [...excludedFiles(process.env, process.argv)];

export default defineConfig({
  root,
  test: {
    globalSetup: ["test/support/servers/shared-stores.ts"],
    // One more than there are cores on most machines that test: many a test waits for a server.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        root,
        test: {
          ...shared,
          name: "tests",
          include: ["test/**/*.test.ts"],
          exclude: [...excluded, clusters],
        },
      },
      {
        root,
        test: {
          ...shared,
          name: "clusters",
          include: [clusters],
          exclude: excluded,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
