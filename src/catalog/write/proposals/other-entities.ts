/**
 * The entities that the proposals of a request refer to. Each proposal reads their stored state with the
 * writes of the proposals before it. Rules of aspects read them (core/rules/reference-rules.ts).
 */

import type { AuditStamp } from "../../../core/change.ts";
import type { AspectValue } from "../../../core/decide.ts";
import { currentAspect, type EntityState } from "../../../core/entity-state.ts";
import { CatalogError } from "../../../core/errors.ts";
import {
  type AllOfType,
  aspectsRead,
  type OtherEntities,
  type OtherEntity,
} from "../../../core/rules/other-entities.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { Address, Addresses } from "../../address.ts";
import { inTimeSlices } from "../../time-slices.ts";
import type { EntityCache } from "../entity-cache.ts";
import type {
  Addressed,
  Needed,
  ProposalValidation,
  ValidatedProposal,
} from "./validated-proposal.ts";

interface Reading {
  readonly addresses: Pick<Addresses, "readable">;
  readonly states: Pick<EntityCache, "read">;
  readonly validation: Pick<ProposalValidation, "validate">;
  readonly stamp: AuditStamp;
  /** True for a built-in entity, which exists even before a start has written it. */
  readonly isBuiltIn: (urn: string) => boolean;
  /** Urns of all entities of a type, including every acknowledged write. */
  readonly listUrns: (entityType: string) => Promise<readonly string[]>;
}

/** An entity at one point of the request. */
interface Snapshot {
  /** Index of the proposal that wrote this state; -1 for the stored state. */
  readonly index: number;
  readonly exists: boolean;
  /** Stored aspects that the request has not written. */
  readonly stored: (name: string) => JsonObject | undefined;
  readonly written: ReadonlyMap<string, JsonObject | undefined>;
}

const aspectOf = ({ written, stored }: Snapshot, name: string): JsonObject | undefined =>
  written.has(name) ? written.get(name) : stored(name);

/** By the index of a proposal in the request. */
type OthersAt = (index: number) => OtherEntities;

/** Result for proposals without needs. */
export const NO_OTHER_ENTITIES: OtherEntities = { find: () => undefined, withKey: () => [] };

export async function readOtherEntities(
  needed: readonly Needed[],
  addressed: readonly Addressed[],
  reading: Reading,
): Promise<OthersAt> {
  const { addresses, states, validation, stamp } = reading;
  const keyed = await urnsByKey(needed, addressed, reading);
  const named = needed.flatMap(({ urns }) => urns);
  const found = new Map<string, Address>();
  await inTimeSlices([...new Set([...named, ...[...keyed.values()].flat()])], (text) => {
    const address = addressOf(text, addresses);
    if (address !== undefined) found.set(address.urn, address);
  });
  const known = [...found.values()];
  const stored = await states.read(known.map(({ urn }) => urn));
  const snapshots = new Map(known.map((one, i) => [one.urn, [storedIn(one, stored[i], reading)]]));
  await inTimeSlices(addressed, (one, index) => {
    const own = snapshots.get(one.urn);
    const last = own?.at(-1);
    if (own === undefined || last === undefined) return;
    const next = after(last, one, () => validation.validate(one, stamp));
    if (next !== last) own.push({ ...next, index });
  });
  return (index) => {
    const find = (urn: string, having?: string): OtherEntity | undefined => {
      const own = snapshots.get(urn) ?? [];
      const then = own.findLast((one) => one.index < index);
      const enough =
        having === undefined ? then?.exists : then && aspectOf(then, having) !== undefined;
      const snapshot = enough ? then : (own.at(-1) ?? then);
      if (!snapshot?.exists) return undefined;
      return { urn, aspect: (name) => aspectOf(snapshot, name) };
    };
    return {
      find,
      withKey: (type, key) => (keyed.get(`${type} ${key}`) ?? []).flatMap((urn) => find(urn) ?? []),
    };
  };
}

/** Urns of the types whose entities are all needed, with those of the request: `<type> <key>` → urns. */
async function urnsByKey(
  needed: readonly Needed[],
  addressed: readonly Addressed[],
  { listUrns }: Reading,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const byKey = new Map<string, string[]>();
  const types = new Map<string, AllOfType["keyOf"]>();
  for (const { all } of needed) {
    if (all === undefined) continue;
    byKey.set(`${all.type} ${all.key}`, []);
    types.set(`${all.type} ${all.keyOf("")}`, all.keyOf);
  }
  for (const [name, keyOf] of types) {
    const type = name.slice(0, name.indexOf(" "));
    const own = addressed.filter(({ entity }) => entity.name === type).map(({ urn }) => urn);
    for (const urn of new Set([...(await listUrns(type)), ...own])) {
      byKey.get(`${type} ${keyOf(urn)}`)?.push(urn);
    }
  }
  return byKey;
}

/** Undefined when no entity can have the urn. */
function addressOf(text: string, addresses: Reading["addresses"]): Address | undefined {
  try {
    return addresses.readable(text);
  } catch (error) {
    if (error instanceof CatalogError) return undefined;
    throw error;
  }
}

function storedIn(
  { urn, entity }: Address,
  state: EntityState | undefined,
  { isBuiltIn }: Reading,
): Snapshot {
  const parsed = new Map<string, JsonObject | undefined>();
  return {
    index: -1,
    exists:
      state !== undefined &&
      (state.aspects.size === 0
        ? isBuiltIn(urn)
        : currentAspect(state, entity.keyAspect) !== undefined),
    written: new Map(),
    stored(name) {
      const text = state && currentAspect(state, name)?.value;
      if (text !== undefined && !parsed.has(name)) parsed.set(name, JSON.parse(text));
      return parsed.get(name);
    },
  };
}

/** The entity after a proposal about it; `before` itself if nothing changes that rules read. */
function after(
  before: Snapshot,
  { aspect: { name }, entity, proposal: { changeType } }: Addressed,
  prepare: () => ValidatedProposal,
): Snapshot {
  if (changeType === "DELETE") {
    if (name === entity.keyAspect) {
      return { ...before, exists: false, stored: () => undefined, written: new Map() };
    }
    return aspectsRead.includes(name) ? withAspect(before, name, undefined) : before;
  }
  // An entity or aspect is not created again: the decider rejects such a proposal or skips it.
  if (changeType === "CREATE_ENTITY" && before.exists) return before;
  const existing = before.exists ? before : { ...before, exists: true };
  if (!aspectsRead.includes(name)) return existing;
  const current = aspectOf(before, name);
  if (changeType === "CREATE" && current !== undefined) return before;
  const { value } = prepare().command;
  try {
    const sibling = (aspect: string) => aspectOf(before, aspect);
    const written =
      typeof value === "function" ? value(current && settledOf(current), sibling) : value;
    return withAspect(existing, name, written?.value);
  } catch (error) {
    // The decider rejects the proposal and its request, or decides it on a newer state.
    if (error instanceof CatalogError) return before;
    throw error;
  }
}

const settledOf = (value: JsonObject): AspectValue => ({
  value,
  get text() {
    return JSON.stringify(value);
  },
});

const withAspect = (before: Snapshot, name: string, value: JsonObject | undefined): Snapshot => ({
  ...before,
  written: new Map([...before.written, [name, value]]),
});
