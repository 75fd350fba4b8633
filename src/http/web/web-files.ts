/**
 * The files of the built browser application. A request can name only files that were listed when the folder
 * was read, so a path never leaves the folder. Each response streams its file, which bounds the memory.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { codingFor } from "../hooks/content-coding.ts";
import { createFixedText, type FixedText } from "../response/fixed-text.ts";
import type { FileBody } from "../schemas/endpoint.ts";

export interface WebFiles {
  /** The page of the application; undefined until it is built. */
  readonly page: FixedText | undefined;
  /**
   * Opens a file of the folder in a coding that the Accept-Encoding header accepts. Undefined for a name that the
   * folder does not list.
   */
  open(name: string, acceptEncoding: string): Promise<FileBody | undefined>;
}

const PAGE = "index.html";
/** The codings that the build writes beside each file, with the ending of their names. */
const endings = { br: ".br", gzip: ".gz" } as const;
type BuiltCoding = keyof typeof endings;

const types = new Map([
  [".css", "text/css; charset=utf-8"],
  [".ico", "image/x-icon"],
  [".js", "text/javascript; charset=utf-8"],
  [".json", "application/json; charset=utf-8"],
  [".png", "image/png"],
  [".svg", "image/svg+xml"],
  [".txt", "text/plain; charset=utf-8"],
  [".webmanifest", "application/manifest+json"],
  [".woff2", "font/woff2"],
]);

const noFiles: WebFiles = { page: undefined, open: async () => undefined };

/** Returns the files of the folder, which is listed again after a build has replaced its page. */
export function watchWebFiles(folder: string): () => WebFiles {
  let listed = { build: "", files: noFiles };
  return () => {
    const page = statSync(join(folder, PAGE), { throwIfNoEntry: false });
    const build = page === undefined ? "" : `${page.ino} ${page.mtimeMs}`;
    if (build !== listed.build) listed = { build, files: readWebFiles(folder) };
    return listed.files;
  };
}

/** Lists the folder; a folder that does not exist, or has no page, has no files. */
function readWebFiles(folder: string): WebFiles {
  const names = filesIn(folder);
  if (!names.has(PAGE)) return noFiles;
  const page = createFixedText(readFileSync(join(folder, PAGE), "utf8"));

  return {
    page,
    async open(name, acceptEncoding) {
      const type = types.get(extname(name));
      if (type === undefined || !names.has(name)) return undefined;
      const built = (["br", "gzip"] as const).filter((coding) => names.has(name + endings[coding]));
      const coding = codingFor(acceptEncoding, built) as BuiltCoding | undefined;
      const path = join(folder, coding === undefined ? name : name + endings[coding]);
      const file = await opened(path);
      if (file === undefined) return undefined;
      const { size } = await file.stat();
      return { type, size, coding, varies: built.length > 0, stream: file.createReadStream() };
    },
  };
}

/** Undefined for a file that a newer build has removed since the folder was listed. */
async function opened(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The regular files below a folder, by their paths with slashes. */
function filesIn(folder: string): ReadonlySet<string> {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const files = names.filter((name) => statSync(join(folder, name)).isFile());
    return new Set(files.map((name) => name.replaceAll(sep, "/")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return new Set();
    throw error;
  }
}
