/**
 * What searches need of the definitions of structured properties. Values of a property are shown with
 * their entities, whoever may see its definition: so that is read whoever asks, and decides how they
 * are compared; it is only told of it to those who see it.
 */
import { currentAspect } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { valueTypeOf } from "../core/property-values.ts";
import type { Addresses } from "./address.ts";
import type { EntityStates } from "./entity-states.ts";

export interface SearchedDefinition {
  /** Of its values, as valueTypeOf tells it. */
  readonly type: string;
  readonly version: string | undefined;
  /** Who asks sees it. */
  readonly seen: boolean;
}

/** In the order of the urns; undefined where there is no definition. */
export type PropertyDefinitions = (
  urns: readonly string[],
) => Promise<readonly (SearchedDefinition | undefined)[]>;

interface Dependencies {
  readonly addresses: Pick<Addresses, "known">;
  /** All entities, whoever asks. */
  readonly states: Pick<EntityStates, "read">;
  /** What who asks sees; undefined: everything. */
  readonly seen: Pick<EntityStates, "read"> | undefined;
}

export function createPropertyDefinitions(dependencies: Dependencies): PropertyDefinitions {
  const { addresses, states, seen } = dependencies;

  /** None for what cannot be a urn. */
  function stored(urn: string): readonly string[] {
    try {
      return [addresses.known(urn).urn];
    } catch (error) {
      if (error instanceof CatalogError) return [];
      throw error;
    }
  }

  async function readBy(
    reader: Pick<EntityStates, "read">,
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
    const shown = seen === undefined ? all : await readBy(seen, [...all.keys()]);
    return urns.map((urn) => {
      const definition = all.get(urn);
      if (definition === undefined) return undefined;
      const { version } = definition;
      return {
        type: valueTypeOf(definition),
        version: typeof version === "string" ? version : undefined,
        seen: shown.has(urn),
      };
    });
  };
}
