/**
 * The entities that are in use, as they are now: the newest fold of their streams.
 *
 * The aspect view follows the log a moment behind. An entity that was just written is therefore
 * pinned here until the view has its last record; every other entity is read from the view and kept
 * while there is room. So deciding and reading always see every write that was answered before.
 *
 *   state          where it is                         leaves it when
 *   unknown        in the view alone                   it is asked for → kept
 *   kept           in the cache and the view           written → pinned; evicted → unknown
 *   pinned         here; its last records are in the   the view has reached its last position → kept
 *                  log or on the way there
 *   lost           an append failed: the state here    asked for → read from the view, once that has
 *                  is not what the log has             reached the last record that is in the log
 *
 * Where other processes write to the log as well, nothing is kept: what was read a moment ago may be
 * outdated. What is lost is then folded from its stream, and so is everything while the view cannot
 * be read, or is slow; decisions never wait long for the view.
 */
import { LRUCache } from "lru-cache";
import type { AspectReader } from "../aspects/aspect-table.ts";
import type { EntityState } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";

export interface EntityStates {
  /** The entities with every write decided so far, in the order of the urns; for deciding. */
  load(urns: readonly string[]): Promise<readonly Entry[]>;
  /** The entities with every write that is durable; waits for those on the way. For reading. */
  read(urns: readonly string[]): Promise<readonly EntityState[]>;
  /** One entity for reading, without a promise when it is at hand and settled. */
  peek(urn: string): EntityState | undefined;
  /** The same without counting as a use: who asks is looked at with each request. */
  glance(urn: string): EntityState | undefined;
  /**
   * The entity's entry with every write decided so far, without a promise; undefined when it is not in
   * memory.
   */
  find(urn: string): Entry | undefined;
  /**
   * Records decisions: `next` becomes the entity's state if `appending` succeeds, which resolves with the
   * last position of each entity. `first` is the log's own promise, for the case that `appending` settles
   * later: its rejection invalidates the entries before another decision uses them. Must be called in
   * the turn in which the entries were found.
   */
  decided(
    decisions: readonly { readonly entry: Entry; readonly next: EntityState }[],
    appending: Promise<readonly Position[]>,
    first?: Promise<unknown>,
  ): void;
  /** Forgets what an append that was answered as a repetition made us believe; all that was read. */
  forget(urns: readonly string[] | "all"): void;
  /**
   * Folds the entities anew from the log when they are loaded next; where others write to it, too,
   * what is known of them may be outdated. Nothing where no other process writes.
   */
  doubt(urns: readonly string[]): void;
  /** The last position of the entity that the view may not have yet. */
  positionOf(urn: string): Position;
  /** How many entities wait for the view. */
  pinned(): number;
}

export interface Entry {
  readonly urn: string;
  /** Undefined when lost. */
  state: EntityState | undefined;
  /** The last append on the way; it settles when that is durable or has failed. */
  appending: Promise<unknown> | undefined;
  /** Last position known to be in the log; START for what came from the view. */
  position: Position;
}

interface Dependencies {
  readonly reader: Pick<AspectReader, "getEntities">;
  /** An entity from its stream; given where other processes write to the log, too. */
  readonly fromLog?: ((urn: string) => Promise<EntityState>) | undefined;
  /** Of these, entities of which the view passes over records; they are folded from their streams. */
  readonly passedOver?: ((urns: readonly string[]) => Promise<ReadonlySet<string>>) | undefined;
  readonly fold?: ((urn: string) => Promise<EntityState>) | undefined;
  /** Waits until the aspect view has a position. */
  readonly reached: (position: Position) => Promise<void>;
  /** Calls with the aspect view's position as it moves. */
  readonly onProgress: (listener: (position: Position) => void) => void;
  /**
   * Last positions of entities that the view does not have yet, by urn. Their states are unknown: each
   * is folded from its stream when it is loaded.
   */
  readonly behind?: ReadonlyMap<string, Position> | undefined;
  readonly bytesMax: number;
  /** In place of SLOW_MS, for tests. */
  readonly slowMs?: { readonly max: number; readonly avoided: number } | undefined;
}

/** What an entry costs beyond its values (maps, stamps, system metadata), as measured. */
const ENTRY_BYTES = 600;
const ASPECT_BYTES = 250;
/**
 * How long a view in a server may take before the log is asked, with so much more for each entity;
 * and for how long it is left alone then.
 */
const SLOW_MS = { max: 2_000, each: 2, avoided: 5_000 };
/** Some hundred megabytes. */
const WAITING_MAX = 20_000;

export function createEntityStates(dependencies: Dependencies): EntityStates {
  const { reader, fromLog, reached, onProgress, bytesMax, slowMs = SLOW_MS } = dependencies;
  const { passedOver, fold } = dependencies;
  // The cache takes 0 for no bound at all; in one byte there is room for no entity.
  const maxSize = fromLog === undefined ? Math.max(1, bytesMax) : 1;
  const kept = new LRUCache<string, Entry>({ maxSize, sizeCalculation: bytesOf });
  const pinned = new Map<string, Entry>();
  const loading = new Map<string, Promise<Entry>>();
  // Pinned entries by the position that frees them; a position may be outdated by a later write.
  let waiting: { position: Position; entry: Entry }[] = [];
  let viewAt = START;
  /** Until then (performance.now) the view is not asked. */
  let avoidedUntil = Number.NEGATIVE_INFINITY;

  onProgress((position) => {
    viewAt = position;
    let done = 0;
    for (const item of waiting) {
      if (item.position > position) break;
      done++;
      unpin(item.entry, item.position);
    }
    if (done > 0) waiting = waiting.slice(done);
  });

  function unpin(entry: Entry, position: Position): void {
    if (entry.position !== position || entry.appending !== undefined) return;
    if (pinned.get(entry.urn) !== entry) return;
    pinned.delete(entry.urn);
    if (entry.state !== undefined) kept.set(entry.urn, entry);
  }

  /** Until the view has the entry's position. Answers may come in another order than positions. */
  function freeLater(entry: Entry): void {
    const { position } = entry;
    let at = waiting.length;
    while (at > 0 && (waiting[at - 1]?.position ?? START) > position) at--;
    waiting.splice(at, 0, { position, entry });
  }

  const find = (urn: string): Entry | undefined => {
    const entry = pinned.get(urn) ?? kept.get(urn);
    return entry?.state === undefined ? undefined : entry;
  };

  const settled = (entry: Entry | undefined): EntityState | undefined =>
    entry?.appending === undefined ? entry?.state : undefined;

  async function load(urns: readonly string[]): Promise<readonly Entry[]> {
    const missing = urns.filter((urn) => find(urn) === undefined);
    const loaded = missing.length > 0 ? await loadAll(missing) : undefined;
    const entries = urns.map((urn) => find(urn) ?? loaded?.get(urn));
    // Lost while others loaded: rare, and one at a time it cannot happen again.
    return entries.every((entry) => entry !== undefined)
      ? (entries as Entry[])
      : Promise.all(urns.map(async (urn) => find(urn) ?? (await loadOne(urn))));
  }

  async function loadAll(urns: readonly string[]): Promise<ReadonlyMap<string, Entry>> {
    const others = urns.filter((urn) => loading.has(urn) || pinned.has(urn));
    const fresh = [...new Set(urns)].filter((urn) => !loading.has(urn) && !pinned.has(urn));
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

  /** What the view has, and of those that are parked in it what the log has. */
  async function readWhole(urns: readonly string[]): Promise<readonly EntityState[]> {
    const [found, passed] = await Promise.all([reader.getEntities(urns), passedOver?.(urns)]);
    if (fold === undefined || passed === undefined || passed.size === 0) return found;
    return Promise.all(
      found.map(async (state) => {
        if (!passed.has(state.urn)) return state;
        // A record that cannot be read is of no state: then it is what it was before.
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
    const lost = pinned.get(urn);
    const load = (async () => {
      await lost?.appending?.catch(() => {});
      // The stream has the state while the view cannot follow the log, for example on a full disk.
      const behind = lost !== undefined && lost.position > viewAt;
      const fromStream = lost === undefined ? undefined : (fromLog ?? (behind ? fold : undefined));
      if (behind && fromStream === undefined) await reached(lost.position);
      const [state] = fromStream === undefined ? await readAll([urn]) : [await fromStream(urn)];
      pinned.delete(urn);
      const ahead = fromStream !== undefined && lost !== undefined && lost.position > viewAt;
      return ahead ? pin(urn, state, lost.position) : keep(urn, state);
    })().finally(() => loading.delete(urn));
    loading.set(urn, load);
    return load;
  }

  function keep(urn: string, state: EntityState | undefined): Entry {
    const entry: Entry = { urn, state, appending: undefined, position: START };
    kept.set(urn, entry);
    return entry;
  }

  /** What was written here stays to be seen, though the view does not have it yet. */
  function pin(urn: string, state: EntityState | undefined, position: Position): Entry {
    const entry: Entry = { urn, state, appending: undefined, position };
    pinned.set(urn, entry);
    freeLater(entry);
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
        freeLater(entry);
      }
    }
    first.catch(lose);
    for (const { entry, next } of decisions) {
      kept.delete(entry.urn);
      pinned.set(entry.urn, entry);
      entry.state = next;
      entry.appending = appending;
    }
    appending.then((positions) => {
      for (const [i, { entry }] of decisions.entries()) {
        const position = positions[i] ?? entry.position;
        if (position > entry.position) entry.position = position;
        if (entry.appending === appending) entry.appending = undefined;
        freeLater(entry);
      }
      if (fromLog !== undefined) letGo();
    }, lose);
  }

  /** A view that others feed may stand still: it is not for this process to remember all of it. */
  function letGo(): void {
    if (waiting.length <= WAITING_MAX) return;
    for (const { entry, position } of waiting.splice(0, waiting.length - WAITING_MAX)) {
      unpin(entry, position);
    }
  }

  async function readOne(urn: string): Promise<EntityState> {
    for (;;) {
      const [entry] = await load([urn]);
      const { state, appending } = entry as Entry;
      // Lost between being loaded and being looked at.
      if (state === undefined) continue;
      if (appending === undefined) return state;
      try {
        await appending;
        return state;
      } catch {
        // The write failed: what it would have made is not to be seen. Look again.
      }
    }
  }

  for (const [urn, position] of dependencies.behind ?? []) pin(urn, undefined, position);

  return {
    load,
    find,
    decided,
    peek: (urn) => settled(find(urn)),
    glance: (urn) => settled(pinned.get(urn) ?? kept.peek(urn)),
    async read(urns) {
      const entries = await load(urns);
      const found = entries.map((entry) => (entry.appending ? undefined : entry.state));
      return found.every((state) => state !== undefined) ? found : Promise.all(urns.map(readOne));
    },
    forget(urns) {
      if (urns === "all") return kept.clear();
      for (const urn of urns) {
        const entry = pinned.get(urn) ?? kept.peek(urn);
        // A decision that holds this entry must see that it is invalid.
        if (entry !== undefined) entry.state = undefined;
        kept.delete(urn);
      }
    },
    doubt(urns) {
      if (fromLog === undefined) return;
      for (const urn of urns) {
        const entry = pinned.get(urn);
        if (entry === undefined) pin(urn, undefined, START);
        else entry.state = undefined;
      }
    },
    positionOf: (urn) => pinned.get(urn)?.position ?? START,
    pinned: () => pinned.size,
  };
}

function bytesOf(entry: Entry): number {
  let bytes = ENTRY_BYTES + entry.urn.length;
  for (const aspect of entry.state?.aspects.values() ?? []) {
    bytes += ASPECT_BYTES + aspect.value.length;
  }
  return bytes;
}
