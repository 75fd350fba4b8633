/** Vitest for the whole project; the folder of the project is the root. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: new URL("..", import.meta.url).pathname,
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/servers/shared-stores.ts"],
    setupFiles: ["test/support/seed.ts"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
