/**
 * Builds the browser application from src/web into dist/web, with compressed forms of each file.
 * `--if-changed` builds only if the sources differ from those of the last build: compared by content,
 * because a copy or a fresh checkout has other file times. The new folder replaces the old one at the end.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = join(root, "src/web");
const target = join(root, "dist/web");
/** Holds the hash of the sources of a build. */
const HASH_FILE = ".sources";

/** Other inputs of the build. */
const otherInputs = ["package-lock.json", "src/build-web.mjs", "test/data/sample/catalog.json"];

/** Files with other endings are compressed already. */
const compressible = new Set([".css", ".js", ".json", ".svg", ".txt", ".webmanifest"]);
const attemptsMax = 10;
/** Smaller files fit one packet anyway. */
const compressedBytesMin = 1_024;

function hashOfSources() {
  const hash = createHash("sha256");
  for (const path of [sources, ...otherInputs.map((name) => join(root, name))]) {
    for (const file of filesBelow(path)) hash.update(`${file}\n`).update(readFileSync(file));
  }
  return hash.digest("hex");
}

/** Sorted; the path itself if it is a file. */
function filesBelow(path) {
  if (extname(path) !== "") return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

function hashOfBuild() {
  try {
    return readFileSync(join(target, HASH_FILE), "utf8");
  } catch {
    return undefined;
  }
}

async function compressFiles(folder) {
  const files = filesBelow(folder).filter((file) => compressible.has(extname(file)));
  await Promise.all(
    files.map(async (file) => {
      const bytes = await readFile(file);
      if (bytes.length < compressedBytesMin) return;
      const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
      const [small, gzipped] = await Promise.all([
        promisify(brotliCompress)(bytes, { params }),
        promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
      ]);
      await Promise.all([writeFile(`${file}.br`, small), writeFile(`${file}.gz`, gzipped)]);
    }),
  );
}

/** Another build may write the target at the same time; the last one wins. */
function replaceTarget(next) {
  for (let attempt = 1; ; attempt++) {
    rmSync(target, { recursive: true, force: true });
    try {
      renameSync(next, target);
      return;
    } catch (error) {
      if (error.code !== "ENOTEMPTY" || attempt === attemptsMax) throw error;
    }
  }
}

async function buildWeb(hash) {
  // The build is the same wherever it is started: tests run in another mode, which adds checks of React.
  process.env.NODE_ENV = "production";
  const { build } = await import("vite");
  mkdirSync(join(root, "dist"), { recursive: true });
  const next = mkdtempSync(join(root, "dist/web-"));
  // Other users than the one that builds serve the folder, too.
  chmodSync(next, 0o755);
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      rmSync(next, { recursive: true, force: true });
      process.exit(1);
    });
  }
  try {
    await build({
      root: sources,
      configFile: join(sources, "vite.config.ts"),
      logLevel: "error",
      build: { outDir: next, emptyOutDir: true },
    });
    await compressFiles(next);
    await writeFile(join(next, HASH_FILE), hash);
    replaceTarget(next);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

const hash = existsSync(sources) ? hashOfSources() : undefined;
const isCurrent = process.argv.includes("--if-changed") && hash === hashOfBuild();
if (hash !== undefined && !isCurrent) {
  await buildWeb(hash).catch((error) => {
    console.error(stripVTControlCharacters(error.message));
    process.exitCode = 1;
  });
}
