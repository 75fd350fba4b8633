/** The change feed (`GET /changes`) as an async iterator that reconnects by itself. */
import { AnnalsError, errorOf } from "./errors.ts";
import { pause, type RetryOptions, reasonOf } from "./retries.ts";
import type { components } from "./schema.ts";

/** One change of one aspect, with its position in the log. */
export type Change = components["schemas"]["MetadataChangeLog"];

export interface ChangesQuery {
  /** Changes after this position. Absent: from now on, unless `from` is "start". */
  readonly after?: number | undefined;
  readonly from?: "start" | "now" | undefined;
  readonly entityTypes?: readonly string[] | undefined;
  readonly aspects?: readonly string[] | undefined;
  readonly urns?: readonly string[] | undefined;
  /** Adds the value before each change. */
  readonly previous?: boolean | undefined;
  /** Called with each position that the feed has reached, also without a change. */
  readonly onPosition?: ((position: number) => void) | undefined;
}

export interface Feed extends RetryOptions {
  readonly address: string;
  readonly token?: string | undefined;
  readonly send: (request: Request) => Promise<Response>;
}

/** Consecutive connections without any line, after which the feed fails. */
const emptyConnectionsMax = 5;

export async function* followChanges(
  feed: Feed,
  query: ChangesQuery,
  signal?: AbortSignal,
): AsyncGenerator<Change, void, undefined> {
  let { after } = query;
  let failures = 0;
  while (signal?.aborted !== true) {
    try {
      for await (const line of await openFeed(feed, { ...query, after }, signal)) {
        failures = 0;
        after = line.position;
        if ("message" in line) throw new AnnalsError(line.message, 0, line.code);
        if ("aspectName" in line) yield line;
        query.onPosition?.(line.position);
      }
      failures++;
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof AnnalsError || ++failures > emptyConnectionsMax) throw error;
      feed.onRetry?.(reasonOf(error));
    }
    if (failures > emptyConnectionsMax) {
      throw new AnnalsError(`${feed.address} closes the change feed at once`, 0, "unavailable");
    }
    await pause((feed.retryDelayMs ?? 250) * 2 ** failures, signal).catch(() => {});
  }
}

type Line =
  | Change
  | { readonly position: number }
  | { readonly position: number; readonly code: string; readonly message: string };

async function openFeed(
  { address, token, send }: Feed,
  query: ChangesQuery,
  signal: AbortSignal | undefined,
): Promise<AsyncIterable<Line>> {
  const headers = new Headers({ accept: "application/x-ndjson" });
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  const url = `${address.replace(/\/+$/, "")}/changes?${parametersOf(query)}`;
  const response = await send(new Request(url, { headers, ...(signal && { signal }) }));
  if (!response.ok || response.body === null) {
    throw errorOf(response, await response.json().catch(() => undefined));
  }
  return linesOf(response.body);
}

function parametersOf({ after, from, ...query }: ChangesQuery): URLSearchParams {
  const parameters = new URLSearchParams();
  if (after !== undefined) parameters.set("after", String(after));
  else if (from !== undefined) parameters.set("from", from);
  for (const type of query.entityTypes ?? []) parameters.append("entityType", type);
  for (const aspect of query.aspects ?? []) parameters.append("aspect", aspect);
  for (const urn of query.urns ?? []) parameters.append("urn", urn);
  if (query.previous) parameters.set("previous", "true");
  return parameters;
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") yield JSON.parse(line) as Line;
    }
  } finally {
    // Leaving the loop early closes the connection.
    await reader.cancel().catch(() => {});
  }
}
