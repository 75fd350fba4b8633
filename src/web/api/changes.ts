/** The change feed: pages of past changes, and live changes as they are written. */
import { read } from "./http.ts";
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

export interface ChangesPage {
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

export const readChanges = (
  filter: ChangesFilter,
  after: number,
  limit: number,
  signal?: AbortSignal,
): Promise<ChangesPage> =>
  read<ChangesPage>(
    `/changes?${parametersOf(filter, { after: String(after), limit: String(limit), previous: "true" })}`,
    { signal },
  );

/** All changes that match, oldest first, page after page. */
export async function readAllChanges(
  filter: ChangesFilter,
  changesMax: number,
  signal?: AbortSignal,
  start = 0,
): Promise<readonly Change[]> {
  const all: Change[] = [];
  let after = start;
  for (;;) {
    const page = await readChanges(filter, after, 1_000, signal);
    all.push(...page.changes);
    if (page.end || page.position <= after || all.length >= changesMax) return all;
    after = page.position;
  }
}

/** The position of the last record before a time: the times of records rise with their positions. */
export async function positionBefore(
  time: number,
  head: number,
  signal?: AbortSignal,
): Promise<number> {
  let before = 0;
  let after = head;
  while (before < after) {
    const middle = Math.floor((before + after) / 2);
    const { changes } = await readChanges({}, middle, 1, signal);
    const [change] = changes;
    if (change !== undefined && (change.created?.time ?? 0) < time) {
      before = Math.max(middle + 1, change.position);
    } else after = middle;
  }
  return Math.min(before, head);
}

export type FeedState = "connecting" | "open" | "lost";

/** Follows the feed until the returned function is called. The browser reconnects by itself. */
export function followChanges(
  filter: ChangesFilter,
  after: number | undefined,
  onChange: (change: Change) => void,
  onState: (state: FeedState) => void,
): () => void {
  const more: Record<string, string> = { previous: "true" };
  if (after !== undefined) more.after = String(after);
  onState("connecting");
  const source = new EventSource(`/changes?${parametersOf(filter, more)}`);
  source.addEventListener("open", () => onState("open"));
  source.addEventListener("error", () => onState("lost"));
  source.addEventListener("change", (event) => {
    onChange(JSON.parse(String((event as MessageEvent).data)) as Change);
  });
  return () => source.close();
}
