/**
 * The indices of the generations of a view: creates them on demand, moves the aliases of readers to
 * them atomically, and drops them.
 */
import type { estypes } from "@elastic/elasticsearch";
import { CatalogError } from "../../core/errors.ts";
import { slicesOf } from "../../lib/lists.ts";
import { type SearchServer, statusOf, typeOfError } from "./client.ts";
import type { ViewNames } from "./names.ts";
import type { ViewShape } from "./view-metadata.ts";

export interface ViewIndex {
  readonly index: string;
  readonly generation: number;
  readonly partition: string;
  /** True if an alias of readers points to the index. */
  readonly live: boolean;
  /** True if that alias has a filter. */
  readonly filtered: boolean;
}

export interface Generations<Kept> {
  list(): Promise<readonly ViewIndex[]>;
  /** Creates the index of a part of the view. `live`: adds the aliases of readers, too. */
  make(
    generation: number,
    partition: string,
    live: { readonly kept: Kept } | undefined,
  ): Promise<void>;
  /** Moves the aliases of readers to a generation, atomically. */
  swapAliases(generation: number, kept: Kept): Promise<void>;
  /** Sets the filters of readers for partitions of the live generation. */
  show(generation: number, partitions: Iterable<string>, kept: Kept): Promise<void>;
  /** Drops the indices of all generations that are chosen. */
  drop(chosen: (index: ViewIndex) => boolean): Promise<void>;
  /** Makes all writes searchable; without `partitions`, in all indices of the generation. */
  refresh(generation: number, partitions?: Iterable<string>): Promise<void>;
}

type Action = estypes.IndicesUpdateAliasesAction;

/** Names in one request: its first line is limited to 4 KB. */
const NAMES_MAX = 12;
const NOT_FOUND = 404;
const SWAPS_MAX = 5;

export function createGenerations<Kept>(
  server: SearchServer,
  shape: Pick<ViewShape<Kept>, "index" | "visible">,
  names: ViewNames,
): Generations<Kept> {
  async function list(): Promise<readonly ViewIndex[]> {
    const found = await server.send("read", (client) =>
      client.indices.getAlias({ index: names.indices(), allow_no_indices: true }),
    );
    return Object.entries(found).flatMap(([index, { aliases }]) => {
      const parsed = names.parse(index);
      if (parsed === undefined) return [];
      const alias = aliases[names.live(parsed.partition)];
      return [
        { index, ...parsed, live: alias !== undefined, filtered: alias?.filter !== undefined },
      ];
    });
  }

  async function alter(actions: readonly Action[]): Promise<void> {
    if (actions.length === 0) return;
    await server.send("written", (client) =>
      client.indices.updateAliases({ actions: [...actions] }),
    );
  }

  const aliasOf = (partition: string, kept: Kept) => {
    const filter = shape.visible?.(partition, kept);
    return filter === undefined ? {} : { filter };
  };

  const showing = (generation: number, partition: string, kept: Kept): Action => ({
    add: {
      index: names.index(generation, partition),
      alias: names.live(partition),
      ...aliasOf(partition, kept),
    },
  });

  return {
    list,
    async make(generation, partition, live) {
      const aliases = {
        [names.writing(generation, partition)]: {},
        ...(live && { [names.live(partition)]: aliasOf(partition, live.kept) }),
      };
      try {
        await server.send("written", (client) =>
          client.indices.create({
            ...{
              index: names.index(generation, partition),
              mappings: shape.index.mappings,
              aliases,
            },
            // Writers refresh explicitly.
            settings: { refresh_interval: "-1", ...shape.index.settings },
          }),
        );
      } catch (error) {
        if (typeOfError(error) !== "resource_already_exists_exception") throw error;
      }
    },
    async swapAliases(generation, kept) {
      for (let tries = 1; ; tries++) {
        const actions = (await list()).flatMap((one): Action[] => {
          if (one.generation === generation) return [showing(generation, one.partition, kept)];
          return one.live
            ? [{ remove: { index: one.index, alias: names.live(one.partition) } }]
            : [];
        });
        try {
          return await alter(actions);
        } catch (error) {
          // An index was dropped meanwhile: list the indices again.
          if (statusOf(error) !== NOT_FOUND || tries === SWAPS_MAX) throw error;
        }
      }
    },
    show: (generation, partitions, kept) =>
      alter([...partitions].map((partition) => showing(generation, partition, kept))),
    async drop(chosen) {
      const indices = (await list()).filter(chosen).map(({ index }) => index);
      for (const index of indices) {
        try {
          await server.send("written", (client) => client.indices.delete({ index }));
        } catch (error) {
          // Another process has dropped the index.
          if (statusOf(error) !== NOT_FOUND) throw error;
        }
      }
    },
    async refresh(generation, partitions) {
      const indices =
        partitions === undefined
          ? [names.indices(generation)]
          : [...partitions].map((partition) => names.index(generation, partition));
      await Promise.all(
        Array.from(slicesOf(indices, NAMES_MAX), async (some) => {
          try {
            const { _shards } = await server.send("written", (client) =>
              client.indices.refresh({ index: some }),
            );
            if (_shards !== undefined && _shards.failed > 0)
              throw unrefreshed(server, _shards.failed);
          } catch (error) {
            // The next write detects a missing index.
            if (statusOf(error) !== NOT_FOUND) throw error;
          }
        }),
      );
    },
  };
}

const unrefreshed = (server: SearchServer, shards: number): CatalogError =>
  new CatalogError("unavailable", `${server.where} could not refresh ${shards} shards`, {
    hint: "Check the cluster health of the server",
  });
