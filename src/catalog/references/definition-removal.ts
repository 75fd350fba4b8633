/**
 * Removes the values of a structured property from all assets, and its prompts from forms, when the
 * property's definition is deleted, as DataHub's PropertyDefinitionDeleteSideEffect does. A later
 * definition with the same id starts without values.
 *
 * Ordinary records remove the values, so that a rebuild repeats the removal. A process that ends between
 * the deletion and the removal leaves values behind: `removeLeftValues` removes them at the next start.
 */
import { isEntityDelete } from "../../core/decide.ts";
import { currentAspect } from "../../core/entity-state.ts";
import { type Position, START } from "../../core/position.ts";
import { entityStream } from "../../core/stream.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import type { Catalog } from "../catalog.ts";
import type { EntityCache } from "../write/entity-cache.ts";
import type { WriteRequest } from "../write/write-request.ts";

export interface DefinitionRemoval {
  /** Urns of the structured properties whose definitions the request deletes. */
  deletedBy(writeRequests: readonly WriteRequest[]): readonly string[];
  /** Waits until search finds all values. Throws `unavailable` before anything is written. */
  ready(): Promise<void>;
  /** Resolves to the position of the last record written; START when there is none. */
  removeValues(urns: readonly string[]): Promise<Position>;
  /** Removes values of all deleted definitions. Throws `unavailable` when search cannot be read. */
  removeLeftValues(): Promise<void>;
}

interface Dependencies {
  readonly log: Pick<ChangeLog, "listStreams">;
  readonly states: Pick<EntityCache, "read">;
  readonly namespace: string;
  readonly deleteReferences: Catalog["deleteReferences"];
  /** Waits until the search view has every acknowledged write. */
  readonly searchCaughtUp: () => Promise<void>;
}

const TYPE = "structuredProperty";
const DEFINITION = "propertyDefinition";
/** Number of streams in a page. */
const pageMax = 500;

export function createDefinitionRemoval(dependencies: Dependencies): DefinitionRemoval {
  const { log, states, namespace, deleteReferences } = dependencies;

  async function removeValues(urns: readonly string[]): Promise<Position> {
    let last = START;
    for (const urn of urns) {
      const { position = START } = await deleteReferences({ urn }, {});
      if (position > last) last = position;
    }
    return last;
  }

  return {
    deletedBy: (writeRequests) =>
      writeRequests
        .filter(
          ({ entity, commands }) =>
            entity.name === TYPE &&
            commands.some(
              (command) =>
                isEntityDelete(command, entity.keyAspect) ||
                (command.kind === "delete" && command.aspect === DEFINITION),
            ),
        )
        .map(({ urn }) => urn),

    ready: dependencies.searchCaughtUp,
    removeValues,

    async removeLeftValues() {
      const prefix = entityStream(`urn:${namespace}:${TYPE}:`);
      for (let after: string | undefined; ; ) {
        const names = await log.listStreams(prefix, { after, limit: pageMax });
        after = names.at(-1);
        if (after === undefined) return;
        const found = await states.read(names.map((name) => name.slice(entityStream("").length)));
        const deleted = found.filter((state) => currentAspect(state, DEFINITION) === undefined);
        await removeValues(deleted.map(({ urn }) => urn));
      }
    },
  };
}

/** Milliseconds between two attempts while the search view cannot be read. */
const retryMs = 10_000;

/** Runs `removeLeftValues` in the background until it succeeds; returns a function that stops it. */
export function removeLeftValuesLater(
  { removeLeftValues }: Pick<DefinitionRemoval, "removeLeftValues">,
  logger: { warn(fields: object, message: string): void },
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const attempt = async (): Promise<void> => {
    try {
      await removeLeftValues();
    } catch (err) {
      if (stopped) return;
      logger.warn(
        { err },
        "cannot remove values of deleted structured properties; trying again later",
      );
      timer = setTimeout(attempt, retryMs).unref();
    }
  };
  void attempt();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
