/** The change feed: pages of past changes, and live changes as they are written. */
import { loadSession, read } from "./http.ts";
import type { JsonObject } from "./json.ts";

export interface Change {
  readonly position: number;
  readonly entityType: string;
  readonly entityUrn: string;
  readonly changeType: string;
  readonly aspectName: string;
  readonly aspect?: { readonly value: unknown };
  readonly previousAspectValue?: { readonly value: unknown };
  readonly systemMetadata?: JsonObject;
  readonly created?: { readonly time: number; readonly actor: string };
}

interface ChangesPage {
  readonly changes: readonly Change[];
  readonly position: number;
  readonly end: boolean;
}

export interface ChangesFilter {
  readonly urn?: string | undefined;
  readonly entityType?: string | undefined;
  readonly aspect?: string | undefined;
}

function parametersOf(filter: ChangesFilter, more: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(more);
  for (const [name, value] of Object.entries(filter)) if (value) parameters.set(name, value);
  return parameters.toString();
}

/** A page of `/changes`. */
const readPage = (
  filter: ChangesFilter,
  more: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<ChangesPage> => read<ChangesPage>(`/changes?${parametersOf(filter, more)}`, { signal });

/** Changes before a position, newest first; the latest changes without one. */
export const readChangesBefore = (
  filter: ChangesFilter,
  before: number | undefined,
  limit: number,
  signal?: AbortSignal,
): Promise<ChangesPage> => {
  const [name, place] = before === undefined ? ["from", "end"] : ["before", String(before)];
  return readPage(filter, { [name]: place, limit: String(limit), previous: "true" }, signal);
};

/** The pages after a position, oldest first, up to the last change at present. */
async function* pagesAfter(
  start: number,
  filter: ChangesFilter,
  more: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): AsyncIterable<ChangesPage> {
  for (let after = start; ; ) {
    const page = await readPage(filter, { ...more, after: String(after), limit: "1000" }, signal);
    yield page;
    if (page.end || page.position <= after) return;
    after = page.position;
  }
}

/** All changes that match, oldest first, page after page. */
export async function readAllChanges(
  filter: ChangesFilter,
  changesMax: number,
  signal?: AbortSignal,
): Promise<readonly Change[]> {
  const all: Change[] = [];
  for await (const { changes } of pagesAfter(0, filter, { previous: "true" }, signal)) {
    all.push(...changes);
    if (all.length >= changesMax) break;
  }
  return all;
}

/** The number of changes after a position, and the position that it counts to. */
export async function countChanges(
  after: number,
  signal?: AbortSignal,
): Promise<{ readonly position: number; readonly count: number }> {
  let [position, count] = [after, 0];
  for await (const page of pagesAfter(after, {}, {}, signal)) {
    count += page.changes.length;
    ({ position } = page);
  }
  return { position, count };
}

export type FeedState = "connecting" | "open" | "lost";

/** Wait before the next connection where the browser makes none: after an error response. */
const reconnectMs = 2_000;

/** Follows the feed until the returned function is called, and connects again after an error. */
export function followChanges(
  filter: ChangesFilter,
  after: number | undefined,
  onChange: (change: Change) => void,
  onState: (state: FeedState) => void,
): () => void {
  let position = after;
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const connect = () => {
    const more: Record<string, string> = { previous: "true" };
    if (position !== undefined) more.after = String(position);
    onState("connecting");
    const opened = new EventSource(`/changes?${parametersOf(filter, more)}`);
    source = opened;
    opened.addEventListener("open", () => onState("open"));
    opened.addEventListener("error", () => {
      onState("lost");
      if (opened.readyState === EventSource.CLOSED) timer = setTimeout(connect, reconnectMs);
      // Shows a lost connection, and the sign-in page after the end of the session.
      void loadSession().catch(() => undefined);
    });
    opened.addEventListener("change", (event) => {
      const change = JSON.parse(String((event as MessageEvent).data)) as Change;
      position = change.position;
      onChange(change);
    });
  };
  connect();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}
