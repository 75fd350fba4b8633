/**
 * Read ports without restricted data (records of access tokens, secrets). To a caller who may not
 * see them, they do not exist.
 *
 * Restricted entities have no relationships (a test checks it), so the graph port is unchanged. All
 * other reads only compare the urn.
 */
import { type EntityState, unknownEntity } from "../../core/entity-state.ts";
import { entityTypeOf } from "../../core/urn.ts";
import type { Scope } from "../../views/search/search.ts";
import { NOTHING } from "../search/filter/conditions.ts";
import type { Restricted } from "./access-filter.ts";
import type { ReadPorts } from "./filtered-readers.ts";

export function restrictedPorts(ports: ReadPorts, restricted: Restricted): ReadPorts {
  const { states, aspects, timeseries, search } = ports;
  const { entityTypes } = restricted;

  const hides = async (urn: string): Promise<boolean> => {
    const type = entityTypeOf(urn);
    return entityTypes.has(type) && !(await restricted.may(type));
  };

  async function withoutRestricted<T extends Scope>(scope: T): Promise<T> {
    if (!scope.entityTypes.some((type) => entityTypes.has(type))) return scope;
    const left: string[] = [];
    for (const type of scope.entityTypes) {
      if (!entityTypes.has(type) || (await restricted.may(type))) left.push(type);
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
        const names = restricted.aspectsOf.get(type);
        return names === undefined || names.every((name) => !state?.aspects.has(name))
          ? state
          : undefined;
      },
      async read(urns) {
        const found = await states.read(urns);
        const open = ({ urn }: EntityState): boolean => {
          const type = entityTypeOf(urn);
          return !entityTypes.has(type) && !restricted.aspectsOf.has(type);
        };
        return found.every(open)
          ? found
          : Promise.all(found.map((state) => (open(state) ? state : shownOf(state, restricted))));
      },
    },

    aspects: {
      async findValue(urn, aspect, version) {
        const hidden = restricted.aspects.has(aspect) && !(await restricted.may(aspect));
        return hidden || (await hides(urn)) ? undefined : aspects.findValue(urn, aspect, version);
      },
      async listUrns(type, page) {
        const hidden = entityTypes.has(type) && !(await restricted.may(type));
        return hidden ? { urns: [], total: 0 } : aspects.listUrns(type, page);
      },
      async urnsAfter(type, after, count) {
        const hidden = entityTypes.has(type) && !(await restricted.may(type));
        return hidden ? [] : aspects.urnsAfter(type, after, count);
      },
      async countEntities() {
        const counts = new Map(await aspects.countEntities());
        for (const type of entityTypes) {
          if (counts.has(type) && !(await restricted.may(type))) counts.delete(type);
        }
        return counts;
      },
      async countAspect(aspect, urnLike) {
        const hidden = restricted.aspects.has(aspect) && !(await restricted.may(aspect));
        return hidden ? 0 : aspects.countAspect(aspect, urnLike);
      },
    },

    timeseries: {
      list: async (range, options) =>
        (await hides(range.urn)) ? [] : timeseries.list(range, options),
    },

    search: {
      search: async (query) => search.search(await withoutRestricted(query)),
      folders: async (query) => search.folders(await withoutRestricted(query)),
      async documents(urns) {
        const found = await search.documents(urns);
        return Promise.all(
          found.map(async (one) => (one !== undefined && (await hides(one.urn)) ? undefined : one)),
        );
      },
    },
  };
}

async function shownOf(state: EntityState, restricted: Restricted): Promise<EntityState> {
  const type = entityTypeOf(state.urn);
  if (restricted.entityTypes.has(type)) {
    return (await restricted.may(type)) ? state : unknownEntity(state.urn);
  }
  const names = restricted.aspectsOf.get(type)?.filter((name) => state.aspects.has(name)) ?? [];
  if (names.length === 0) return state;
  const left = new Map(state.aspects);
  for (const name of names) if (!(await restricted.may(name))) left.delete(name);
  return { ...state, aspects: left };
}

/** True if a change of the log is visible to the caller. */
export async function isVisibleChange(
  { urn, aspect }: { readonly urn: string; readonly aspect: string },
  restricted: Restricted,
): Promise<boolean> {
  const type = entityTypeOf(urn);
  if (restricted.entityTypes.has(type)) return restricted.may(type);
  return !restricted.aspects.has(aspect) || restricted.may(aspect);
}
