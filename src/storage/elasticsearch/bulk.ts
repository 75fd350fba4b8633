/**
 * Writes documents in bulk requests of bounded size, a few of them concurrently. The external
 * version of a document is the position of its record, so a retry or another process never
 * overwrites a later document with an earlier one.
 */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../../core/errors.ts";
import { blockHint, type SearchServer } from "./client.ts";

export interface BulkWrite {
  /** An alias for writing (names.ts). If it was removed, the write fails and creates no index. */
  readonly alias: string;
  readonly id: string;
  /** The write is skipped if the stored version is higher; undefined: always overwrites. */
  readonly version?: number | undefined;
  /** JSON text; undefined: deletes the document. */
  readonly document?: string | undefined;
}

interface BulkFailure<W = BulkWrite> {
  readonly write: W;
  readonly status: number;
  /** The server's error type, such as "index_not_found_exception". */
  readonly type: string;
  readonly reason: string;
}

interface BulkOutcome<W = BulkWrite> {
  /** Writes that were skipped, because the stored document is newer. */
  readonly skipped: readonly W[];
  /** Documents that the server rejected, temporarily or permanently. */
  readonly failures: readonly BulkFailure<W>[];
}

/** Maximum writes per request, to bound the server's memory. */
const WRITES_MAX = 2_000;
const CHARACTERS_MAX = 4_000_000;
const REQUESTS_MAX = 2;
/** Attempts for documents that a busy server rejects. */
const ATTEMPTS_MAX = 3;
const PAUSE_MS = 200;

/** Each id may occur once per alias, because requests are concurrent. */
export async function bulk<W extends BulkWrite>(
  server: SearchServer,
  writes: Iterable<W>,
): Promise<BulkOutcome<W>> {
  const skipped: W[] = [];
  const failures: BulkFailure<W>[] = [];
  const chunks = chunked(writes);
  async function sendChunks(): Promise<void> {
    for (const { writes: chunk, body } of chunks)
      await send(server, chunk, body, { skipped, failures });
  }
  await allSettled(Array.from({ length: REQUESTS_MAX }, sendChunks));
  return { skipped, failures };
}

/**
 * Throws for the first failure, with the number of failures: `internal` for a document that the
 * server will never accept, otherwise `unavailable`.
 */
export function throwFailures(failures: readonly BulkFailure[], view: string, where: string): void {
  const [first] = failures;
  if (first === undefined) return;
  const many = failures.length === 1 ? "a document" : `${failures.length} documents`;
  const isInvalidDocument = failures.every(
    ({ status, type }) => status === BAD_REQUEST && !INDEX_ERRORS.has(type),
  );
  throw new CatalogError(
    isInvalidDocument ? "internal" : "unavailable",
    `the view "${view}" could not be written: ${where} rejected ${many}, "${first.write.id}" because of: ${first.reason}`,
    {
      cause: first,
      hint:
        blockHint(first.reason) ??
        (isInvalidDocument ? "The document is parked" : "The write is retried"),
    },
  );
}

/** Yields the writes and the body of each request. Concurrent senders share the iterator. */
function* chunked<W extends BulkWrite>(writes: Iterable<W>) {
  let chunk: W[] = [];
  let body = "";
  for (const write of writes) {
    chunk.push(write);
    body += lineOf(write);
    if (chunk.length < WRITES_MAX && body.length < CHARACTERS_MAX) continue;
    yield { writes: chunk, body };
    chunk = [];
    body = "";
  }
  if (chunk.length > 0) yield { writes: chunk, body };
}

function lineOf({ alias, id, version, document }: BulkWrite): string {
  const at = version === undefined ? "" : `,"version":${version},"version_type":"external_gte"`;
  const target = `"_index":"${alias}","_id":${JSON.stringify(id)}${at}`;
  return document === undefined
    ? `{"delete":{${target}}}\n`
    : `{"index":{${target}}}\n${document}\n`;
}

async function send<W extends BulkWrite>(
  server: SearchServer,
  writes: readonly W[],
  body: string,
  { skipped, failures }: { skipped: W[]; failures: BulkFailure<W>[] },
): Promise<void> {
  let pending = writes;
  let text = body;
  for (let attempt = 1; ; attempt++) {
    const sent = pending;
    const response = await request(server, text);
    const busy: W[] = [];
    for (const [n, item] of response.errors ? response.items.entries() : []) {
      const { status, error } = Object.values(item)[0] ?? {};
      const write = sent[n];
      if (error === undefined || status === undefined || write === undefined) continue;
      if (status === VERSION_CONFLICT) skipped.push(write);
      else if (attempt < ATTEMPTS_MAX && BUSY.has(status) && !isBlock(error)) busy.push(write);
      else failures.push({ write, status, type: error.type, reason: error.reason ?? error.type });
    }
    if (busy.length === 0) return;
    await delay(PAUSE_MS * 2 ** attempt);
    pending = busy;
    text = busy.map(lineOf).join("");
  }
}

interface BulkResponse {
  readonly errors: boolean;
  /** In the order of the request. */
  readonly items: readonly Readonly<Record<string, BulkResponseItem>>[];
}

interface BulkResponseItem {
  readonly status?: number;
  readonly error?: { readonly type: string; readonly reason?: string };
}

const VERSION_CONFLICT = 409;
/** The document is invalid for its index. */
const BAD_REQUEST = 400;
/** Error types with the status 400 that concern the index, not the document. */
const INDEX_ERRORS: ReadonlySet<string> = new Set(["index_closed_exception"]);
const BUSY: ReadonlySet<number> = new Set([429, 503]);
const isBlock = ({ type }: { readonly type: string }): boolean =>
  type === "cluster_block_exception";

const request = (server: SearchServer, bulkBody: string): Promise<BulkResponse> =>
  server.send("written", (client) =>
    client.transport.request<BulkResponse>({
      method: "POST",
      path: "/_bulk",
      querystring: {
        require_alias: "true",
        filter_path: "errors,items.*.status,items.*.error.type,items.*.error.reason",
      },
      bulkBody,
    }),
  );

/** Rejects only after all requests have ended, so that none is in flight. */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === "rejected") throw result.reason;
  }
}
