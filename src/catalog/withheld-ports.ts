/**
 * The ports that reads work on, without what is shown to those alone who manage it: records of access
 * tokens, secrets. Whoever may not see them is answered as if they were not there.
 *
 * What is withheld tells no relationships (a test holds it), so that the graph is as it is. Everything
 * else passes at the cost of a look at the urn.
 */
import { type EntityState, unknownEntity } from "../core/entity-state.ts";
import { entityTypeOf } from "../core/urn.ts";
import type { Scope } from "../search/search.ts";
import { NOTHING } from "./search-conditions.ts";
import type { ReadPorts } from "./seen-ports.ts";
import type { Withheld } from "./sight.ts";

export function withheldPorts(ports: ReadPorts, withheld: Withheld): ReadPorts {
  const { states, aspects, timeseries, search } = ports;
  const { entityTypes } = withheld;

  const hides = async (urn: string): Promise<boolean> => {
    const type = entityTypeOf(urn);
    return entityTypes.has(type) && !(await withheld.may(type));
  };

  async function narrowed<T extends Scope>(scope: T): Promise<T> {
    if (!scope.entityTypes.some((type) => entityTypes.has(type))) return scope;
    const left: string[] = [];
    for (const type of scope.entityTypes) {
      if (!entityTypes.has(type) || (await withheld.may(type))) left.push(type);
    }
    return left.length === 0 ? { ...scope, condition: NOTHING } : { ...scope, entityTypes: left };
  }

  return {
    ...ports,
    states: {
      positionOf: states.positionOf,
      peek(urn) {
        const type = entityTypeOf(urn);
        if (entityTypes.has(type)) return undefined;
        const state = states.peek(urn);
        const names = withheld.aspectsOf.get(type);
        return names === undefined || names.every((name) => !state?.aspects.has(name))
          ? state
          : undefined;
      },
      async read(urns) {
        const found = await states.read(urns);
        const open = ({ urn }: EntityState): boolean => {
          const type = entityTypeOf(urn);
          return !entityTypes.has(type) && !withheld.aspectsOf.has(type);
        };
        return found.every(open)
          ? found
          : Promise.all(found.map((state) => (open(state) ? state : shownOf(state, withheld))));
      },
    },

    aspects: {
      async findValue(urn, aspect, version) {
        const hidden = withheld.aspects.has(aspect) && !(await withheld.may(aspect));
        return hidden || (await hides(urn)) ? undefined : aspects.findValue(urn, aspect, version);
      },
      async listUrns(type, page) {
        const hidden = entityTypes.has(type) && !(await withheld.may(type));
        return hidden ? { urns: [], total: 0 } : aspects.listUrns(type, page);
      },
      async countEntities() {
        const counts = new Map(await aspects.countEntities());
        for (const type of entityTypes) {
          if (counts.has(type) && !(await withheld.may(type))) counts.delete(type);
        }
        return counts;
      },
      async countAspect(aspect, urnLike) {
        const hidden = withheld.aspects.has(aspect) && !(await withheld.may(aspect));
        return hidden ? 0 : aspects.countAspect(aspect, urnLike);
      },
    },

    timeseries: {
      list: async (range, options) =>
        (await hides(range.urn)) ? [] : timeseries.list(range, options),
    },

    search: {
      search: async (query) => search.search(await narrowed(query)),
      folders: async (query) => search.folders(await narrowed(query)),
      async documents(urns) {
        const found = await search.documents(urns);
        return Promise.all(
          found.map(async (one) => (one !== undefined && (await hides(one.urn)) ? undefined : one)),
        );
      },
    },
  };
}

async function shownOf(state: EntityState, withheld: Withheld): Promise<EntityState> {
  const type = entityTypeOf(state.urn);
  if (withheld.entityTypes.has(type)) {
    return (await withheld.may(type)) ? state : unknownEntity(state.urn);
  }
  const names = withheld.aspectsOf.get(type)?.filter((name) => state.aspects.has(name)) ?? [];
  if (names.length === 0) return state;
  const left = new Map(state.aspects);
  for (const name of names) if (!(await withheld.may(name))) left.delete(name);
  return { ...state, aspects: left };
}

/** Whether a change of the log may be told. */
export async function tellable(
  { urn, aspect }: { readonly urn: string; readonly aspect: string },
  withheld: Withheld,
): Promise<boolean> {
  const type = entityTypeOf(urn);
  if (withheld.entityTypes.has(type)) return withheld.may(type);
  return !withheld.aspects.has(aspect) || withheld.may(aspect);
}
