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
  test("that another model made begins anew", () => {
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

  describe("that another log has fed", () => {
    const log = (id: string, head: number) => ({ id, head: position(head) });

    /** Text, position and what was said when the file is opened for that log. */
    function opened(file: Partial<ViewFile>) {
      const told: string[] = [];
      const view = openSqliteView(schema, { path, onEmptied: (why) => told.push(why), ...file });
      const texts = view.db.prepare("SELECT text FROM mark").all();
      const found = [texts.map(({ text }) => text).join(), view.position(), told];
      view.close("keep");
      return found;
    }

    test("begins anew, and says why", () => {
      write("a", 2, { log: log("one", 2) });
      expect(opened({ log: log("one", 2) })).toEqual(["a", 2, []]);
      expect(opened({ log: log("other", 2) })).toEqual(["", 0, ["another log"]]);
      expect(opened({ log: log("other", 2) })).toEqual(["", 0, []]);
    });

    test("stays as it is where that log ends before it: it may be all that is left", () => {
      write("a", 2, { log: log("one", 2) });
      expect(opened({ log: log("other", 1) })).toEqual(["a", 2, []]);
      expect(opened({ log: log("one", 2) })).toEqual(["a", 2, []]);
      expect(opened({ log: log("other", 2) })).toEqual(["", 0, ["another log"]]);
    });

    test("is taken for this log's where neither the file nor the opener knows of logs", () => {
      write("a", 2);
      // As files were before they knew of logs.
      const db = new DatabaseSync(path);
      db.exec("ALTER TABLE view DROP COLUMN log");
      db.close();
      expect(opened({})).toEqual(["a", 2, []]);
      expect(opened({ log: log("one", 2) })).toEqual(["a", 2, []]);
      expect(opened({})).toEqual(["a", 2, []]);
      expect(opened({ log: log("other", 5) })).toEqual(["", 0, ["another log"]]);
    });

    test("says so too when it is the model that is another", () => {
      write("a", 2, { model: "m1" });
      expect(opened({ model: "m2" })).toEqual(["", 0, ["another model"]]);
    });
  });

  test.each([
    [4, "a newer release (version 4 of its tables, this one has 3)"],
    [2, "an older release (version 2 of its tables, this one has 3)"],
  ])("with tables of version %i is refused, and the way out is told", (version, told) => {
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
          message: expect.stringContaining(told),
          hint: expect.stringContaining("npm run -s annals -- rebuild marks"),
        }),
      );
    }
  });

  describe("that an older release made", () => {
    const log = { id: "one", head: position(2) };
    const openNow = (file: Partial<ViewFile>) => {
      const told: string[] = [];
      const view = openSqliteView(schema, {
        path,
        log,
        onEmptied: (why) => told.push(why),
        ...file,
      });
      const texts = view.db.prepare("SELECT text FROM mark").all();
      const found = [texts.length, view.position(), told];
      view.close("keep");
      return found;
    };
    beforeEach(() => {
      write("a", 2, { log });
      const db = new DatabaseSync(path);
      db.exec("ALTER TABLE mark ADD COLUMN old TEXT; ALTER TABLE mark DROP COLUMN text");
      db.close();
    });

    test("begins anew, and says why", () => {
      const db = new DatabaseSync(path);
      db.exec("PRAGMA user_version = 2");
      db.close();
      expect(openNow({})).toEqual([0, 0, ["an older release"]]);
      expect(openNow({})).toEqual([0, 0, []]);
    });

    test("stays as it is where that is wanted, or where the log ends before it", () => {
      const db = new DatabaseSync(path);
      db.exec("PRAGMA user_version = 2");
      db.close();
      const refused = 'the view "marks" was made by an older release';
      expect(() => openNow({ keepsOlder: true })).toThrow(refused);
      expect(() => openNow({ log: { ...log, head: position(1) } })).toThrow(refused);
      expect(openNow({})).toEqual([0, 0, ["an older release"]]);
    });

    test("and is of this release's number, but lacks what its tables have, is set aside", () => {
      expect(openNow({})).toEqual([0, 0, ["damaged"]]);
      const db = new DatabaseSync(`${path}.damaged`);
      expect(db.prepare("SELECT count(old) AS n, count(*) AS rows FROM mark").get()).toMatchObject({
        ...{ n: 0, rows: 1 },
      });
      db.close();
    });
  });

  test("of another view is refused", () => {
    write("a", 1);
    const other = { ...schema, view: "stamps" };
    expect(() => openSqliteView(other, { path })).toThrow(
      'the file holds the view "marks", not "stamps"',
    );
    expect(() => openSqliteViewReader(other, path)).toThrow('not "stamps"');
  });

  test("that is none is set aside by a writer, which begins anew", () => {
    const text = "this is no database, and long enough to be sure of that".repeat(100);
    writeFileSync(path, text);
    const why: string[] = [];
    const view = openSqliteView(schema, { path, onEmptied: (one) => why.push(one) });
    expect([view.position(), why]).toEqual([0, ["damaged"]]);
    view.close("keep");
    expect(readFileSync(`${path}.damaged`, "utf8")).toBe(text);
  });

  test("that is none, or is not there to be read, is refused to readers", () => {
    expect(() => openSqliteViewReader(schema, path)).toThrow(`there is no view "marks"`);
    writeFileSync(path, "this is no database, and long enough to be sure of that".repeat(100));
    expect(() => openSqliteViewReader(schema, path)).toThrow(
      expect.objectContaining({
        code: "unavailable",
        hint: "Run: npm run -s annals -- rebuild marks",
      }),
    );
  });

  test("that cannot be read or is of any version can be grown again", () => {
    writeFileSync(path, "this is no database, and long enough to be sure of that".repeat(100));
    write("again", 5, { bulk: true });
    const view = openSqliteView(schema, { path });
    expect(view.position()).toBe(5);
    view.close("keep");
  });

  test("grown beside another leaves that one alone until it is closed", () => {
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
  test("is whole or nothing, for a view that is grown in bulk too", () => {
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
          message: expect.stringMatching(
            /the view "marks" cannot take what it was given: NOT NULL/,
          ),
        }),
      );
      expect(view.position()).toBe(0);
      expect(view.db.prepare("SELECT count(*) AS n FROM mark").get()?.n).toBe(0);
      view.commit(position(2), () => view.db.exec("INSERT INTO mark VALUES ('whole')"));
      expect(view.position()).toBe(2);
      view.close("discard");
    }
  });

  test("at or below the checkpoint does nothing", () => {
    const view = openSqliteView(schema, { path });
    view.commit(position(5), () => {});
    for (const upTo of [5, 4, 0]) {
      view.commit(position(upTo), () => expect.unreachable("nothing is to be written"));
    }
    expect(view.position()).toBe(5);
    view.close("keep");
  });
});
