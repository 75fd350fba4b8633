/**
 * Connections to the PostgreSQL server: configuration, timeouts and translation of errors. Errors of
 * the driver do not leave this file: an error of the server or the network becomes a CatalogError
 * `unavailable`, which names the server and never contains the password.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { rootCertificates } from "node:tls";
import pg from "pg";
import { CatalogError } from "../../../core/errors.ts";
import { speaksNoTls } from "../../../lib/connection-string.ts";
import type { ServerAddress } from "../../../storage/view-origin.ts";
import { VIEW } from "./schema.ts";

/** Rows are arrays of text, as the server sends them; callers parse numbers. */
export type PostgresRow = readonly (string | null)[];

export interface Statement {
  /** Statements with a name are prepared once per connection. */
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: readonly (string | number | Buffer | null)[] | undefined;
  /** Overrides the timeout of the connection. */
  readonly timeoutMs?: number | undefined;
}

export interface PostgresConnection {
  query(statement: Statement): Promise<readonly PostgresRow[]>;
}

export interface Connections extends PostgresConnection {
  /** Host, port and database. */
  readonly server: string;
  /** One transaction, rolled back when `work` rejects. */
  transaction<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T>;
  readonly closed: boolean;
  close(): Promise<void>;
}

interface ConnectionRules {
  readonly most: number;
  /** Timeout of each statement on the server; the driver's own timeout is some seconds longer. */
  readonly timeoutMs: number;
  /** Run on each new connection. */
  readonly settings: string;
}

/** Timeout for opening a connection, or for a free one in the pool. */
const CONNECT_MS = 5_000;
const GRACE_MS = 5_000;
/** Ends transactions of writers that died, which would block others. */
const IDLE_IN_TRANSACTION_MS = 60_000;

const TRIES_MAX = 3;
const PAUSE_MS = 150;

export function openConnections(address: ServerAddress, rules: ConnectionRules): Connections {
  const { config, server } = configOf(address);
  const pool = new pg.Pool({
    ...config,
    max: rules.most,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: rules.timeoutMs + GRACE_MS,
    keepAlive: true,
    application_name: `annals ${address.name}`,
    onConnect: async (client) => {
      await client.query(`
        SET statement_timeout = ${rules.timeoutMs};
        SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS};
        SET jit = off;
        ${rules.settings}`);
    },
  });
  // A connection that breaks while it is idle leaves the pool; the next query opens another.
  pool.on("error", () => {});
  let closed = false;

  const failure = (error: unknown) => failureOf(error, server);
  const on = (client: Pick<pg.Pool, "query">): PostgresConnection["query"] =>
    async function query({ name, text, values, timeoutMs }) {
      try {
        const result = await client.query<(string | null)[]>({
          ...(name !== undefined && { name }),
          ...(values !== undefined && { values: [...values] }),
          ...(timeoutMs !== undefined && { query_timeout: timeoutMs }),
          text,
          rowMode: "array",
          types: AS_TEXT,
        });
        return result.rows;
      } catch (error) {
        throw failure(error);
      }
    };

  async function taken(): Promise<pg.PoolClient> {
    try {
      return await pool.connect();
    } catch (error) {
      throw failure(error);
    }
  }

  return {
    server,
    query: on(pool),
    async transaction(work) {
      const client = await taken();
      // Errors between statements are events; the next statement then fails.
      const ignore = () => {};
      client.on("error", ignore);
      const query = on(client);
      let broken = false;
      try {
        await query({ text: "BEGIN" });
        const result = await work({ query });
        await query({ text: "COMMIT" });
        return result;
      } catch (error) {
        broken = await query({ text: "ROLLBACK" }).then(
          () => false,
          () => true,
        );
        throw error;
      } finally {
        client.off("error", ignore);
        client.release(broken);
      }
    },
    get closed() {
      return closed;
    },
    async close() {
      if (closed) return;
      closed = true;
      await pool.end();
    },
  };
}

/** Retries an operation after transient errors, a few times within a second. */
export async function retrying<T>(operation: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await operation(attempt);
    } catch (error) {
      if (attempt === TRIES_MAX || !isTransient(error)) throw error;
      await sleep(PAUSE_MS * 4 ** (attempt - 1));
    }
  }
}

/** The code of an error: SQLSTATE, or a code of Node. */
function codeOf(error: unknown): string | undefined {
  const cause = error instanceof CatalogError ? error.cause : undefined;
  if (!(cause instanceof Error)) return undefined;
  return "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
}

/** True if tables of the statement do not exist. */
export const isMissing = (error: unknown): boolean =>
  ["42P01", "3F000"].includes(codeOf(error) ?? "");

const AS_TEXT = { getTypeParser: () => (text: string) => text } as pg.CustomTypesConfig;

/**
 * Handles sslmode itself: without it, the connection uses TLS if certificates are configured.
 * "require" verifies like "verify-full"; only "no-verify" accepts any certificate.
 */
function configOf(address: ServerAddress): {
  readonly config: pg.PoolConfig;
  readonly server: string;
} {
  const url = parsed(address.url);
  const mode =
    url.searchParams.get("sslmode") ?? (address.certificates ? "verify-full" : "disable");
  url.searchParams.delete("sslmode");
  const host = url.hostname || url.searchParams.get("host") || "localhost";
  const server = `${host}:${url.port || 5432}${url.pathname}`;
  const ca = address.certificates && { ca: [...rootCertificates, address.certificates] };
  const verified = mode === "verify-ca" ? { checkServerIdentity: () => undefined } : {};
  const ssl = mode === "no-verify" ? { rejectUnauthorized: false } : { ...ca, ...verified };
  return {
    server,
    config: { connectionString: url.href, ...(mode !== "disable" && { ssl }) },
  };
}

function parsed(text: string): URL {
  if (!URL.canParse(text)) {
    throw new CatalogError("invalid", `the address of the view "${VIEW}" is not a URL`, {
      hint: "It looks like postgres://user:password@host:5432/database",
    });
  }
  return new URL(text);
}

function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) {
    const cause = error instanceof CatalogError ? error.cause : undefined;
    return cause instanceof Error && BROKEN.test(cause.message);
  }
  return TRANSIENT.test(code);
}

/** Connection lost, shutdown, deadlock, lock timeout, too many connections; and errors of Node. */
const TRANSIENT = /^(08...|57P0[123]|40001|40P01|55P03|53300|ECONNRESET|ECONNREFUSED|EPIPE)$/;
const BROKEN = /^Connection terminated unexpectedly|^Client has encountered a connection error/;

function failureOf(error: unknown, server: string): CatalogError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const why = error instanceof Error ? error.message || code : String(error);
  return new CatalogError(
    "unavailable",
    `PostgreSQL at ${server} could not serve the view "${VIEW}": ${why}`,
    { cause: error, hint: speaksNoTls(error) ? PLAIN_HINT : hintFor(code) },
  );
}

const HINTS: readonly (readonly [codes: RegExp, hint: string])[] = [
  [/^28/, "Correct the user and password in ANNALS_ASPECTS"],
  [/^3D000$/, "Create the database, or name another in ANNALS_ASPECTS"],
  [/^42501$/, "Grant the user CREATE on the database, or create the schema with the user as owner"],
  [/^53100$/, "Free disk space on the server; the view continues by itself"],
  [/^53300$/, "Raise max_connections of the server, or let fewer nodes use it"],
  [/^25006$/, "The server is read-only: use the primary in ANNALS_ASPECTS, or allow writes"],
  [/^57014$/, "The statement timed out: check the load of the server"],
  [
    /CERT|SIGNATURE|ALTNAME/,
    "Set ANNALS_STORE_CERTIFICATES_FILE to the certificate of the server's authority, and use the host name of the server's certificate",
  ],
  [
    /^(57P0|08|E[A-Z]+$|$)/,
    "Check that the server runs, and the address in ANNALS_ASPECTS; the service retries",
  ],
];

const PLAIN_HINT =
  "The server does not use TLS: switch it on there, or write sslmode=disable in ANNALS_ASPECTS";

const hintFor = (code: string): string | undefined =>
  HINTS.find(([codes]) => codes.test(code))?.[1];

/** Texts of the catalog have characters that other encodings lack. */
export async function requireUtf8(connection: PostgresConnection, server: string): Promise<void> {
  const [row] = await connection.query({ text: "SHOW server_encoding" });
  if (row?.[0] === "UTF8") return;
  throw new CatalogError(
    "unavailable",
    `the database at ${server} has the encoding "${row?.[0]}"`,
    {
      hint: "Create one with: CREATE DATABASE annals ENCODING 'UTF8' TEMPLATE template0",
    },
  );
}
