/** The location of a PostgreSQL view for a test: a schema of its own in a shared server. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import type { ServerAddress, ViewOrigin } from "../../src/storage/view-origin.ts";
import type { AspectReader } from "../../src/views/aspects/aspect-table.ts";
import { openPostgresAspectReader } from "../../src/views/aspects/postgres/postgres-aspect-reader.ts";
import { openPostgresAspectRows } from "../../src/views/aspects/postgres/postgres-aspect-rows.ts";
import { openPostgresAspectSink } from "../../src/views/aspects/postgres/postgres-aspect-sink.ts";
import { type AspectRow, type Dump, withAspectDump } from "../support/dumped-readers.ts";

export interface PostgresPlace {
  readonly place: ServerAddress;
  openSink(origin?: ViewOrigin): ReturnType<typeof openPostgresAspectSink>;
  openReader(): Promise<AspectReader & Dump<AspectRow>>;
  /** `{entity}` and the like are the tables of the live generation. */
  ask(query: string): Promise<readonly Record<string, unknown>[]>;
  change(statements: string): Promise<void>;
  /** Breaks the connections of all sinks and readers. */
  disconnect(): Promise<void>;
  crash(): Promise<void>;
  remove(): Promise<void>;
}

const TABLE = /\{(\w+)\}/;

export const createPostgresPlaces = (url: string) => async (): Promise<PostgresPlace> => {
  const place: ServerAddress = { url, name: `test_${randomBytes(6).toString("hex")}` };
  const admin = new pg.Pool({ connectionString: url, max: 1 });
  // Idle connections break when a test stops the server.
  admin.on("error", () => {});
  const opened: { close(outcome?: "discard"): Promise<void> }[] = [];

  async function keep<T extends (typeof opened)[number]>(opening: Promise<T>): Promise<T> {
    const one = await opening;
    opened.push(one);
    return one;
  }

  async function run(statements: string) {
    let text = statements;
    if (TABLE.test(text)) {
      const { rows } = await admin.query(
        `SELECT generation FROM "${place.name}".view WHERE name = 'aspects' AND live`,
      );
      const generation = rows[0]?.generation;
      text = text.replaceAll(new RegExp(TABLE, "g"), `"${place.name}".$1_g${generation}`);
    }
    return admin.query(text);
  }

  async function disconnect(): Promise<void> {
    await admin.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1`,
      [`annals ${place.name}`],
    );
  }

  return {
    place,
    openSink: (origin = {}) => keep(openPostgresAspectSink({ ...place, ...origin })),
    openReader: async () =>
      withAspectDump(await keep(openPostgresAspectReader(place)), () =>
        openPostgresAspectRows(place),
      ),
    ask: async (query) => (await run(query)).rows,
    change: async (statements) => {
      await run(statements);
    },
    disconnect,
    crash: disconnect,
    async remove() {
      // A staging generation that a test left open is lost.
      for (const one of opened) await one.close("discard").catch(() => {});
      await admin.query(`DROP SCHEMA IF EXISTS "${place.name}" CASCADE`);
      await admin.end();
    },
  };
};
