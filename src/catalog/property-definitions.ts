/**
 * The structured properties that a request tells values of, as its proposals find them: as they are
 * now, with what the request itself tells of them.
 */
import type { AuditStamp } from "../core/change.ts";
import { currentAspect, type EntityState } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { PropertyDefinition } from "../core/property-values.ts";
import type { Address, Addresses } from "./address.ts";
import type { EntityStates } from "./entity-states.ts";
import { inSlices } from "./in-slices.ts";
import type { Addressed, Preparation, Prepared } from "./prepare.ts";

/**
 * A property as the proposal at an index of the request finds it; undefined: there is none. Where none
 * was defined before, what the request tells after that proposal counts, too.
 */
type DefinitionAt = (urn: string, index: number) => PropertyDefinition | undefined;

interface Reading {
  readonly addresses: Pick<Addresses, "known">;
  readonly states: Pick<EntityStates, "read">;
  readonly preparation: Pick<Preparation, "prepare">;
  readonly stamp: AuditStamp;
}

/** What the request has made of a property with the proposal at an index. */
interface Told extends PropertyDefinition {
  readonly index: number;
}

export async function readDefinitions(
  urns: readonly string[],
  addressed: readonly Addressed[],
  { addresses, states, preparation, stamp }: Reading,
): Promise<DefinitionAt> {
  const known = await inSlices(urns, (urn) => addresses.known(urn));
  const found = await states.read(known.map(({ urn }) => urn));
  const stored = new Map(known.map((one, i) => [one.urn, storedIn(one, found[i])]));
  const told = new Map<string, Told[]>();
  await inSlices(addressed, (one, index) => {
    if (!stored.has(one.urn)) return;
    const own = told.get(one.urn) ?? [];
    const last = own.at(-1) ?? stored.get(one.urn) ?? UNDEFINED;
    const next = DEFINING.includes(one.aspect.name)
      ? after(
          last,
          preparation.prepare(one, stamp, () => undefined),
        )
      : last;
    own.push({ ...next, index });
    told.set(one.urn, own);
  });
  return (urn, index) => {
    const now = stored.get(urn);
    const own = told.get(urn) ?? [];
    const earlier = own.findLast((one) => one.index < index) ?? now;
    return earlier?.value === undefined ? (own.at(-1) ?? earlier) : earlier;
  };
}

const DEFINING: readonly string[] = ["propertyDefinition", "status"];
const UNDEFINED: PropertyDefinition = { value: undefined, removed: false };

function storedIn({ entity }: Address, state?: EntityState): PropertyDefinition | undefined {
  if (state === undefined || currentAspect(state, entity.keyAspect) === undefined) return undefined;
  const jsonOf = (aspect: string): JsonObject | undefined => {
    const text = currentAspect(state, aspect)?.value;
    return text === undefined ? undefined : JSON.parse(text);
  };
  return { value: jsonOf("propertyDefinition"), removed: jsonOf("status")?.removed === true };
}

/** The property after a proposal about its definition or status. */
function after(before: PropertyDefinition, { aspect, intent }: Prepared): PropertyDefinition {
  const defines = aspect.name === "propertyDefinition";
  // What is there is not created again: such a proposal is refused or passed over.
  if (defines && intent.kind === "create" && before.value !== undefined) return before;
  const status: JsonObject = { removed: before.removed };
  const current = defines ? before.value : status;
  let value: JsonObject | undefined;
  try {
    value =
      typeof intent.value === "function"
        ? intent.value(current, () => status)?.value
        : intent.value?.value;
  } catch (error) {
    // The decider refuses the proposal, and the request with it, or decides it on a newer state.
    if (error instanceof CatalogError) return before;
    throw error;
  }
  return defines ? { ...before, value } : { ...before, removed: value?.removed === true };
}
