/**
 * Entities with an edge to an entity. Requests for the same relationship in one tick of the event loop are
 * one scroll over the edges of all their entities.
 */
import type { Viewer } from "../../context.ts";

interface Waiting {
  readonly urn: string;
  readonly settle: (sources: readonly string[]) => void;
  readonly fail: (error: unknown) => void;
}

const batches = new WeakMap<Viewer, Map<string, Waiting[]>>();

const pageMax = 1_000;
/** Maximum number of edges that a batch reads. */
const edgesMax = 20_000;

/** The urns of the entities with such an edge, in the order of the writes. */
function incoming(urn: string, relationship: string, viewer: Viewer): Promise<readonly string[]> {
  let byType = batches.get(viewer);
  if (byType === undefined) {
    byType = new Map();
    batches.set(viewer, byType);
  }
  const open = byType;
  return new Promise((settle, fail) => {
    const batch = open.get(relationship);
    if (batch !== undefined) {
      batch.push({ urn, settle, fail });
      return;
    }
    const started: Waiting[] = [{ urn, settle, fail }];
    open.set(relationship, started);
    setImmediate(() => {
      open.delete(relationship);
      void answer(started, relationship, viewer);
    });
  });
}

async function answer(batch: readonly Waiting[], type: string, viewer: Viewer): Promise<void> {
  const urns = [...new Set(batch.map(({ urn }) => urn))];
  try {
    const sources = await viewer.loader.list(
      () => sourcesOf(urns, type, viewer),
      (found) => [...found.values()].reduce((sum, { length }) => sum + length, 0),
    );
    for (const { urn, settle } of batch) settle(sources.get(urn) ?? []);
  } catch (error) {
    for (const { fail } of batch) fail(error);
  }
}

async function sourcesOf(urns: readonly string[], type: string, { catalog }: Viewer) {
  const sources = new Map<string, string[]>();
  let scrollId: string | undefined;
  let edges = 0;
  do {
    const page = await catalog.scrollRelationships({
      ...{ types: [type], destination: { urns }, count: pageMax },
      ...(scrollId !== undefined && { scrollId }),
    });
    for (const { source, destination } of page.relationships) {
      const list = sources.get(destination);
      if (list === undefined) sources.set(destination, [source]);
      else list.push(source);
    }
    edges += page.relationships.length;
    scrollId = page.scrollId;
  } while (scrollId !== undefined && edges < edgesMax);
  return sources;
}

/** The urns of `incoming`, without entities that do not exist or are soft-deleted. */
export async function existingIncoming(
  urn: string,
  relationship: string,
  viewer: Viewer,
): Promise<readonly string[]> {
  const urns = await incoming(urn, relationship, viewer);
  const loaded = await Promise.all(urns.map((one) => viewer.loader.load(one)));
  return loaded
    .filter(({ exists, aspect }) => exists && aspect("status")?.removed !== true)
    .map((one) => one.urn);
}
