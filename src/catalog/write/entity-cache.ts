/**
 * Cache of current entity states: the newest fold of their streams.
 *
 * The aspect view lags behind the log. An entity that was just written stays here (dirty) until the
 * view has its last record. Every other entity is read from the view and cached while there is
 * room. So decisions and reads always see every acknowledged write.
 *
 *   state      stored in                          transitions
 *   unknown    only the view                      loaded → cached
 *   cached     the cache and the view             written → dirty; evicted → unknown
 *   dirty      here; the last records are in the  the view reaches the last position → cached;
 *              log or being appended              an append fails, or invalidated → lost
 *   lost       no state: it may differ from the   loaded → read from the view if that has the last
 *              log                                record of the entity, else folded from its stream
 *
 * If other processes write to the log, too, clean states are not cached, because they may be outdated
 * at once. Lost states are then always folded from their streams, and so are all states while the view
 * is unavailable or slow. So decisions never wait long for the view.
 */
import { LRUCache } from "lru-cache";
import type { EntityState } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import type { AspectReader } from "../../views/aspects/aspect-table.ts";

export interface EntityCache {
  /** The entities with every write decided so far, in the order of the urns. For decisions. */
  load(urns: readonly string[]): Promise<readonly Entry[]>;
  /** The entities with every durable write; waits for appends in flight. For reads. */
  read(urns: readonly string[]): Promise<readonly EntityState[]>;
  /**
   * One entity for reading, without a promise; undefined unless it is cached and has no append in
   * flight.
   */
  peek(urn: string): EntityState | undefined;
  /**
   * The same without marking the entry as recently used: for lookups of every request, such as its
   * actor.
   */
  peekQuietly(urn: string): EntityState | undefined;
  /**
   * The entity's entry with every write decided so far, without a promise; undefined when it is not in
   * memory.
   */
  find(urn: string): Entry | undefined;
  /**
   * Records decisions: `next` becomes the entity's state if `appending` succeeds, which resolves with the
   * last position of each entity. `first` is the log's own promise, for the case that `appending` settles
   * later: its rejection invalidates the entries before another decision uses them. Must be called
   * synchronously after `find`.
   */
  decided(
    decisions: readonly { readonly entry: Entry; readonly next: EntityState }[],
    appending: Promise<readonly Position[]>,
    first?: Promise<unknown>,
  ): void;
  /** Drops states of entities that may be wrong: dirty ones are lost. "all" drops the clean ones. */
  evict(urns: readonly string[] | "all"): void;
  /**
   * Marks the entities as outdated: the next load folds them from the log. No effect unless other
   * processes write to the log.
   */
  invalidate(urns: readonly string[]): void;
  /** Last position of a dirty or lost entity, which the view may lack; START for other entities. */
  positionOf(urn: string): Position;
  /** Number of dirty and lost entities. */
  dirty(): number;
}

export interface Entry {
  readonly urn: string;
  /** Undefined if lost. */
  state: EntityState | undefined;
  /** The last append in flight; settles when it is durable or has failed. */
  appending: Promise<unknown> | undefined;
  /** Last position in the log; START for a state from the view. */
  position: Position;
}

interface Dependencies {
  readonly reader: Pick<AspectReader, "getEntities">;
  /** Folds an entity from its stream; set if other processes write to the log. */
  readonly fromLog?: ((urn: string) => Promise<EntityState>) | undefined;
  /** Those of the entities that are parked in the view: they are folded from their streams. */
  readonly parkedAmong?: ((urns: readonly string[]) => Promise<ReadonlySet<string>>) | undefined;
  readonly fold?: ((urn: string) => Promise<EntityState>) | undefined;
  /** Waits until the aspect view has a position. */
  readonly reached: (position: Position) => Promise<void>;
  /** Registers a listener for positions of the aspect view. */
  readonly onProgress: (listener: (position: Position) => void) => void;
  /**
   * Last positions of entities that the view does not have yet, by urn. Their states are unknown: each
   * is folded from its stream when it is loaded.
   */
  readonly behind?: ReadonlyMap<string, Position> | undefined;
  readonly bytesMax: number;
  /** Replaces SLOW_MS in tests. */
  readonly slowMs?: { readonly max: number; readonly avoided: number } | undefined;
}

/** Memory of an entry beyond its values (maps, stamps, system metadata), as measured. */
const ENTRY_BYTES = 600;
const ASPECT_BYTES = 250;
/**
 * Milliseconds to wait for a remote view (plus `each` per entity) before reading the log, and the
 * time for which the view is then avoided.
 */
const SLOW_MS = { max: 2_000, each: 2, avoided: 5_000 };
/** Maximum number of dirty entries that wait for a view of another process: some hundred megabytes. */
const WAITING_MAX = 20_000;

export function createEntityCache(dependencies: Dependencies): EntityCache {
  const { reader, fromLog, reached, onProgress, bytesMax, slowMs = SLOW_MS } = dependencies;
  const { parkedAmong, fold } = dependencies;
  // LRUCache treats 0 as unbounded; an entry does not fit into 1 byte.
  const maxSize = fromLog === undefined ? Math.max(1, bytesMax) : 1;
  const cached = new LRUCache<string, Entry>({ maxSize, sizeCalculation: bytesOf });
  const dirty = new Map<string, Entry>();
  const loading = new Map<string, Promise<Entry>>();
  // Dirty entries by the position that releases them; a later write may change the position.
  let waiting: { position: Position; entry: Entry }[] = [];
  let viewAt = START;
  /** Time (performance.now) until which the view is avoided. */
  let avoidedUntil = Number.NEGATIVE_INFINITY;

  onProgress((position) => {
    viewAt = position;
    let done = 0;
    for (const item of waiting) {
      if (item.position > position) break;
      done++;
      markClean(item.entry, item.position);
    }
    if (done > 0) waiting = waiting.slice(done);
  });

  function markClean(entry: Entry, position: Position): void {
    if (entry.position !== position || entry.appending !== undefined) return;
    if (dirty.get(entry.urn) !== entry) return;
    dirty.delete(entry.urn);
    if (entry.state !== undefined) cached.set(entry.urn, entry);
  }

  /** Releases the entry when the view has its position. Appends may complete out of order. */
  function releaseWhenReached(entry: Entry): void {
    const { position } = entry;
    let at = waiting.length;
    while (at > 0 && (waiting[at - 1]?.position ?? START) > position) at--;
    waiting.splice(at, 0, { position, entry });
  }

  const find = (urn: string): Entry | undefined => {
    const entry = dirty.get(urn) ?? cached.get(urn);
    return entry?.state === undefined ? undefined : entry;
  };

  const stateOf = (entry: Entry | undefined): EntityState | undefined =>
    entry?.appending === undefined ? entry?.state : undefined;

  async function load(urns: readonly string[]): Promise<readonly Entry[]> {
    const missing = urns.filter((urn) => find(urn) === undefined);
    const loaded = missing.length > 0 ? await loadAll(missing) : undefined;
    const entries = urns.map((urn) => find(urn) ?? loaded?.get(urn));
    // Rare: another request lost one of the states meanwhile. Loading one by one cannot race like this.
    return entries.every((entry) => entry !== undefined)
      ? (entries as Entry[])
      : Promise.all(urns.map(async (urn) => find(urn) ?? (await loadOne(urn))));
  }

  async function loadAll(urns: readonly string[]): Promise<ReadonlyMap<string, Entry>> {
    const others = urns.filter((urn) => loading.has(urn) || dirty.has(urn));
    const fresh = [...new Set(urns)].filter((urn) => !loading.has(urn) && !dirty.has(urn));
    if (fresh.length > 0) {
      const states = readAll(fresh);
      for (const [i, urn] of fresh.entries()) {
        loading.set(
          urn,
          states.then((all) => keep(urn, all[i])).finally(() => loading.delete(urn)),
        );
      }
    }
    const begun = fresh.map((urn) => loading.get(urn) as Promise<Entry>);
    const entries = [...(await Promise.all(begun)), ...(await Promise.all(others.map(loadOne)))];
    return new Map(entries.map((entry) => [entry.urn, entry]));
  }

  async function readAll(urns: readonly string[]): Promise<readonly EntityState[]> {
    if (fromLog === undefined) return readWhole(urns);
    if (performance.now() < avoidedUntil) return Promise.all(urns.map(fromLog));
    try {
      return await inTime(readWhole(urns), slowMs.max + SLOW_MS.each * urns.length);
    } catch (error) {
      if (!(error instanceof CatalogError) || error.code !== "unavailable") throw error;
      return Promise.all(urns.map(fromLog));
    }
  }

  /** States from the view; parked entities are folded from the log. */
  async function readWhole(urns: readonly string[]): Promise<readonly EntityState[]> {
    const [found, parked] = await Promise.all([reader.getEntities(urns), parkedAmong?.(urns)]);
    if (fold === undefined || parked === undefined || parked.size === 0) return found;
    return Promise.all(
      found.map(async (state) => {
        if (!parked.has(state.urn)) return state;
        // An unreadable record leaves the state before it.
        return fold(state.urn).catch((error) => {
          if (error instanceof CatalogError && error.code === "unavailable") throw error;
          return state;
        });
      }),
    );
  }

  async function inTime<T>(reading: Promise<T>, msMax: number): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      avoidedUntil = performance.now() + slowMs.avoided;
      reject(new CatalogError("unavailable", `the aspect view has not answered for ${msMax} ms`));
    }, msMax);
    try {
      return await Promise.race([reading, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  function loadOne(urn: string): Promise<Entry> {
    const found = find(urn);
    if (found !== undefined) return Promise.resolve(found);
    const begun = loading.get(urn);
    if (begun !== undefined) return begun;
    const lost = dirty.get(urn);
    const load = (async () => {
      await lost?.appending?.catch(() => {});
      // The stream has the state even while the view cannot follow the log, for example on a full
      // disk.
      const behind = lost !== undefined && lost.position > viewAt;
      const fromStream = lost === undefined ? undefined : (fromLog ?? (behind ? fold : undefined));
      if (behind && fromStream === undefined) await reached(lost.position);
      const [state] = fromStream === undefined ? await readAll([urn]) : [await fromStream(urn)];
      dirty.delete(urn);
      const ahead = fromStream !== undefined && lost !== undefined && lost.position > viewAt;
      return ahead ? markDirty(urn, state, lost.position) : keep(urn, state);
    })().finally(() => loading.delete(urn));
    loading.set(urn, load);
    return load;
  }

  function keep(urn: string, state: EntityState | undefined): Entry {
    const entry: Entry = { urn, state, appending: undefined, position: START };
    cached.set(urn, entry);
    return entry;
  }

  /** Keeps writes of this process visible while the view lacks them. */
  function markDirty(urn: string, state: EntityState | undefined, position: Position): Entry {
    const entry: Entry = { urn, state, appending: undefined, position };
    dirty.set(urn, entry);
    releaseWhenReached(entry);
    return entry;
  }

  function decided(
    decisions: readonly { readonly entry: Entry; readonly next: EntityState }[],
    appending: Promise<readonly Position[]>,
    first: Promise<unknown> = appending,
  ): void {
    let lost = false;
    function lose(): void {
      if (lost) return;
      lost = true;
      for (const { entry } of decisions) {
        if (entry.appending === appending) entry.appending = undefined;
        entry.state = undefined;
        releaseWhenReached(entry);
      }
    }
    first.catch(lose);
    for (const { entry, next } of decisions) {
      cached.delete(entry.urn);
      dirty.set(entry.urn, entry);
      entry.state = next;
      entry.appending = appending;
    }
    appending.then((positions) => {
      for (const [i, { entry }] of decisions.entries()) {
        const position = positions[i] ?? entry.position;
        if (position > entry.position) entry.position = position;
        if (entry.appending === appending) entry.appending = undefined;
        releaseWhenReached(entry);
      }
      if (fromLog !== undefined) releaseOldest();
    }, lose);
  }

  /** Another process may project the view and stall; this bounds the memory. */
  function releaseOldest(): void {
    if (waiting.length <= WAITING_MAX) return;
    for (const { entry, position } of waiting.splice(0, waiting.length - WAITING_MAX)) {
      markClean(entry, position);
    }
  }

  async function readOne(urn: string): Promise<EntityState> {
    for (;;) {
      const [entry] = await load([urn]);
      const { state, appending } = entry as Entry;
      // The state was lost after loading.
      if (state === undefined) continue;
      if (appending === undefined) return state;
      try {
        await appending;
        return state;
      } catch {
        // The write failed, so its result must not be visible: read again.
      }
    }
  }

  for (const [urn, position] of dependencies.behind ?? []) markDirty(urn, undefined, position);

  return {
    load,
    find,
    decided,
    peek: (urn) => stateOf(find(urn)),
    peekQuietly: (urn) => stateOf(dirty.get(urn) ?? cached.peek(urn)),
    async read(urns) {
      const entries = await load(urns);
      const found = entries.map((entry) => (entry.appending ? undefined : entry.state));
      return found.every((state) => state !== undefined) ? found : Promise.all(urns.map(readOne));
    },
    evict(urns) {
      if (urns === "all") return cached.clear();
      for (const urn of urns) {
        const entry = dirty.get(urn) ?? cached.peek(urn);
        // Decisions that hold this entry must see that it is invalid.
        if (entry !== undefined) entry.state = undefined;
        cached.delete(urn);
      }
    },
    invalidate(urns) {
      if (fromLog === undefined) return;
      for (const urn of urns) {
        const entry = dirty.get(urn);
        if (entry === undefined) markDirty(urn, undefined, START);
        else entry.state = undefined;
      }
    },
    positionOf: (urn) => dirty.get(urn)?.position ?? START,
    dirty: () => dirty.size,
  };
}

function bytesOf(entry: Entry): number {
  let bytes = ENTRY_BYTES + entry.urn.length;
  for (const aspect of entry.state?.aspects.values() ?? []) {
    bytes += ASPECT_BYTES + aspect.value.length;
  }
  return bytes;
}
