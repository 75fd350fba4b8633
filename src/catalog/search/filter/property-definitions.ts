/**
 * Definitions of structured properties, for searches. Everyone who sees an entity sees its property
 * values, so definitions are read unfiltered to compare values. Their types are disclosed only to
 * callers who may see the definition.
 */
import { currentAspect } from "../../../core/entity-state.ts";
import { CatalogError } from "../../../core/errors.ts";
import { valueTypeOf } from "../../../core/rules/property-values.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { Addresses } from "../../address.ts";
import type { EntityCache } from "../../write/entity-cache.ts";

export interface SearchedDefinition {
  /** Type of its values (valueTypeOf). */
  readonly type: string;
  readonly version: string | undefined;
  /** True if the caller may see the definition. */
  readonly visible: boolean;
}

/** In the order of the urns; undefined if there is no definition. */
export type PropertyDefinitions = (
  urns: readonly string[],
) => Promise<readonly (SearchedDefinition | undefined)[]>;

interface Dependencies {
  readonly addresses: Pick<Addresses, "readable">;
  /** All entities, unfiltered. */
  readonly states: Pick<EntityCache, "read">;
  /** The entities that the caller may see; undefined: all. */
  readonly visible: Pick<EntityCache, "read"> | undefined;
}

export function createPropertyDefinitions(dependencies: Dependencies): PropertyDefinitions {
  const { addresses, states, visible } = dependencies;

  /** Empty for an invalid urn. */
  function stored(urn: string): readonly string[] {
    try {
      return [addresses.readable(urn).urn];
    } catch (error) {
      if (error instanceof CatalogError) return [];
      throw error;
    }
  }

  async function readBy(
    reader: Pick<EntityCache, "read">,
    urns: readonly string[],
  ): Promise<ReadonlyMap<string, JsonObject>> {
    const found = await reader.read(urns);
    return new Map(
      found.flatMap((state) => {
        const text = currentAspect(state, "propertyDefinition")?.value;
        return text === undefined ? [] : [[state.urn, JSON.parse(text)] as const];
      }),
    );
  }

  return async (urns) => {
    const known = urns.flatMap(stored);
    const all = await readBy(states, known);
    const shown = visible === undefined ? all : await readBy(visible, [...all.keys()]);
    return urns.map((urn) => {
      const definition = all.get(urn);
      if (definition === undefined) return undefined;
      const { version } = definition;
      return {
        type: valueTypeOf(definition),
        version: typeof version === "string" ? version : undefined,
        visible: shown.has(urn),
      };
    });
  };
}
