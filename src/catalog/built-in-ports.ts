/**
 * Entities that are there before anybody wrote them (the default policies), to reads by their urn. As
 * soon as anything was told of one, also that it was deleted, it is what the log says. Lists, counts
 * and searches are of what was written alone.
 */
import type { AuditStamp, SystemMetadata } from "../core/change.ts";
import type { AspectState, EntityState } from "../core/entity-state.ts";
import { EMPTY_STREAM } from "../core/position.ts";
import type { ReadPorts } from "./seen-ports.ts";

export type BuiltInStates = ReadonlyMap<string, EntityState>;

const VERSION = 1;

/** `entities`: with the values of their aspects. `stamp`: of all of them. */
export function builtInStates(
  entities: readonly {
    readonly urn: string;
    readonly aspects: Readonly<Record<string, object>>;
  }[],
  { actor, time }: AuditStamp,
): BuiltInStates {
  const system: SystemMetadata = { lastObserved: time, runId: "no-run-id-provided" };
  const stateOf = (name: string, value: object): AspectState => ({
    name,
    version: VERSION,
    value: JSON.stringify(value),
    time,
    actor,
    system,
    removed: false,
  });
  return new Map(
    entities.map(({ urn, aspects }) => {
      const told = Object.entries(aspects).map(([name, value]) => stateOf(name, value));
      const byName = new Map(told.map((aspect) => [aspect.name, aspect]));
      return [urn, { urn, revision: EMPTY_STREAM, aspects: byName }];
    }),
  );
}

/** What there is of an entity of which the log has a state. */
export const orBuiltIn = (state: EntityState, builtIns: BuiltInStates): EntityState =>
  state.aspects.size === 0 ? (builtIns.get(state.urn) ?? state) : state;

export function withBuiltIns(ports: ReadPorts, builtIns: BuiltInStates): ReadPorts {
  const { states, aspects } = ports;
  const shown = (state: EntityState): EntityState => orBuiltIn(state, builtIns);
  const untold = ({ aspects }: EntityState): boolean => aspects.size === 0;

  return {
    ...ports,
    states: {
      positionOf: states.positionOf,
      peek(urn) {
        const state = states.peek(urn);
        return state && shown(state);
      },
      async read(urns) {
        const found = await states.read(urns);
        return found.some(untold) ? found.map(shown) : found;
      },
    },
    aspects: {
      ...aspects,
      async findValue(urn, name, version) {
        const found = await aspects.findValue(urn, name, version);
        const own = builtIns.get(urn)?.aspects.get(name);
        if (found !== undefined || own === undefined || version !== own.version) return found;
        const [state] = await states.read([urn]);
        if (state === undefined || !untold(state)) return undefined;
        return { ...own, system: JSON.stringify(own.system) };
      },
    },
  };
}
