import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Modules that are loaded with the entry modules: their static imports, and the imports of these. */
function loadedWith(entries: readonly string[]): readonly string[] {
  const loaded = new Set(entries.map((entry) => join(root, entry)));
  // A set also visits elements that are added during the iteration.
  for (const module of loaded) {
    if (!module.startsWith("/") || !module.endsWith(".ts")) continue;
    const imports = readFileSync(module, "utf8").matchAll(
      /^(?:import|export)\s+(?!type\s)(?:[^"';]*?\bfrom\s+)?"([^"]+)"/gm,
    );
    for (const [, from = ""] of imports) {
      loaded.add(from.startsWith(".") ? join(module, "..", from) : from);
    }
  }
  return [...loaded].map((module) => module.replace(root, ""));
}

const packagesIn = (modules: readonly string[]): readonly string[] =>
  modules.filter((module) => !/^(node:|src\/|projections\/|package\.json)/.test(module)).sort();

test("an embedded service loads no package that only servers, metrics, GraphQL or the first value need", () => {
  const packages = packagesIn(loadedWith(["src/app/service.ts", "src/app/catalog-and-http.ts"]));
  const needed = ["avsc", "dataloader", "fastest-levenshtein", "fastify", "lru-cache"];
  expect(packages).toEqual(needed);
});

test("the service's start does not load the comparison of views with the log", () => {
  const modules = loadedWith(["src/app/service.ts", "src/app/catalog-and-http.ts"]);
  expect(modules).not.toContain("src/app/verification/verified-views.ts");
});

test("the projector's thread gets its configuration before the modules of HTTP and the catalog load", () => {
  const modules = loadedWith(["src/app/service.ts"]);
  expect(packagesIn(modules)).toEqual(["avsc", "dataloader", "lru-cache"]);
  expect(modules.filter((module) => module.startsWith("src/catalog/"))).toEqual([]);
});

test("the projector's thread loads no package that only servers need", () => {
  const modules = loadedWith(["src/projector/thread/projector-thread.ts", "src/app/stores.ts"]);
  expect(packagesIn(modules)).toEqual(["avsc", "dataloader", "lru-cache"]);
});

test("the command line loads no store and no other command before it runs serve", () => {
  const modules = loadedWith(["src/main.ts"]);
  expect(packagesIn(modules)).toEqual(["commander", "fastest-levenshtein", "pino"]);
  expect(modules).not.toContain("src/app/stores.ts");
  expect(modules).not.toContain("src/cli/commands/commands.ts");
});
