/**
 * The service's readers of views, which another generation may take the place of while they are asked.
 * Views in servers have readers that find the generation in place by themselves.
 */

import type { CatalogError } from "../core/errors.ts";
import type { RebuildingParts } from "../projector/rebuild/rebuilding.ts";
import { type Replaceable, replaceable } from "../projector/rebuild/replaceable.ts";
import { removeLeftovers, stagingPath } from "../storage/sqlite/generations.ts";
import { openSqliteAspectReader } from "../views/aspects/sqlite/sqlite-aspect-reader.ts";
import { openSqliteGraphReader } from "../views/graph/sqlite/sqlite-graph-reader.ts";
import { openSqliteSearchReader } from "../views/search/sqlite/sqlite-search-reader.ts";
import { openSqliteTimeseriesReader } from "../views/timeseries/sqlite/sqlite-timeseries-reader.ts";
import { searchOptions } from "./adapters.ts";
import {
  type Places,
  type Readers,
  sharedView,
  type ViewName,
  viewFile,
  viewNames,
} from "./stores.ts";

type Reader = Readers[ViewName];

interface NextReader {
  /** Asks it what the one in place was asked lately. */
  warm(): Promise<void>;
  /** It is asked from now on; resolves when the other has answered all that it was asked. */
  take(): Promise<void>;
  close(): Promise<void>;
}

/** A view's reader, and how that of another generation is opened. */
function generationsOf<R extends Reader>(place: Replaceable<R>, open: (path: string) => R) {
  return {
    store: place.store,
    refuse: place.refuse,
    next(path: string): NextReader {
      const reader = open(path);
      return {
        warm: () => place.warm(reader),
        take: () => place.replace(reader),
        close: () => reader.close(),
      };
    },
  };
}

export type Refusal = "of another model" | "building" | "damaged";

export interface SwappableReaders {
  readonly readers: Readers;
  readonly generations: RebuildingParts["readers"];
  /** Questions of the view are answered with this error, until it is admitted again. */
  refuse(view: string, why: Refusal, error: CatalogError): void;
  /** They are answered again, unless they are refused for something else. */
  admit(view: string, why: Refusal): void;
  /** Why questions are refused, by the view's name. */
  refused(): Readonly<Record<string, string>>;
}

export function openSwappableReaders(config: Places, opened: Readers): SwappableReaders {
  const all = {
    aspects: generationsOf(replaceable(opened.aspects), openSqliteAspectReader),
    timeseries: generationsOf(replaceable(opened.timeseries), openSqliteTimeseriesReader),
    graph: generationsOf(replaceable(opened.graph), openSqliteGraphReader),
    search: generationsOf(replaceable(opened.search, "search"), (path) =>
      openSqliteSearchReader(path, searchOptions(config)),
    ),
  };
  const reasons = new Map<ViewName, Map<Refusal, CatalogError>>();
  const reasonOf = (name: ViewName): CatalogError | undefined =>
    [...(reasons.get(name)?.values() ?? [])].at(-1);
  function change(view: string, work: (of: Map<Refusal, CatalogError>) => void): void {
    const name = viewNames.find((name) => name === view);
    if (name === undefined) return;
    const of = reasons.get(name) ?? new Map();
    reasons.set(name, of);
    work(of);
    all[name].refuse(reasonOf(name));
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
            const reader = all[name].next(stagingPath(viewFile(config, name)));
            next.push(reader);
            await reader.warm();
          }
        } catch (error) {
          await drop();
          throw error;
        }
        return {
          async take() {
            await Promise.all(next.splice(0).map((reader) => reader.take()));
          },
          drop,
        };
      },
      async reopen(views) {
        for (const name of own(views)) {
          void all[name].next(viewFile(config, name)).take();
        }
      },
    },
    refuse: (view, why, error) => change(view, (of) => of.set(why, error)),
    admit: (view, why) => change(view, (of) => of.delete(why)),
    refused() {
      const refused = viewNames.map((name) => [name, reasonOf(name)?.text]);
      return Object.fromEntries(refused.filter(([, text]) => text !== undefined));
    },
  };
}

/** Removes staging generations of views in the data directory that are not live. */
export function clearStagingFiles(config: Places, names: readonly string[] = viewNames): void {
  for (const name of viewNames) {
    if (names.includes(name) && !sharedView(config, name)) removeLeftovers(viewFile(config, name));
  }
}
