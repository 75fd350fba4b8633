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

const readChanges = (
  filter: ChangesFilter,
  after: number,
  limit: number,
  signal?: AbortSignal,
): Promise<ChangesPage> =>
  read<ChangesPage>(
    `/changes?${parametersOf(filter, { after: String(after), limit: String(limit), previous: "true" })}`,
    { signal },
  );

/** Changes before a position, newest first; the latest changes without one. */
export const readChangesBefore = (
  filter: ChangesFilter,
  before: number | undefined,
  limit: number,
  signal?: AbortSignal,
): Promise<ChangesPage> => {
  const [name, place] = before === undefined ? ["from", "end"] : ["before", String(before)];
  const more = { [name]: place, limit: String(limit), previous: "true" };
  const query = parametersOf(filter, more);
  return read<ChangesPage>(`/changes?${query}`, { signal });
};

/** All changes that match, oldest first, page after page. */
export async function readAllChanges(
  filter: ChangesFilter,
  changesMax: number,
  signal?: AbortSignal,
): Promise<readonly Change[]> {
  const all: Change[] = [];
  let after = 0;
  for (;;) {
    const page = await readChanges(filter, after, 1_000, signal);
    all.push(...page.changes);
    if (page.end || page.position <= after || all.length >= changesMax) return all;
    after = page.position;
  }
}

/** The number of changes after a position, and the position that it counts to. */
export async function countChanges(
  after: number,
  signal?: AbortSignal,
): Promise<{ readonly position: number; readonly count: number }> {
  let [position, count] = [after, 0];
  for (;;) {
    const page = await readChanges({}, position, 1_000, signal);
    count += page.changes.length;
    const done = page.end || page.position <= position;
    position = page.position;
    if (done) return { position, count };
  }
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
