/**
 * The connection to a Neo4j server: with timeouts, retries of transient errors, and translation of the
 * driver's errors into CatalogErrors. Messages have the host, but never the user.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { rootCertificates } from "node:tls";
import neo4j, { type Driver, type ManagedTransaction, Neo4jError } from "neo4j-driver";
import { CatalogError } from "../../../core/errors.ts";
import { decodedPart, speaksNoTls } from "../../../lib/connection-string.ts";
import type { ServerAddress } from "../../../storage/view-origin.ts";

const CONNECT_MS_MAX = 5_000;
/** Includes the wait for a free connection. */
const ACQUIRE_MS_MAX = 10_000;
/** The server ends a longer read. */
const READ_MS_MAX = 20_000;
const WRITE_MS_MAX = 120_000;
/** So long after the server's timeout, the server counts as unresponsive. */
const SILENCE_MS_MAX = 5_000;
/** Delays before the second and the third attempt. */
const RETRY_AFTER_MS = [200, 1_500];
const CONNECTIONS_MAX = 50;

/** One row of a result, by columns. */
export type Columns = readonly unknown[];
export type Parameters = Readonly<Record<string, unknown>>;

interface ResultRow {
  readonly keys: ArrayLike<unknown>;
  get(column: number): unknown;
}

interface Statement {
  readonly text: string;
  readonly parameters?: Parameters;
}

export interface Transaction {
  /** Statements are sent at once and run one after the other: not awaiting one saves a round trip. */
  run(text: string, parameters?: Parameters): Promise<readonly Columns[]>;
}

export interface Neo4jServer {
  /** Host and port. */
  readonly host: string;
  /** Runs a reading statement on any member of the cluster. */
  ask(statement: Statement): Promise<readonly Columns[]>;
  /** Runs a transaction on the writable member; `work` may run more than once. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Runs a statement without an explicit transaction, for constraints and settings. */
  command(text: string): Promise<readonly Columns[]>;
  version(): Promise<string>;
  readonly closed: boolean;
  /** Throws after `close`. */
  usable(): void;
  close(): Promise<void>;
}

/** An integer for a query: the driver converts numbers to floats. */
export const whole = (value: number) => neo4j.int(value);

interface Address {
  readonly url: string;
  readonly host: string;
  readonly database: string | undefined;
  readonly auth: { readonly user: string; readonly password: string } | undefined;
  readonly encrypted: boolean;
}

const SCHEMES = ["bolt:", "bolt+s:", "bolt+ssc:", "neo4j:", "neo4j+s:", "neo4j+ssc:"];

/** Connects with the first query. */
export function connectNeo4j(place: ServerAddress): Neo4jServer {
  const address = addressOf(place.url);
  const certificates = createCertificates(address, place.certificates);
  let driver = openDriver(address, certificates.path);
  let closed = false;
  const { host, database } = address;

  const usable = (): void => {
    if (closed) throw new CatalogError("unavailable", `the view "graph" is closed`);
  };

  /** Runs work in a session; drops the connections if the server is unresponsive. */
  async function inSession<T>(
    mode: "READ" | "WRITE",
    msMax: number,
    work: (session: ReturnType<Driver["session"]>) => Promise<T>,
  ): Promise<T> {
    usable();
    const own = driver;
    const session = own.session({
      defaultAccessMode: mode,
      ...(database !== undefined && { database }),
    });
    try {
      const answer = await within(msMax, work(session));
      await within(SILENCE_MS_MAX, session.close());
      return answer;
    } catch (error) {
      void session.close().catch(() => undefined);
      usable();
      if (error instanceof SilentServer && own === driver) {
        driver = openDriver(address, certificates.path);
        void own.close().catch(() => undefined);
      }
      throw translated(error, host);
    }
  }

  const rowsOf = ({ records }: { readonly records: readonly ResultRow[] }) =>
    records.map((record): Columns => Array.from(record.keys, (_, i) => record.get(i)));

  return {
    host,
    async ask({ text, parameters }) {
      for (let tries = 0; ; tries++) {
        try {
          return await inSession("READ", READ_MS_MAX + SILENCE_MS_MAX, async (session) =>
            rowsOf(await session.run(text, parameters, { timeout: READ_MS_MAX })),
          );
        } catch (error) {
          const pause = RETRY_AFTER_MS[tries];
          if (pause === undefined || closed || !passes(error)) throw error;
          await after(pause);
        }
      }
    },
    // The driver itself retries transient errors.
    write: (work) =>
      inSession("WRITE", WRITE_MS_MAX + RETRY_MS_MAX + SILENCE_MS_MAX, (session) =>
        session.executeWrite(
          async (managed) => {
            try {
              return await work(createTransaction(managed));
            } catch (error) {
              // A retry would need as much memory again: the caller must split the work.
              const own = translated(error, host);
              throw tooMuchAtOnce(own) ? own : error;
            }
          },
          { timeout: WRITE_MS_MAX },
        ),
      ),
    command: (text) =>
      inSession("WRITE", WRITE_MS_MAX, async (session) =>
        rowsOf(await session.run(text, {}, { timeout: WRITE_MS_MAX })),
      ),
    version: () =>
      inSession("READ", READ_MS_MAX, async (session) => {
        const { summary } = await session.run("RETURN 1", {}, { timeout: READ_MS_MAX });
        return (summary.server.agent ?? "unknown").replace(/^Neo4j\//, "");
      }),
    get closed() {
      return closed;
    },
    usable,
    async close() {
      if (closed) return;
      closed = true;
      await within(SILENCE_MS_MAX, driver.close()).catch(() => undefined);
      certificates.remove();
    },
  };

  function createTransaction(managed: ManagedTransaction): Transaction {
    return { run: async (text, parameters) => rowsOf(await managed.run(text, parameters)) };
  }
}

/** The third attempt starts before this time. */
const RETRY_MS_MAX = 2_500;

function openDriver(address: Address, certificates: string | undefined): Driver {
  const { auth, encrypted } = address;
  const token = auth && neo4j.auth.basic(auth.user, auth.password);
  // Trust is set either by the scheme or by settings.
  const trusting = encrypted && certificates !== undefined;
  const url = trusting ? address.url.replace("+s:", ":") : address.url;
  return neo4j.driver(url, token, {
    disableLosslessIntegers: true,
    connectionTimeout: CONNECT_MS_MAX,
    connectionAcquisitionTimeout: ACQUIRE_MS_MAX,
    maxConnectionPoolSize: CONNECTIONS_MAX,
    maxTransactionRetryTime: RETRY_MS_MAX,
    notificationFilter: { minimumSeverityLevel: "OFF" },
    telemetryDisabled: true,
    userAgent: "annals",
    ...(trusting && {
      encrypted: "ENCRYPTION_ON",
      trust: "TRUST_CUSTOM_CA_SIGNED_CERTIFICATES",
      trustedCertificates: [certificates],
    }),
  });
}

function addressOf(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !SCHEMES.includes(url.protocol) || url.hostname === "") {
    throw new CatalogError("invalid", "ANNALS_GRAPH is not the address of a Neo4j server", {
      hint: "Set it to bolt://host:port or neo4j://host:port, with +s for TLS, and with user:password@ before the host if the server requires a login",
    });
  }
  const database = decodedPart(url.pathname.replace(/^\//, ""));
  const host = `${url.hostname}:${url.port || 7687}`;
  return {
    url: `${url.protocol}//${host}${url.search}`,
    host,
    database: database === "" ? undefined : database,
    auth:
      url.username === ""
        ? undefined
        : {
            user: decodedPart(url.username),
            password: decodedPart(url.password),
          },
    encrypted: url.protocol.endsWith("+s:"),
  };
}

/** The driver reads trusted certificates only from a file, and then trusts no others. */
function createCertificates(address: Address, pem: string | undefined) {
  if (pem === undefined || !address.encrypted) return { path: undefined, remove: () => undefined };
  const folder = mkdtempSync(join(tmpdir(), "annals-certificates-"));
  const path = join(folder, "authorities.pem");
  writeFileSync(path, [pem, ...rootCertificates].join("\n"), { mode: 0o600 });
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

class SilentServer extends Error {
  override readonly name = "SilentServer";
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const timer = Promise.withResolvers<never>();
  const handle = setTimeout(
    () => timer.reject(new SilentServer(`no answer in ${ms / 1_000} seconds`)),
    ms,
  );
  try {
    return await Promise.race([promise, timer.promise]);
  } finally {
    clearTimeout(handle);
  }
}

const passes = (error: unknown): boolean =>
  error instanceof CatalogError &&
  error.cause instanceof Neo4jError &&
  neo4j.isRetryableError(error.cause);

/** True if a transaction needed more memory than the server allows. */
export const tooMuchAtOnce = (error: unknown): boolean =>
  error instanceof CatalogError &&
  error.cause instanceof Neo4jError &&
  /OutOfMemory|MemoryPool|TransactionTimedOut/.test(error.cause.code);

const HINTS: readonly (readonly [code: RegExp, hint: string])[] = [
  [
    /\.Security\.(Unauthorized|AuthenticationRateLimit|CredentialsExpired|TokenExpired)/,
    "Correct user:password@ before the host in ANNALS_GRAPH",
  ],
  [
    /\.Security\./,
    "Grant the user of ANNALS_GRAPH the right to read, write and create constraints",
  ],
  [
    /TransactionTimedOut|SilentServer/,
    "Send smaller requests, or give the server more memory and cores",
  ],
  [
    /certificate/i,
    "Set ANNALS_STORE_CERTIFICATES_FILE to the certificate of the server's authority",
  ],
  [/ReadOnly/, "Allow writes on the server, or use a writable one in ANNALS_GRAPH"],
  [/OutOfMemory|MemoryPool/, "Raise the server's db.memory.transaction.max or its heap"],
  [/DatabaseNotFound/, "Name a database that the server has at the end of ANNALS_GRAPH, or none"],
  [
    /needs to be restarted/,
    "Fix the cause in the server's log, such as a full disk, and restart it; the view continues by itself",
  ],
  [/DatabaseError/, "See the server's own log: its disk may be full"],
];
const PLAIN_HINT =
  "The server does not use TLS on this port: remove +s from ANNALS_GRAPH, or switch TLS on in the server";
const HINT = "Start the server, or correct the address in ANNALS_GRAPH";

/** Errors of statements stay untranslated: they are internal errors, wrong queries. */
function translated(error: unknown, host: string): unknown {
  if (error instanceof CatalogError) return error;
  const silent = error instanceof SilentServer;
  if (!silent && !(error instanceof Neo4jError)) return error;
  const code = silent ? error.name : error.code;
  if (code.startsWith("Neo.ClientError.Statement.")) return error;
  // Removes the driver's advice, which precedes the cause.
  const message = error.message.replace(/^Failed to connect to server\. .*Caused by: /s, "");
  const short = message
    .replace(/ If you trust the database .*Socket responded with: /s, " ")
    .replace(/[.\s]+$/, "");
  return new CatalogError("unavailable", `Neo4j at ${host}: ${short}`, {
    cause: error,
    hint: speaksNoTls(error)
      ? PLAIN_HINT
      : (HINTS.find(([pattern]) => pattern.test(`${code} ${short}`))?.[1] ?? HINT),
  });
}
