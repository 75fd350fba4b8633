/** The location of a SQLite view for a test: a file in a directory of its own. */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryDirectory } from "../support/temporary-directory.ts";

interface Closable {
  close(): Promise<void>;
}

export const createSqlitePlace =
  <S extends Closable, R extends Closable>(open: {
    openSink(file: { readonly path: string }): S;
    openReader(path: string): R;
  }) =>
  async () => {
    const directory = temporaryDirectory("annals-view");
    let life = 0;
    let abandoned: S[] = [];
    let sink: S | undefined;
    const folder = () => join(directory.path, String(life));
    const path = () => join(folder(), "view.sqlite");
    mkdirSync(folder());

    return {
      async openSink() {
        sink = open.openSink({ path: path() });
        return sink;
      },
      openReader: async () => open.openReader(path()),
      async ask(query: string) {
        const database = new DatabaseSync(path(), { readOnly: true, timeout: 5_000 });
        const rows = database.prepare(query).all();
        database.close();
        return rows;
      },
      async change(statements: string) {
        const database = new DatabaseSync(path(), { timeout: 5_000 });
        database.exec(statements);
        database.close();
      },
      /** Simulates a kill: the files are copied while they are open. */
      async crash() {
        const files = folder();
        life++;
        cpSync(files, folder(), { recursive: true });
        if (sink !== undefined) abandoned.push(sink);
      },
      async remove() {
        for (const lost of abandoned) await lost.close();
        abandoned = [];
        directory[Symbol.dispose]();
      },
    };
  };
