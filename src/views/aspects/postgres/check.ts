/** Checks that a PostgreSQL server can store the aspect view. */
import { CatalogError } from "../../../core/errors.ts";
import type { ServerAddress } from "../../../storage/view-origin.ts";
import { openConnections, type PostgresConnection } from "./postgres-connection.ts";
import { lookForLive } from "./postgres-view.ts";
import { tablesOf } from "./schema.ts";

/** The oldest release with all features that the statements use. */
const VERSION_MIN = 130_000;
/** A node's readers and its writer, and some for administration. */
const CONNECTIONS_MIN = 20;
const CHECK_MS_MAX = 10_000;

interface Checked {
  readonly version: string;
  /** Sentences with the problem and its solution. */
  readonly findings: readonly string[];
}

/** Rejects with `unavailable` if the server cannot be reached. */
export async function checkPostgres(address: ServerAddress): Promise<Checked> {
  const connections = openConnections(address, { most: 1, timeoutMs: CHECK_MS_MAX, settings: "" });
  try {
    const settings = await settingsOf(connections);
    const findings = [
      ...RULES.flatMap(([isWrong, finding]) => (isWrong(settings) ? [finding(settings)] : [])),
      ...(await privileges(connections, address.name)),
      ...(await tables(connections, address.name)),
    ];
    return { version: settings.get("server_version") ?? "unknown", findings };
  } finally {
    await connections.close();
  }
}

type Settings = ReadonlyMap<string, string>;
type Rule = readonly [
  isWrong: (settings: Settings) => boolean,
  finding: (settings: Settings) => string,
];

const isOff = (name: string) => (settings: Settings) => settings.get(name) === "off";

const RULES: readonly Rule[] = [
  [
    (settings) => Number(settings.get("server_version_num")) < VERSION_MIN,
    (settings) => `PostgreSQL ${settings.get("server_version")} is too old: use 13 or later.`,
  ],
  [
    (settings) => settings.get("server_encoding") !== "UTF8",
    (settings) =>
      `The database has the encoding ${settings.get("server_encoding")}: create one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
  ],
  [
    (settings) => settings.get("in_recovery") === "t",
    () => "The server is a read-only standby: use the primary in ANNALS_ASPECTS.",
  ],
  [
    (settings) => settings.get("default_transaction_read_only") === "on",
    () => "default_transaction_read_only is on, so all writes fail: turn it off for this user.",
  ],
  [
    isOff("fsync"),
    () =>
      "fsync is off: a crash of the machine may silently damage the tables. Turn it on, or rebuild the view after a crash.",
  ],
  [
    isOff("full_page_writes"),
    () => "full_page_writes is off: a crash of the machine may damage the tables. Turn it on.",
  ],
  [
    isOff("synchronous_commit"),
    () =>
      "synchronous_commit is off: a crash of the server loses the last batches, and readers see an older view until it has caught up. Turn it on.",
  ],
  [
    (settings) => Number(settings.get("max_connections")) < CONNECTIONS_MIN,
    (settings) =>
      `max_connections is ${settings.get("max_connections")}: each node uses up to 9. Raise it to ${CONNECTIONS_MIN} or more.`,
  ],
];

async function settingsOf(connection: PostgresConnection): Promise<Settings> {
  const rows = await connection.query({
    text: `SELECT name, setting FROM pg_settings WHERE name IN ('server_version',
        'server_version_num', 'server_encoding', 'default_transaction_read_only', 'fsync',
        'full_page_writes', 'synchronous_commit', 'max_connections')
      UNION ALL SELECT 'in_recovery', CASE WHEN pg_is_in_recovery() THEN 't' ELSE 'f' END`,
  });
  return new Map(rows.map(([name, setting]) => [String(name), String(setting)]));
}

async function privileges(
  connection: PostgresConnection,
  name: string,
): Promise<readonly string[]> {
  const [row] = await connection.query({
    text: `SELECT current_user, current_database(),
        has_database_privilege(current_database(), 'CREATE'),
        has_schema_privilege(nspname, 'USAGE') AND has_schema_privilege(nspname, 'CREATE'),
        (SELECT min(relname) FROM pg_class WHERE relnamespace = n.oid AND relkind IN ('r', 'S')
           AND NOT pg_has_role(relowner, 'USAGE'))
      FROM (SELECT 1) AS one LEFT JOIN pg_namespace AS n ON nspname = $1`,
    values: [name],
  });
  const [user, database, mayCreate, mayUse, foreign] = row ?? [];
  if (mayUse == null && mayCreate !== "t") {
    return [
      `The user "${user}" may not create the schema "${name}": run CREATE SCHEMA "${name}" AUTHORIZATION "${user}" in the database "${database}".`,
    ];
  }
  if (mayUse === "f") {
    return [
      `The user "${user}" may not use the schema "${name}": run GRANT USAGE, CREATE ON SCHEMA "${name}" TO "${user}".`,
    ];
  }
  if (foreign == null) return [];
  return [
    `The table "${foreign}" of the schema "${name}" belongs to another user: run REASSIGN OWNED, or ALTER TABLE … OWNER TO "${user}".`,
  ];
}

/** Findings about tables of another release; empty without a view. */
async function tables(connection: PostgresConnection, name: string): Promise<readonly string[]> {
  const [found] = await connection.query({
    text: `SELECT has_schema_privilege(nspname, 'USAGE')
        AND has_table_privilege(to_regclass($2), 'SELECT')
      FROM pg_namespace WHERE nspname = $1`,
    values: [name, tablesOf(name, 0).view],
  });
  if (found?.[0] !== "t") return [];
  try {
    await lookForLive(connection, name);
    return [];
  } catch (error) {
    if (!(error instanceof CatalogError) || error.cause !== undefined) throw error;
    return [`${error.message}. ${error.hint ?? ""}`.replace(/^./, (first) => first.toUpperCase())];
  }
}
