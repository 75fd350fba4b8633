/**
 * The client of Elasticsearch and OpenSearch servers. Requests end within a bounded time, and
 * errors become CatalogErrors. No message contains a password.
 *
 * `http(s)://` is Elasticsearch, `opensearch+http(s)://` OpenSearch, which the client would reject.
 */
import { setTimeout as delay } from "node:timers/promises";
import { rootCertificates } from "node:tls";
import { Client, type ClientOptions, errors, SniffingTransport } from "@elastic/elasticsearch";
import { CatalogError } from "../../core/errors.ts";
import { decodedPart, isUntrusted, speaksNoTls } from "../../lib/connection-string.ts";
import type { ServerAddress } from "../view-origin.ts";

export interface SearchServer {
  readonly product: "elasticsearch" | "opensearch";
  /** The product, host and port, as messages name them. */
  readonly where: string;
  /**
   * Sends a request, with retries after transient errors, so it may arrive twice. Rejects
   * `unavailable` if the server cannot be reached, rejects the request, or is full, and after
   * `close`. `done`: completes the message, as in "could not be read".
   */
  send<T>(done: "opened" | "read" | "written", request: (client: Client) => Promise<T>): Promise<T>;
  /** May be called twice. */
  close(): Promise<void>;
}

/** For messages: the view that uses the connection, and the setting with the address. */
export interface ViewSetting {
  readonly view: string;
  readonly setting: string;
}

const CONNECT_MS_MAX = 5_000;
/** Request timeout: a bulk request to a busy cluster takes seconds. */
const REQUEST_MS_MAX = 30_000;
/** Maximum number of attempts of a request with transient errors, and their total duration. */
const TRIES_MAX = 3;
const TRYING_MS_MAX = 5_000;
const PAUSE_MS = 150;
const CONNECTIONS_MAX = 32;

const SCHEMES = new Map([
  ["http:", "elasticsearch"],
  ["https:", "elasticsearch"],
  ["opensearch+http:", "opensearch"],
  ["opensearch+https:", "opensearch"],
] as const);

/** Connects with the first request. Throws `invalid` for an invalid address. */
export function connect(address: Pick<ServerAddress, "url" | "certificates">, asker: ViewSetting) {
  const { product, url } = addressOf(address.url, asker);
  const where = `${product} at ${url.host}`;
  const client = new Client(optionsOf(product, url, address.certificates));
  let closed = false;

  const server: SearchServer = {
    product,
    where,
    async send(done, request) {
      const begun = performance.now();
      for (let tries = 1; ; tries++) {
        if (closed) throw new CatalogError("unavailable", `the view "${asker.view}" is closed`);
        try {
          return await request(client);
        } catch (error) {
          if (!(error instanceof errors.ElasticsearchClientError)) throw error;
          const lost = tries === TRIES_MAX || performance.now() - begun > TRYING_MS_MAX;
          if (lost || !isTransient(error)) throw translated(error, done, where, asker);
          await delay(PAUSE_MS * 2 ** tries);
        }
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      await client.close();
    },
  };
  return server;
}

/** The HTTP status of an error response; undefined for other errors. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof CatalogError) return statusOf(error.cause);
  return error instanceof errors.ResponseError ? error.statusCode : undefined;
}

/** The server's name for an error, as "index_not_found_exception". */
export function typeOfError(error: unknown): string | undefined {
  if (error instanceof CatalogError) return typeOfError(error.cause);
  if (!(error instanceof errors.ResponseError)) return undefined;
  const type: unknown = error.body?.error?.type;
  return typeof type === "string" ? type : undefined;
}

/** The response was larger than the limit of the request (maxResponseSize). */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof CatalogError
    ? isTooLarge(error.cause)
    : error instanceof errors.RequestAbortedError;

/** The hint for a server that is full or read-only; undefined for other errors. */
export function blockHint(reason: string): string | undefined {
  if (/flood-stage|disk usage exceeded/.test(reason)) {
    return "Its disk is full: free space or add some. It takes writes again by itself then";
  }
  if (/read-only|FORBIDDEN\//.test(reason)) {
    return "Its indices are read-only: take away the block (index.blocks.*, cluster.blocks.*)";
  }
  if (/maximum (normal )?shards open|max_shards_per_node/.test(reason)) {
    return "It may have no more shards: add a node, or raise cluster.max_shards_per_node";
  }
  return undefined;
}

function addressOf(text: string, { view, setting }: ViewSetting) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const product = url && SCHEMES.get(url.protocol as "http:");
  if (url === undefined || product === undefined || !text.includes("//")) {
    const schemes = [...SCHEMES.keys()].map((scheme) => `${scheme}//`).join(", ");
    throw new CatalogError("invalid", `the view "${view}" has no valid address`, {
      hint: `Set ${setting} to a URL that begins with one of: ${schemes}`,
    });
  }
  return { product, url: new URL(text.replace(/^opensearch\+/, "")) };
}

function optionsOf(
  product: SearchServer["product"],
  url: URL,
  certificates: string | undefined,
): ClientOptions {
  const { username, password, protocol } = url;
  const connection = { timeout: CONNECT_MS_MAX };
  const agent = { connect: connection, connections: CONNECTIONS_MAX };
  // The configured certificates are trusted in addition to the system's.
  const ca = certificates === undefined ? {} : { ca: [...rootCertificates, certificates] };
  return {
    node: `${protocol}//${url.host}${url.pathname}`,
    ...(username !== "" && {
      auth: { username: decodedPart(username), password: decodedPart(password) },
    }),
    ...(protocol === "https:" ? { tls: { ...connection, ...ca } } : {}),
    agent,
    requestTimeout: REQUEST_MS_MAX,
    maxRetries: 0,
    ...(product === "opensearch" && { Transport: OpensearchTransport }),
  };
}

/** Skips the client's product check, and sends JSON without Elastic's media types. */
class OpensearchTransport extends SniffingTransport {
  constructor(options: ConstructorParameters<typeof SniffingTransport>[0]) {
    const { productCheck: _, ...others } = options;
    const json = "application/json";
    super({
      ...others,
      vendoredHeaders: {
        jsonContentType: json,
        ndjsonContentType: "application/x-ndjson",
        accept: `${json},text/plain`,
      },
    });
  }
}

/** The error is transient: a retry may succeed. */
function isTransient(error: Error): boolean {
  if (error instanceof errors.ConnectionError) return true;
  if (!(error instanceof errors.ResponseError)) return false;
  if (typeOfError(error) === "cluster_block_exception") return false;
  return BUSY.has(error.statusCode ?? 0);
}

const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

function translated(error: Error, done: string, where: string, asker: ViewSetting): CatalogError {
  const { reason, hint } = explained(error, asker);
  return new CatalogError(
    "unavailable",
    `the view "${asker.view}" could not be ${done}: ${where} ${reason}`,
    { cause: error, hint },
  );
}

function explained(
  error: Error,
  { setting }: ViewSetting,
): { reason: string; hint?: string | undefined } {
  if (error instanceof errors.TimeoutError) {
    return { reason: `did not answer within ${REQUEST_MS_MAX / 1_000} seconds` };
  }
  if (error instanceof errors.ProductNotSupportedError) {
    return {
      reason: "says that it is something else",
      hint: `For OpenSearch, begin ${setting} with "opensearch+"`,
    };
  }
  if (speaksNoTls(error)) {
    return {
      reason: "does not use TLS on that port",
      hint: `Write http:// in ${setting}, or its TLS port`,
    };
  }
  if (isUntrusted(error)) {
    return {
      reason: "has a certificate signed by an unknown authority",
      hint: "Give the certificate of its authority by ANNALS_STORE_CERTIFICATES_FILE",
    };
  }
  if (!(error instanceof errors.ResponseError)) {
    const hungUp = /other side closed|socket hang up/.test(error.message);
    return {
      reason: hungUp ? "closes connections at once" : `cannot be reached (${error.message})`,
      hint: hungUp
        ? `Check that ${setting} has its port, and https:// if it uses TLS`
        : `Check that the server runs and that ${setting} names it`,
    };
  }
  const answer: unknown = error.body?.error?.reason ?? error.body?.error ?? "";
  const said = typeof answer === "string" ? answer : JSON.stringify(answer);
  const reason = `answered ${error.statusCode}${said === "" ? "" : `: ${said.slice(0, 300)}`}`;
  const block = blockHint(said);
  if (block !== undefined) return { reason, hint: block };
  if (error.statusCode === 401) {
    return { reason, hint: `Set the right user and password in ${setting}` };
  }
  if (error.statusCode === 403) {
    return {
      reason,
      hint: "The user lacks a permission; `annals check` lists the required ones",
    };
  }
  if (error.statusCode === 404 && typeOfError(error) === undefined) {
    return { reason, hint: `Check that ${setting} names a search server` };
  }
  return { reason };
}
