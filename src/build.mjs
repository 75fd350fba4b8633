/**
 * Builds the npm package into dist/: the sources as JavaScript, because Node strips no types under
 * node_modules, the model, and the sample. The folders in dist/ are those of the project, so that
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
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json")], {
  stdio: ["ignore", process.stderr, process.stderr],
});
if (status !== 0) process.exit(status ?? 1);

// tsc rewrites the extensions of imports; those of threads and processes are URLs.
const moduleUrl = /(new URL\("[^"]+)\.ts(", import\.meta\.url\))/g;
for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
  if (!name.endsWith(".js")) continue;
  const file = join(dist, name);
  const text = readFileSync(file, "utf8");
  const built = text.replaceAll(moduleUrl, "$1.js$2");
  if (built !== text) writeFileSync(file, built);
}

const copied = [
  ["src/annals.mjs", "src/annals.mjs"],
  ["avro", "avro"],
  ["test/data/sample/catalog.json", "sample/catalog.json"],
];
for (const [from, to] of copied) cpSync(join(root, from), join(dist, to), { recursive: true });
chmodSync(join(dist, "src/annals.mjs"), 0o755);
