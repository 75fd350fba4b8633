/**
 * The way to a Neo4j server: every answer is bounded in time, what passes by itself is tried again
 * a few times, and the driver's errors become the catalog's own. Its messages name the host, never
 * who logs in.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { rootCertificates } from "node:tls";
import neo4j, { type Driver, type ManagedTransaction, Neo4jError } from "neo4j-driver";
import { CatalogError } from "../../core/errors.ts";
import { decodedPart, speaksNoTls } from "../../core/server-address.ts";
import type { ServerPlace } from "../../projector/view-origin.ts";

const CONNECT_MS_MAX = 5_000;
/** Includes the wait for a free connection. */
const ACQUIRE_MS_MAX = 10_000;
/** The server ends what takes longer. */
const READ_MS_MAX = 20_000;
const WRITE_MS_MAX = 120_000;
/** What the server has not ended by then it does not answer at all. */
const SILENCE_MS_MAX = 5_000;
/** Waits before the second try and the third. */
const RETRY_AFTER_MS = [200, 1_500];
const CONNECTIONS_MAX = 50;

/** One row of an answer, by columns. */
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
  /** One reading statement, from any member that may answer it. */
  ask(statement: Statement): Promise<readonly Columns[]>;
  /** A transaction on the member that takes writes; may be run more than once. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** A statement in no transaction of ours: about constraints and settings. */
  command(text: string): Promise<readonly Columns[]>;
  version(): Promise<string>;
  readonly closed: boolean;
  /** Throws when it is closed. */
  usable(): void;
  close(): Promise<void>;
}

/** A whole number for a query: the driver takes a bare one for a fraction. */
export const whole = (value: number) => neo4j.int(value);

interface Address {
  readonly url: string;
  readonly host: string;
  readonly database: string | undefined;
  readonly auth: { readonly user: string; readonly password: string } | undefined;
  readonly encrypted: boolean;
}

const SCHEMES = ["bolt:", "bolt+s:", "bolt+ssc:", "neo4j:", "neo4j+s:", "neo4j+ssc:"];

/** Connects with the first question. */
export function connectNeo4j(place: ServerPlace): Neo4jServer {
  const address = addressOf(place.url);
  const certificates = createCertificates(address, place.certificates);
  let driver = openDriver(address, certificates.path);
  let closed = false;
  const { host, database } = address;

  const usable = (): void => {
    if (closed) throw new CatalogError("unavailable", `the view "graph" is closed`);
  };

  /** The session's work; where the server has fallen silent its connections are given up. */
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
    // The driver tries again by itself what passes.
    write: (work) =>
      inSession("WRITE", WRITE_MS_MAX + RETRY_MS_MAX + SILENCE_MS_MAX, (session) =>
        session.executeWrite(
          async (managed) => {
            try {
              return await work(createTransaction(managed));
            } catch (error) {
              // What is too much once is too much again: that is for the caller to mend.
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

/** Third tries begin before it is over. */
const RETRY_MS_MAX = 2_500;

function openDriver(address: Address, certificates: string | undefined): Driver {
  const { auth, encrypted } = address;
  const token = auth && neo4j.auth.basic(auth.user, auth.password);
  // What is trusted is said either by the scheme or by settings.
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
    throw new CatalogError("invalid", "the graph's address is none of a Neo4j server", {
      hint: "Set ANNALS_GRAPH to bolt://host:port, neo4j://host:port or the same with +s, with user:password@ in front of the host where the server asks for them",
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

/** The driver reads what it trusts from a file, and then nothing else is trusted. */
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

/** What went wrong when a transaction wants more memory than the server gives one. */
export const tooMuchAtOnce = (error: unknown): boolean =>
  error instanceof CatalogError &&
  error.cause instanceof Neo4jError &&
  /OutOfMemory|MemoryPool|TransactionTimedOut/.test(error.cause.code);

const HINTS: readonly (readonly [code: RegExp, hint: string])[] = [
  [
    /\.Security\.(Unauthorized|AuthenticationRateLimit|CredentialsExpired|TokenExpired)/,
    "Put the right user:password@ in front of the host in ANNALS_GRAPH",
  ],
  [/\.Security\./, "Give the user of ANNALS_GRAPH the right to read, write and make constraints"],
  [
    /TransactionTimedOut|SilentServer/,
    "Ask for less at once, or give the server more memory and cores",
  ],
  [
    /certificate/i,
    "Give the certificate of the server's authority by ANNALS_STORE_CERTIFICATES_FILE",
  ],
  [/ReadOnly/, "Let the server take writes, or name the one that does in ANNALS_GRAPH"],
  [/OutOfMemory|MemoryPool/, "Raise the server's db.memory.transaction.max or its heap"],
  [/DatabaseNotFound/, "Name a database that the server has at the end of ANNALS_GRAPH, or none"],
  [
    /needs to be restarted/,
    "Mend what the server's own log says, as a full disk, and restart it; the view goes on by itself",
  ],
  [/DatabaseError/, "See the server's own log: its disk may be full"],
];
const PLAIN_HINT =
  "The server speaks no TLS there: take +s out of ANNALS_GRAPH, or switch TLS on in the server";
const HINT = "Start the server, or set ANNALS_GRAPH to where it is";

/** Errors of statements alone are ours: they say that a query is wrong. */
function translated(error: unknown, host: string): unknown {
  if (error instanceof CatalogError) return error;
  const silent = error instanceof SilentServer;
  if (!silent && !(error instanceof Neo4jError)) return error;
  const code = silent ? error.name : error.code;
  if (code.startsWith("Neo.ClientError.Statement.")) return error;
  // The driver's advice goes; what happened is told after it.
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
