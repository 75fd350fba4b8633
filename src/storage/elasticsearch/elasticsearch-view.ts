/**
 * A view in Elasticsearch, opened for writing: metadata and documents of its sinks, with a cache of
 * the metadata.
 *
 * With `bulk`, builds a staging generation; the metadata of the live generation stay unchanged
 * until `close`. The next build removes the indices of an interrupted build.
 */
import type { estypes } from "@elastic/elasticsearch";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { maxOf } from "../../lib/lists.ts";
import { checkNotBehind, compareOrigin, modelAfter, type ServerView } from "../view-origin.ts";
import { bulk, throwFailures } from "./bulk.ts";
import { connect, type SearchServer, statusOf, type ViewSetting } from "./client.ts";
import { createGenerations, type Generations, type ViewIndex } from "./generations.ts";
import { namesOf, type ViewNames } from "./names.ts";
import { aliased, type PartitionWrite } from "./partition-write.ts";
import {
  checkVersion,
  createMetadata,
  emptyState,
  type FoundState,
  type StoredViewState,
  type ViewMetadata,
  type ViewShape,
} from "./view-metadata.ts";

export interface ElasticsearchView<Kept> {
  readonly server: SearchServer;
  readonly names: ViewNames;
  /**
   * The state of the view in this writer's cache. Rejects `conflict` after a failed write, until
   * `position` has read the state again.
   */
  state(): Promise<StoredViewState<Kept>>;
  /** Reads the checkpoint from the server; empties a view whose indices are missing. */
  position(): Promise<Position>;
  /**
   * Writes documents, each id once per partition, and makes them searchable (in a staging
   * generation: `refresh` does). Resolves with the writes that were skipped because the stored
   * document is newer. Rejects `unavailable` when a document is rejected, `conflict` when an index
   * was removed: the view is then emptied.
   */
  write(writes: Iterable<PartitionWrite>): Promise<readonly PartitionWrite[]>;
  /** Maps fields of an index before a document has them. */
  map(partition: string, properties: Record<string, estypes.MappingProperty>): Promise<void>;
  /** Makes all writes searchable. */
  refresh(): Promise<void>;
  /** Sets the filters of readers for these partitions from `kept` (ViewShape.visible). */
  show(partitions: Iterable<string>, kept: Kept): Promise<void>;
  /**
   * Updates the state by compare-and-set. Rejects `conflict` if another projector has changed it.
   */
  move(to: Partial<Pick<StoredViewState<Kept>, "position" | "record" | "kept">>): Promise<void>;
  /** The name of the record at the checkpoint, as the server has it. */
  lastRecord(): Promise<string | undefined>;
  /** Empties the view and begins the next generation. */
  reset(): Promise<void>;
  /** Makes all writes searchable and returns the state (Sink.staged). */
  staged(): Promise<StoredViewState<Kept>>;
  /** Makes the staging generation live. */
  publish(head?: Position): Promise<void>;
  /** May be called twice. */
  close(outcome: "keep" | "discard"): Promise<void>;
}

/** Opens a view for writing. Rejects `unavailable` when its server does not answer. */
export async function openElasticsearchView<Kept>(
  shape: ViewShape<Kept>,
  view: ServerView,
  asker: ViewSetting,
): Promise<ElasticsearchView<Kept>> {
  const server = connect(view, asker);
  try {
    const parts: Parts<Kept> = partsOf(shape, view, server);
    const open = view.bulk ? openStaging(parts, view) : openLive(parts, view);
    return viewOf(parts, await open, view);
  } catch (error) {
    await server.close();
    throw error;
  }
}

interface Parts<Kept> {
  readonly shape: ViewShape<Kept>;
  readonly server: SearchServer;
  readonly names: ViewNames;
  readonly generations: Generations<Kept>;
  readonly metadata: ViewMetadata<Kept>;
}

/** The methods that differ between a live and a staging generation. */
interface Generation<Kept> {
  readonly live: boolean;
  state(): Promise<StoredViewState<Kept>>;
  /** The state; of a live generation, read from the server. */
  ask(): Promise<StoredViewState<Kept>>;
  change(to: StoredViewState<Kept>): Promise<void>;
  /** Called when an index is missing. Always rejects. */
  onIndexLost(): Promise<never>;
  publish(head?: Position): Promise<void>;
  end(outcome: "keep" | "discard"): Promise<void>;
}

function partsOf<Kept>(shape: ViewShape<Kept>, view: ServerView, server: SearchServer) {
  const names = namesOf(view.name, shape.view);
  const generations = createGenerations(server, shape, names);
  const metadata = createMetadata<Kept>(server, shape, view);
  return { shape, server, names, generations, metadata };
}

function viewOf<Kept>(
  parts: Parts<Kept>,
  current: Generation<Kept>,
  view: ServerView,
): ElasticsearchView<Kept> {
  const { server, names, generations, shape } = parts;
  /** Partitions with an index, by generation, that are not in the metadata yet. */
  const made = new Map<number, Set<string>>();
  let closed = false;

  async function ensure(state: StoredViewState<Kept>, wanted: Iterable<string>): Promise<void> {
    const { generation, kept, places } = state;
    const there = made.get(generation) ?? new Set(places);
    const missing = [...wanted].filter((partition) => !there.has(partition));
    await Promise.all(
      missing.map((partition) =>
        generations.make(generation, partition, current.live ? { kept } : undefined),
      ),
    );
    made.clear();
    made.set(generation, new Set([...there, ...missing]));
  }

  async function stateNow(): Promise<StoredViewState<Kept>> {
    if (closed) throw new CatalogError("unavailable", `the view "${shape.view}" is closed`);
    return current.state();
  }

  return {
    server,
    names,
    state: stateNow,
    position: async () => (await current.ask()).position,
    lastRecord: async () => (await current.ask()).record,
    async write(writes) {
      const all = [...writes];
      if (all.length === 0) return [];
      const state = await stateNow();
      const aliases = new Map<string, string>();
      for (const { partition } of all)
        aliases.set(partition, names.writing(state.generation, partition));
      await ensure(state, aliases.keys());
      const { skipped, failures } = await bulk(server, aliased(all, aliases));
      if (failures.some(({ type }) => type === "index_not_found_exception")) {
        made.clear();
        await current.onIndexLost();
      }
      throwFailures(failures, shape.view, server.where);
      if (current.live) await generations.refresh(state.generation, aliases.keys());
      return skipped;
    },
    async map(partition, properties) {
      const state = await stateNow();
      const index = names.index(state.generation, partition);
      await ensure(state, [partition]);
      try {
        await server.send("written", (client) => client.indices.putMapping({ index, properties }));
      } catch (error) {
        // The index is missing: the next write detects and handles that.
        if (statusOf(error) !== NOT_FOUND) throw error;
      }
    },
    async refresh() {
      await generations.refresh((await stateNow()).generation);
    },
    async show(partitions, kept) {
      if (!current.live) return;
      const { generation } = await stateNow();
      const wanted = new Set(partitions);
      const there = (await generations.list())
        .filter((one) => one.generation === generation && wanted.has(one.partition))
        .map(({ partition }) => partition);
      await generations.show(generation, there, kept);
    },
    async move(to) {
      const state = await stateNow();
      const places = new Set([...state.places, ...(made.get(state.generation) ?? [])]);
      await current.change({ ...state, ...to, places: [...places] });
    },
    async reset() {
      const { generation, model, log } = await stateNow();
      const own = ownModel(view) ?? model;
      await current.change({ ...emptyState(shape, generation + 1), model: own, log });
      await generations.drop((one) => one.generation === generation);
    },
    async staged() {
      const state = await stateNow();
      await generations.refresh(state.generation);
      return state;
    },
    publish: (head) => current.publish(head),
    async close(outcome) {
      if (closed) return;
      closed = true;
      try {
        await current.end(outcome);
      } finally {
        await server.close();
      }
    },
  };
}

/** The model of this writer; undefined for a standby, which does not change the view's model. */
const ownModel = ({ model, standby }: ServerView): string | undefined =>
  standby ? undefined : model;

/** Opens the live generation, whose metadata are in the server. */
async function openLive<Kept>(parts: Parts<Kept>, view: ServerView): Promise<Generation<Kept>> {
  const { shape, generations, metadata } = parts;
  const notRead = `the state of the view "${shape.view}" must be read again after a failed write`;
  let known: FoundState<Kept> | undefined;

  /** Reads the metadata, or creates those of an empty view. */
  async function begin(): Promise<FoundState<Kept>> {
    const last = maxOf([0, ...(await generations.list()).map(({ generation }) => generation)]);
    await generations.drop(() => true);
    return metadata.create(emptyState(shape, last + 1));
  }

  async function change(to: StoredViewState<Kept>): Promise<void> {
    const from = known;
    if (from === undefined) throw new CatalogError("conflict", notRead);
    known = undefined;
    known = await metadata.replace(from, to);
  }

  /** Sets the model that results from a write with this writer's model. */
  const withModel = (to: StoredViewState<Kept>): StoredViewState<Kept> => ({
    ...to,
    model: modelAfter(to.model, ownModel(view)),
  });

  /** Empties the view: begins the next generation. */
  async function beginNext({ state }: FoundState<Kept>): Promise<void> {
    const { log, generation } = state;
    const model = ownModel(view) ?? state.model;
    await change({ ...emptyState(shape, generation + 1), model, log });
    await generations.drop((one) => one.generation === generation);
  }

  /** Completes an interrupted change, and reverts a change by a projector that was behind. */
  async function complete({ generation, kept }: StoredViewState<Kept>, all: readonly ViewIndex[]) {
    // The content of filters is not compared: filters are set again.
    const hasReaderAliases = ({ generation: of, partition, live, filtered }: ViewIndex) =>
      live === (of === generation) && !filtered && shape.visible?.(partition, kept) === undefined;
    if (!all.every(hasReaderAliases)) await generations.swapAliases(generation, kept);
    if (all.some((one) => one.generation < generation)) {
      await generations.drop((one) => one.generation < generation);
    }
  }

  async function ask(): Promise<FoundState<Kept>> {
    const inconsistent = known === undefined;
    const found = (await metadata.find()) ?? (await begin());
    checkVersion(shape, found.state);
    known = found;
    if (inconsistent) {
      const all = view.standby ? undefined : await generations.list();
      // A standby repairs nothing.
      if (all !== undefined && isWhole(found.state, all)) await complete(found.state, all);
      else if (all !== undefined) await beginNext(found);
      if (known !== undefined) view.onStale?.(compareOrigin(known.state, view) === "stale");
    }
    return known;
  }

  await ask();
  await claimOrigin();

  /** As for views in files (storage/sqlite/sqlite-view.ts). */
  async function claimOrigin(): Promise<void> {
    const { state } = known ?? (await ask());
    const verdict = compareOrigin(state, view);
    // A standby does not change the origin.
    if (verdict === "ahead" || view.standby) return;
    const origin = { model: view.model ?? state.model, log: view.log?.id ?? state.log };
    const kept = { model: state.model ?? origin.model, log: origin.log };
    if (verdict !== "own" && verdict !== "stale") {
      await change({ ...emptyState(shape, state.generation + 1), ...origin });
      await generations.drop((one) => one.generation === state.generation);
      if (state.position > START) view.onEmptied?.(verdict);
    } else if (state.model !== kept.model || state.log !== kept.log) {
      await change({ ...state, ...kept });
    }
  }

  return {
    live: true,
    async state() {
      if (known !== undefined) return known.state;
      throw new CatalogError("conflict", notRead);
    },
    ask: async () => (await ask()).state,
    change: (to) => change(withModel(to)),
    async onIndexLost() {
      const before = known;
      const found = await metadata.find();
      known = found;
      if (found === undefined || found.writer !== before?.writer) {
        known = undefined;
        throw new CatalogError("conflict", `the view "${shape.view}" was moved or dropped`);
      }
      await beginNext(found);
      known = undefined;
      throw new CatalogError("conflict", `the view "${shape.view}" has lost an index`);
    },
    async publish() {},
    async end() {},
  };
}

/** True if every part with documents has its index. */
function isWhole<Kept>(state: StoredViewState<Kept>, all: readonly ViewIndex[]): boolean {
  const there = all.filter(({ generation }) => generation === state.generation);
  return new Set(state.places).isSubsetOf(new Set(there.map(({ partition }) => partition)));
}

const NOT_FOUND = 404;

const TAKE_TRIES_MAX = 5;

/** Opens a staging generation. Its position is only in memory. */
async function openStaging<Kept>(parts: Parts<Kept>, view: ServerView): Promise<Generation<Kept>> {
  const { shape, generations, metadata } = parts;
  const live = (await metadata.find())?.state.generation ?? 0;
  const all = await generations.list();
  const last = maxOf([live, ...all.map(({ generation }) => generation)]);
  await generations.drop(({ generation }) => generation > live);
  const origin = { model: view.model ?? null, log: view.log?.id ?? null };
  let state = { ...emptyState(shape, last + 1), ...origin };

  /** Makes this the live generation; retries if the metadata change meanwhile. */
  async function take(): Promise<void> {
    for (let tries = 1; ; tries++) {
      const found = await metadata.find();
      try {
        const taken = found ?? (await metadata.create(state));
        if (taken.state.generation !== state.generation) await metadata.replace(taken, state);
        return;
      } catch (error) {
        const lost = error instanceof CatalogError && error.code === "conflict";
        if (!lost || tries === TAKE_TRIES_MAX) throw error;
      }
    }
  }

  let published = false;
  async function publish(head?: Position): Promise<void> {
    const own = state.generation;
    if (published) return;
    await generations.refresh(own);
    const live = (await metadata.find())?.state.position;
    checkNotBehind(shape.view, { own: state.position, live, head });
    await generations.swapAliases(own, state.kept);
    await take();
    published = true;
  }

  return {
    live: false,
    state: async () => state,
    // Sends a request, so that a closed view or an unavailable server is reported.
    async ask() {
      await metadata.find();
      return state;
    },
    async change(to) {
      state = to;
    },
    async onIndexLost() {
      throw new CatalogError(
        "unavailable",
        `the generation ${state.generation} of the view "${shape.view}" was dropped during its build`,
        { hint: "Another rebuild of the view may be running" },
      );
    },
    publish,
    async end(outcome) {
      const own = state.generation;
      if (!published && outcome === "discard") {
        return generations.drop(({ generation }) => generation === own);
      }
      if (!published) await publish();
      // A later one may be a staging generation.
      await generations.drop(({ generation }) => generation < own);
    },
  };
}
