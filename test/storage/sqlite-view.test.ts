import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import {
  openSqliteView,
  openSqliteViewReader,
  type ViewFile,
} from "../../src/storage/sqlite/sqlite-view.ts";
import type { ViewSchema } from "../../src/storage/sqlite/view-tables.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

const schema: ViewSchema = {
  view: "marks",
  version: 3,
  tables: "CREATE TABLE mark (text TEXT NOT NULL) STRICT;",
  reset: "DELETE FROM mark;",
};

let directory: TemporaryDirectory;
let path: string;
beforeEach(() => {
  directory = temporaryDirectory("annals-view");
  path = join(directory.path, "marks.sqlite");
});
afterEach(() => directory[Symbol.dispose]());

function write(text: string, upTo: number, file: Partial<ViewFile> = {}): void {
  const view = openSqliteView(schema, { path, ...file });
  view.commit(position(upTo), () => {
    view.db.prepare("INSERT INTO mark (text) VALUES (?)").run(text);
  });
  view.close("keep");
}

describe("a view's file", () => {
  test("a file of another model is emptied", () => {
    write("a", 2, { model: "m1" });
    write("b", 1, { model: "m2" });
    const reader = openSqliteViewReader(schema, path);
    expect({
      ...reader.prepare("SELECT name, generation, model, position FROM view").get(),
    }).toEqual({ name: "marks", generation: 2, model: "m2", position: 1 });
    reader.close();
  });

  test("checksums of pages that an earlier release wrote are ignored and deleted", () => {
    write("a", 2);
    for (const bulk of [false, true]) {
      writeFileSync(`${path}-sums`, "checksums");
      write("b", 3, { bulk });
      expect(existsSync(`${path}-sums`)).toBe(false);
    }
  });

  test("a view of a release without names of records opens, and names records from then on", () => {
    write("a", 2);
    const old = new DatabaseSync(path);
    old.exec("ALTER TABLE view DROP COLUMN record");
    old.close();
    const view = openSqliteView(schema, { path });
    expect([view.position(), view.record()]).toEqual([2, undefined]);
    view.commit(position(3), () => {}, "a name");
    view.close("keep");
    const later = openSqliteView(schema, { path });
    expect([later.position(), later.record()]).toEqual([3, "a name"]);
    later.close("keep");
  });

  describe("a file of another log", () => {
    const log = (id: string, head: number) => ({ id, head: position(head) });

    /** Texts, position and reasons for emptying when the file is opened for that log. */
    function opened(file: Partial<ViewFile>) {
      const reasons: string[] = [];
      const view = openSqliteView(schema, { path, onEmptied: (why) => reasons.push(why), ...file });
      const texts = view.db.prepare("SELECT text FROM mark").all();
      const found = [texts.map(({ text }) => text).join(), view.position(), reasons];
      view.close("keep");
      return found;
    }

    test("the file is emptied, and the reason is returned", () => {
      write("a", 2, { log: log("one", 2) });
      expect(opened({ log: log("one", 2) })).toEqual(["a", 2, []]);
      expect(opened({ log: log("other", 2) })).toEqual(["", 0, ["another log"]]);
      expect(opened({ log: log("other", 2) })).toEqual(["", 0, []]);
    });

    test("the file is unchanged if the other log ends before it, because it may be the only copy", () => {
      write("a", 2, { log: log("one", 2) });
      expect(opened({ log: log("other", 1) })).toEqual(["a", 2, []]);
      expect(opened({ log: log("one", 2) })).toEqual(["a", 2, []]);
      expect(opened({ log: log("other", 2) })).toEqual(["", 0, ["another log"]]);
    });

    test("the file belongs to this log if neither the file nor the opener names one", () => {
      write("a", 2);
      // Files had no log id in early releases.
      const db = new DatabaseSync(path);
      db.exec("ALTER TABLE view DROP COLUMN log");
      db.close();
      expect(opened({})).toEqual(["a", 2, []]);
      expect(opened({ log: log("one", 2) })).toEqual(["a", 2, []]);
      expect(opened({})).toEqual(["a", 2, []]);
      expect(opened({ log: log("other", 5) })).toEqual(["", 0, ["another log"]]);
    });

    test("the reason is the model if the model differs", () => {
      write("a", 2, { model: "m1" });
      expect(opened({ model: "m2" })).toEqual(["", 0, ["another model"]]);
    });
  });

  test.each([
    [4, "a newer release (version 4 of its tables, this one has 3)"],
    [2, "an older release (version 2 of its tables, this one has 3)"],
  ])("a file with tables of version %i is rejected, with a hint", (version, reason) => {
    write("a", 1);
    const db = new DatabaseSync(path);
    db.exec(`PRAGMA user_version = ${version}`);
    db.close();
    for (const open of [
      openSqliteView.bind(null, schema, { path }),
      () => openSqliteViewReader(schema, path),
    ]) {
      expect(open).toThrow(
        expect.objectContaining({
          code: "unavailable",
          message: expect.stringContaining(reason),
          hint: expect.stringContaining("npm run -s annals -- rebuild marks"),
        }),
      );
    }
  });

  describe("a file of an older release", () => {
    const log = { id: "one", head: position(2) };
    const openNow = (file: Partial<ViewFile>) => {
      const reasons: string[] = [];
      const view = openSqliteView(schema, {
        path,
        log,
        onEmptied: (why) => reasons.push(why),
        ...file,
      });
      const texts = view.db.prepare("SELECT text FROM mark").all();
      const found = [texts.length, view.position(), reasons];
      view.close("keep");
      return found;
    };
    beforeEach(() => {
      write("a", 2, { log });
      const db = new DatabaseSync(path);
      db.exec("ALTER TABLE mark ADD COLUMN old TEXT; ALTER TABLE mark DROP COLUMN text");
      db.close();
    });

    test("the file is emptied, and the reason is returned", () => {
      const db = new DatabaseSync(path);
      db.exec("PRAGMA user_version = 2");
      db.close();
      expect(openNow({})).toEqual([0, 0, ["an older release"]]);
      expect(openNow({})).toEqual([0, 0, []]);
    });

    test("the file is rejected unchanged on request, or if the log ends before it", () => {
      const db = new DatabaseSync(path);
      db.exec("PRAGMA user_version = 2");
      db.close();
      const rejected = 'the view "marks" was built by an older release';
      expect(() => openNow({ keepsOlder: true })).toThrow(rejected);
      expect(() => openNow({ log: { ...log, head: position(1) } })).toThrow(rejected);
      expect(openNow({})).toEqual([0, 0, ["an older release"]]);
    });

    test("a file with the current version but other tables is set aside as damaged", () => {
      expect(openNow({})).toEqual([0, 0, ["damaged"]]);
      const db = new DatabaseSync(`${path}.damaged`);
      expect(db.prepare("SELECT count(old) AS n, count(*) AS rows FROM mark").get()).toMatchObject({
        ...{ n: 0, rows: 1 },
      });
      db.close();
    });
  });

  test("a file of another view is rejected", () => {
    write("a", 1);
    const other = { ...schema, view: "stamps" };
    expect(() => openSqliteView(other, { path })).toThrow(
      'the file holds the view "marks", not "stamps"',
    );
    expect(() => openSqliteViewReader(other, path)).toThrow('not "stamps"');
  });

  test("a writer sets aside a file that is not a database, and starts with an empty one", () => {
    const text = "this is no database, and long enough to be sure of that".repeat(100);
    writeFileSync(path, text);
    const why: string[] = [];
    const view = openSqliteView(schema, { path, onEmptied: (one) => why.push(one) });
    expect([view.position(), why]).toEqual([0, ["damaged"]]);
    view.close("keep");
    expect(readFileSync(`${path}.damaged`, "utf8")).toBe(text);
  });

  test("a reader rejects a missing file, and a file that is not a database", () => {
    expect(() => openSqliteViewReader(schema, path)).toThrow(`there is no view "marks"`);
    writeFileSync(path, "this is no database, and long enough to be sure of that".repeat(100));
    expect(() => openSqliteViewReader(schema, path)).toThrow(
      expect.objectContaining({
        code: "unavailable",
        hint: "Run: npm run -s annals -- rebuild marks",
      }),
    );
  });

  test("an unreadable file, or a file of any version, can be rebuilt", () => {
    writeFileSync(path, "this is no database, and long enough to be sure of that".repeat(100));
    write("again", 5, { bulk: true });
    const view = openSqliteView(schema, { path });
    expect(view.position()).toBe(5);
    view.close("keep");
  });

  test("a file built in bulk replaces the old one only when it is closed", () => {
    write("old", 1);
    const view = openSqliteView(schema, { path, bulk: true });
    expect(view.position()).toBe(0);
    view.commit(position(9), () => view.db.exec("INSERT INTO mark VALUES ('new')"));
    const reader = openSqliteViewReader(schema, path);
    expect(reader.prepare("SELECT text FROM mark").get()?.text).toBe("old");
    reader.close();
    view.close("keep");
    view.close("discard");
    const after = openSqliteViewReader(schema, path);
    expect(after.prepare("SELECT text FROM mark").get()?.text).toBe("new");
    after.close();
  });
});

describe("a commit", () => {
  test("a commit is atomic, also in bulk", () => {
    for (const bulk of [false, true]) {
      const view = openSqliteView(schema, { path, bulk });
      const failing = () =>
        view.commit(position(2), () => {
          view.db.exec("INSERT INTO mark VALUES ('half')");
          view.db.exec("INSERT INTO mark VALUES (NULL)");
        });
      expect(failing).toThrow(
        expect.objectContaining({
          code: "internal",
          message: expect.stringMatching(/the view "marks" cannot store the value: NOT NULL/),
        }),
      );
      expect(view.position()).toBe(0);
      expect(view.db.prepare("SELECT count(*) AS n FROM mark").get()?.n).toBe(0);
      view.commit(position(2), () => view.db.exec("INSERT INTO mark VALUES ('whole')"));
      expect(view.position()).toBe(2);
      view.close("discard");
    }
  });

  test("a commit at or below the checkpoint has no effect", () => {
    const view = openSqliteView(schema, { path });
    view.commit(position(5), () => {});
    for (const upTo of [5, 4, 0]) {
      view.commit(position(upTo), () => expect.unreachable("nothing is to be written"));
    }
    expect(view.position()).toBe(5);
    view.close("keep");
  });
});
