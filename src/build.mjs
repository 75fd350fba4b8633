/**
 * Builds the npm package into dist/: the sources as JavaScript, because Node strips no types under
 * node_modules, the model, the sample, and the browser application (build-web.mjs). The folders in dist/ are those of the project, so that
 * paths relative to a module stay valid.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

rmSync(dist, { recursive: true, force: true });
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
// The client (annals/client) is a library: only it has declarations.
for (const project of ["tsconfig.build.json", "src/client/tsconfig.json"]) {
  const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, project)], {
    stdio: ["ignore", process.stderr, process.stderr],
  });
  if (status !== 0) process.exit(status ?? 1);
}

// tsc rewrites the extensions of imports, but not in declarations; those of threads and processes are URLs.
const declaredImport = /( from ".[^"]+)\.ts(";)/g;
const moduleUrl = /(new URL\("[^"]+)\.ts(", import\.meta\.url\))/g;
for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
  if (!/\.(js|d\.ts)$/.test(name)) continue;
  const file = join(dist, name);
  const text = readFileSync(file, "utf8");
  const built = text.replaceAll(moduleUrl, "$1.js$2").replaceAll(declaredImport, "$1.js$2");
  if (built !== text) writeFileSync(file, built);
}

const copied = [
  ["src/annals.mjs", "src/annals.mjs"],
  ["src/graphql/explorer.html", "src/graphql/explorer.html"],
  ["src/graphql/schema", "src/graphql/schema"],
  ["src/http/docs", "src/http/docs"],
  ["src/cli/commands/completion", "src/cli/commands/completion"],
  ["avro", "avro"],
  ["test/data/sample/catalog.json", "sample/catalog.json"],
];
const filter = (path) => !path.endsWith(".ts");
for (const [from, to] of copied) {
  cpSync(join(root, from), join(dist, to), { recursive: true, filter });
}
chmodSync(join(dist, "src/annals.mjs"), 0o755);

await import("./build-web.mjs");
