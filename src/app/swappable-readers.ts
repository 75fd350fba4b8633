/**
 * The service's readers of views, whose generation can be swapped while they are used. Readers of views
 * in servers find the live generation by themselves.
 */
import type { CatalogError } from "../core/errors.ts";
import type { RebuildingParts } from "../projector/rebuild/rebuilding.ts";
import { createSwappableStore } from "../projector/rebuild/swappable-store.ts";
import { createReadFailures } from "../storage/read-failures.ts";
import { removeLeftovers, stagingPath } from "../storage/sqlite/generations.ts";
import { embeddedReaders, type Readers } from "./adapters.ts";
import {
  fileOf,
  type StoreLocations,
  sharedView,
  type ViewName,
  viewNames,
} from "./store-locations.ts";

/** An open reader of another generation. */
interface NextReader {
  /** Repeats recent reads of the live reader on this one, to warm its caches. */
  warm(): Promise<void>;
  /** Makes this the live reader; resolves when pending reads of the old one are done. */
  swap(): Promise<void>;
  close(): Promise<void>;
}

type RejectionReason = "of another model" | "building" | "damaged";

interface SwappableReaders {
  readonly readers: Readers;
  readonly generations: RebuildingParts["readers"];
  /** Rejects reads of the view with this error, until `admit` is called with the same reason. */
  rejectReads(view: string, why: RejectionReason, error: CatalogError): void;
  /** Ends one reason for rejecting reads; the view is readable again when none is left. */
  admit(view: string, why: RejectionReason): void;
  /** The error text of each view whose reads are rejected or failed recently, by name. */
  readErrors(): Readonly<Record<string, string>>;
  /** Clears the failure of a view that was replaced. */
  clearFailure(view: string): void;
}

export function openSwappableReaders(config: StoreLocations, opened: Readers): SwappableReaders {
  const failures = createReadFailures(Date.now);
  /** The live reader of a view, and the readers of its other generations. */
  function swappable<V extends ViewName>(view: V, repeatedMethod?: keyof Readers[V] & string) {
    const live = createSwappableStore<Readers[V]>(opened[view], {
      repeatedMethod,
      onError: (error) => failures.note(view, error),
    });
    return {
      store: live.store,
      rejectReads: live.rejectReads,
      next(path: string): NextReader {
        const reader = embeddedReaders[view](path, config);
        return {
          warm: () => live.warm(reader),
          swap: () => live.swap(reader),
          close: () => reader.close(),
        };
      },
    };
  }
  const all = {
    aspects: swappable("aspects"),
    timeseries: swappable("timeseries"),
    graph: swappable("graph"),
    search: swappable("search", "search"),
  };
  const reasons = new Map<ViewName, Map<RejectionReason, CatalogError>>();
  const reasonOf = (name: ViewName): CatalogError | undefined =>
    [...(reasons.get(name)?.values() ?? [])].at(-1);
  function change(view: string, work: (of: Map<RejectionReason, CatalogError>) => void): void {
    const name = viewNames.find((name) => name === view);
    if (name === undefined) return;
    const of = reasons.get(name) ?? new Map();
    reasons.set(name, of);
    work(of);
    all[name].rejectReads(reasonOf(name));
  }
  const own = (views: readonly string[]): readonly ViewName[] =>
    viewNames.filter((name) => views.includes(name) && !sharedView(config, name));

  return {
    readers: {
      aspects: all.aspects.store,
      timeseries: all.timeseries.store,
      graph: all.graph.store,
      search: all.search.store,
    },
    generations: {
      async prepare(views) {
        const next: NextReader[] = [];
        const drop = async () => {
          for (const reader of next.splice(0)) await reader.close();
        };
        try {
          for (const name of own(views)) {
            const reader = all[name].next(stagingPath(fileOf(config, name)));
            next.push(reader);
            await reader.warm();
          }
        } catch (error) {
          await drop();
          throw error;
        }
        return {
          async swap() {
            await Promise.all(next.splice(0).map((reader) => reader.swap()));
          },
          close: drop,
        };
      },
      async reopen(views) {
        for (const name of own(views)) {
          void all[name].next(fileOf(config, name)).swap();
        }
      },
    },
    rejectReads: (view, why, error) => change(view, (of) => of.set(why, error)),
    admit: (view, why) => change(view, (of) => of.delete(why)),
    readErrors() {
      const rejected = viewNames.map((name) => [name, reasonOf(name)?.text]);
      return {
        ...failures.recent(),
        ...Object.fromEntries(rejected.filter(([, text]) => text !== undefined)),
      };
    },
    clearFailure: failures.clear,
  };
}

/** Removes staging generations of views in the data directory that are not live. */
export function clearStagingFiles(
  config: StoreLocations,
  names: readonly string[] = viewNames,
): void {
  for (const name of viewNames) {
    if (names.includes(name) && !sharedView(config, name)) removeLeftovers(fileOf(config, name));
  }
}
