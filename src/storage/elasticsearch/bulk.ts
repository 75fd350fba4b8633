/**
 * Writes documents in bulk requests of bounded number and size, a few at a time. The version of a
 * document is the position of its record: a retry, or another process, never overwrites a later
 * document by an earlier one.
 */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../../core/errors.ts";
import { blockHint, type SearchServer } from "./client.ts";

export interface BulkWrite {
  /** An alias for writing (names.ts). If it was removed, the write fails and creates no index. */
  readonly alias: string;
  readonly id: string;
  /** A stored document with a higher version stays; undefined: the write always wins. */
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
  /** Documents that the server rejected, temporarily or for good. */
  readonly failures: readonly BulkFailure<W>[];
}

/** Writes of one request: mostly a batch of the projector, bounded for the server's memory. */
const WRITES_MAX = 2_000;
const CHARACTERS_MAX = 4_000_000;
const REQUESTS_MAX = 2;
/** Attempts for documents that a busy server rejects. */
const TRIES_MAX = 3;
const PAUSE_MS = 200;

/** Each id may occur once per alias, because requests are concurrent. */
export async function bulk<W extends BulkWrite>(
  server: SearchServer,
  writes: Iterable<W>,
): Promise<BulkOutcome<W>> {
  const skipped: W[] = [];
  const failures: BulkFailure<W>[] = [];
  const chunks = chunked(writes);
  async function lane(): Promise<void> {
    for (const { writes: some, body } of chunks)
      await send(server, some, body, { passed: skipped, failures });
  }
  await allSettled(Array.from({ length: REQUESTS_MAX }, lane));
  return { skipped, failures };
}

/**
 * Throws for the first failure, with the number of failures: `internal` for a document that the server
 * will never accept, otherwise `unavailable`.
 */
export function throwFailures(failures: readonly BulkFailure[], view: string, where: string): void {
  const [first] = failures;
  if (first === undefined) return;
  const many = failures.length === 1 ? "a document" : `${failures.length} documents`;
  const unfit = failures.every(
    ({ status, type }) => status === BAD_REQUEST && !INDEX_ERRORS.has(type),
  );
  throw new CatalogError(
    unfit ? "internal" : "unavailable",
    `the view "${view}" could not be written: ${where} rejected ${many}, "${first.write.id}" because of: ${first.reason}`,
    {
      cause: first,
      hint: blockHint(first.reason) ?? (unfit ? "The document is parked" : "The write is retried"),
    },
  );
}

/** The writes of each request, and its text. Several senders share the iterator. */
function* chunked<W extends BulkWrite>(writes: Iterable<W>) {
  let some: W[] = [];
  let body = "";
  for (const write of writes) {
    some.push(write);
    body += lineOf(write);
    if (some.length < WRITES_MAX && body.length < CHARACTERS_MAX) continue;
    yield { writes: some, body };
    some = [];
    body = "";
  }
  if (some.length > 0) yield { writes: some, body };
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
  { passed, failures }: { passed: W[]; failures: BulkFailure<W>[] },
): Promise<void> {
  let left = writes;
  let text = body;
  for (let tries = 1; ; tries++) {
    const sent = left;
    const answer = await request(server, text);
    const busy: W[] = [];
    for (const [n, item] of answer.errors ? answer.items.entries() : []) {
      const { status, error } = Object.values(item)[0] ?? {};
      const write = sent[n];
      if (error === undefined || status === undefined || write === undefined) continue;
      if (status === VERSION_CONFLICT) passed.push(write);
      else if (tries < TRIES_MAX && BUSY.has(status) && !isBlock(error)) busy.push(write);
      else failures.push({ write, status, type: error.type, reason: error.reason ?? error.type });
    }
    if (busy.length === 0) return;
    await delay(PAUSE_MS * 2 ** tries);
    left = busy;
    text = busy.map(lineOf).join("");
  }
}

interface Answer {
  readonly errors: boolean;
  /** In the order of the request. */
  readonly items: readonly Readonly<Record<string, AnswerItem>>[];
}

interface AnswerItem {
  readonly status?: number;
  readonly error?: { readonly type: string; readonly reason?: string };
}

const VERSION_CONFLICT = 409;
/** The document is invalid for its index. */
const BAD_REQUEST = 400;
/** Errors with that status that concern the index, not the document. */
const INDEX_ERRORS: ReadonlySet<string> = new Set(["index_closed_exception"]);
const BUSY: ReadonlySet<number> = new Set([429, 503]);
const isBlock = ({ type }: { readonly type: string }): boolean =>
  type === "cluster_block_exception";

const request = (server: SearchServer, bulkBody: string): Promise<Answer> =>
  server.send("written", (client) =>
    client.transport.request<Answer>({
      method: "POST",
      path: "/_bulk",
      querystring: {
        require_alias: "true",
        filter_path: "errors,items.*.status,items.*.error.type,items.*.error.reason",
      },
      bulkBody,
    }),
  );

/** Waits for all requests before it rejects, so that none is in flight afterwards. */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === "rejected") throw result.reason;
  }
}
