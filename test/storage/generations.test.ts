import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  liveFile,
  makeStagingLive,
  removeLeftovers,
  replaceFile,
  stagingPath,
} from "../../src/storage/sqlite/generations.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const contentOf = (path: string) => readFileSync(path, "utf8");

test("generations alternate between two files, and a link names the live one", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  writeFileSync(path, "0");
  writeFileSync(`${path}-wal`, "log of 0");
  for (let n = 1; n <= 4; n++) {
    expect(stagingPath(path)).toBe(`${path}.${n % 2 === 1 ? 1 : 2}`);
    writeFileSync(stagingPath(path), String(n));
    const before = liveFile(path);
    const needless = makeStagingLive(path);
    expect(contentOf(path)).toBe(String(n));
    // The link is not among the files to delete.
    expect(needless).not.toContain(path);
    expect(needless).toContain(`${before}-wal`);
    expect(needless.includes(before)).toBe(n > 1);
    removeLeftovers(path);
    expect(readdirSync(directory.path).length).toBe(2);
    expect(contentOf(path)).toBe(String(n));
  }
});

test("files left by an interruption are removed, and the live generation stays", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  // During a build.
  writeFileSync(path, "0");
  for (const end of ["", "-journal", "-wal", "-shm"]) writeFileSync(`${path}.1${end}`, "half");
  // The link was made, but is not live.
  symlinkSync("search.sqlite.1", `${path}.link`);
  removeLeftovers(path);
  expect(readdirSync(directory.path)).toEqual(["search.sqlite"]);
  // The link is live, but the previous files are not deleted.
  writeFileSync(stagingPath(path), "1");
  writeFileSync(`${path}-wal`, "log of 0");
  makeStagingLive(path);
  removeLeftovers(path);
  expect(readdirSync(directory.path).sort()).toEqual(["search.sqlite", "search.sqlite.1"]);
  expect(contentOf(path)).toBe("1");
});

test("a file that replaces a view replaces its link", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  writeFileSync(path, "0");
  writeFileSync(stagingPath(path), "1");
  makeStagingLive(path);
  writeFileSync(`${path}.rebuilt`, "2");
  replaceFile(path, `${path}.rebuilt`);
  expect(contentOf(path)).toBe("2");
  expect(lstatSync(path).isSymbolicLink()).toBe(false);
  expect(existsSync(`${path}.1`)).toBe(false);
});
