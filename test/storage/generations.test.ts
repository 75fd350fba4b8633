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
  fileInPlace,
  putNextInPlace,
  removeLeftovers,
  replace,
  stagingPath,
} from "../../src/storage/sqlite/generations.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const told = (path: string) => readFileSync(path, "utf8");

test("editions take turns in two files, and a link says which is in place", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  writeFileSync(path, "0");
  writeFileSync(`${path}-wal`, "log of 0");
  for (let n = 1; n <= 4; n++) {
    expect(stagingPath(path)).toBe(`${path}.${n % 2 === 1 ? 1 : 2}`);
    writeFileSync(stagingPath(path), String(n));
    const before = fileInPlace(path);
    const needless = putNextInPlace(path);
    expect(told(path)).toBe(String(n));
    // The link is not among what goes.
    expect(needless).not.toContain(path);
    expect(needless).toContain(`${before}-wal`);
    expect(needless.includes(before)).toBe(n > 1);
    removeLeftovers(path);
    expect(readdirSync(directory.path).length).toBe(2);
    expect(told(path)).toBe(String(n));
  }
});

test("what an end at any moment leaves behind goes, and what is in place stays", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  // Growing.
  writeFileSync(path, "0");
  for (const end of ["", "-journal", "-wal", "-shm"]) writeFileSync(`${path}.1${end}`, "half");
  // The link was made, but is not in place.
  symlinkSync("search.sqlite.1", `${path}.link`);
  removeLeftovers(path);
  expect(readdirSync(directory.path)).toEqual(["search.sqlite"]);
  // In place, but what was there before has not gone.
  writeFileSync(stagingPath(path), "1");
  writeFileSync(`${path}-wal`, "log of 0");
  putNextInPlace(path);
  removeLeftovers(path);
  expect(readdirSync(directory.path).sort()).toEqual(["search.sqlite", "search.sqlite.1"]);
  expect(told(path)).toBe("1");
});

test("a file that replaces a view takes the place of its link", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  writeFileSync(path, "0");
  writeFileSync(stagingPath(path), "1");
  putNextInPlace(path);
  writeFileSync(`${path}.regrown`, "2");
  replace(path, `${path}.regrown`);
  expect(told(path)).toBe("2");
  expect(lstatSync(path).isSymbolicLink()).toBe(false);
  expect(existsSync(`${path}.1`)).toBe(false);
});
