/**
 * The access filter of a user, from policies: a rule for each active policy that grants a privilege
 * to read and whose actors include the user. A rule becomes a condition on search documents when its
 * criteria are fields of documents. For other criteria (owners of a type, members of a group, values
 * of structured properties) the candidates are checked one by one.
 *
 *   visible ⇐ it is the user, or a rule holds: all its criteria, and ownership if the rule asks for it
 */
import type { AccessFilter } from "../../catalog/access/access-filter.ts";
import type { EntityState } from "../../core/entity-state.ts";
import { entityTypeOf } from "../../core/urn.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Condition } from "../../views/search/search.ts";
import { storedState } from "../stored-state.ts";
import {
  criteriaOf,
  criterionField,
  includesActor,
  includesResource,
  inScope,
  isActive,
  type Policy,
  type PolicyCriterion,
  type Principal,
} from "./policy.ts";
import { hierarchies, resourceOf } from "./principals.ts";
import { toRead } from "./privileges.ts";

/** Facts about documents and entity types, from the model. */
export interface FilterFields {
  /** Fields of documents by the names of criteria; undefined for criteria without a field. */
  readonly ofCriteria: Readonly<Record<string, string | undefined>>;
  /** Entity types that may be members of groups. */
  readonly memberTypes: readonly string[];
}

/** By criterion: the field of documents, and the path of the only aspect that must fill it. */
const criterionSources: Readonly<
  Record<string, readonly [field: string, aspect: string, path: string]>
> = {
  OWNER: ["owners", "ownership", "owners/*/owner"],
  DOMAIN: ["domains", "domains", "domains/*"],
  TAG: ["tags", "globalTags", "tags/*/tag"],
  GLOSSARY: ["glossaryTerms", "glossaryTerms", "terms/*/urn"],
  CONTAINER: ["container", "container", "container"],
  DATA_PLATFORM_INSTANCE: ["platformInstance", "dataPlatformInstance", "instance"],
};

/** Names that criteria may have in `field`. */
const criterionNames = new Set([
  ...Object.keys(criterionSources),
  ...["TYPE", "URN", "GROUP_MEMBERSHIP", "STRUCTURED_PROPERTY"],
]);

/** The sources of document fields in the model. */
type FieldSources = Readonly<
  Record<
    string,
    readonly {
      readonly path: readonly string[];
      readonly field: string;
      readonly aliases: readonly string[];
    }[]
  >
>;

const memberships: readonly string[] = ["groupMembership", "nativeGroupMembership"];

/** The document fields that hold exactly the values of a criterion. */
export function filterFields(sources: FieldSources, { entities }: EntityTypes): FilterFields {
  const mapped = Object.entries(sources).flatMap(([aspect, rules]) =>
    rules.flatMap(({ path, field, aliases }) =>
      [field, ...aliases].map((name) => ({ name, place: `${aspect} ${path.join("/")}` })),
    ),
  );
  const fields: Record<string, string> = { TYPE: "_entityType", URN: "urn" };
  for (const [criterion, [field, aspect, path]] of Object.entries(criterionSources)) {
    const from = mapped.filter(({ name }) => name === field);
    if (from.length === 1 && from[0]?.place === `${aspect} ${path}`) fields[criterion] = field;
  }
  const types = [...entities.values()].filter(({ aspects }) =>
    aspects.some((aspect) => memberships.includes(aspect)),
  );
  return { ofCriteria: fields, memberTypes: types.map(({ name }) => name) };
}

/** Of the model: the aspects of its entity types. */
interface EntityTypes {
  readonly entities: ReadonlyMap<
    string,
    { readonly name: string; readonly aspects: readonly string[] }
  >;
}

interface Rule {
  readonly policy: Policy;
  /** The user must own it. */
  readonly owned: boolean;
}

const showsEverything: AccessFilter = {
  everything: true,
  condition: { kind: "every", every: [] },
  toCheck: undefined,
  isVisible: () => true,
  alwaysVisible: () => true,
};

export const hidesEverything: AccessFilter = {
  everything: false,
  condition: { kind: "any", any: [] },
  toCheck: undefined,
  isVisible: () => false,
  alwaysVisible: () => false,
};

/** The policies that may grant the user a read: the input of accessFilterOf. */
export const policiesToRead = (policies: readonly Policy[], principal: Principal) =>
  policies.filter((policy) => ruleOf(policy, principal) !== undefined);

/** `policies`: expanded by the members of the hierarchies that they name (policy-expansion.ts). */
export function accessFilterOf(
  policies: readonly Policy[],
  principal: Principal,
  fields: FilterFields,
): AccessFilter {
  const rules = policies.flatMap((policy) => ruleOf(policy, principal) ?? []);
  if (rules.some(({ policy, owned }) => !owned && criteriaOfPolicy(policy).length === 0)) {
    return showsEverything;
  }
  const own: Condition = { kind: "equal", field: "urn", values: [principal.urn] };
  const compiled = rules.flatMap((rule) => conditionsOf(rule, principal, fields));
  const exact = compiled.filter((one) => one.exact).map(({ condition }) => condition);
  const candidates = compiled.filter((one) => !one.exact).map(({ condition }) => condition);
  return {
    everything: false,
    condition: { kind: "any", any: [own, ...exact] },
    toCheck: candidates.length === 0 ? undefined : { kind: "any", any: candidates },
    ...visibilityOf(rules, principal),
  };
}

/** Entity types with a cached answer; edges may lead to urns of any type. */
const typesMax = 1_000;

/** Mostly the type decides; the entity is read only when a rule needs more. */
function visibilityOf(
  rules: readonly Rule[],
  principal: Principal,
): Pick<AccessFilter, "isVisible" | "alwaysVisible"> {
  const byType = new Map<string, boolean | readonly Rule[]>();
  function rulesFor(type: string): boolean | readonly Rule[] {
    let left = byType.get(type);
    if (left === undefined) {
      left = rulesLeft(rules, type);
      if (byType.size < typesMax) byType.set(type, left);
    }
    return left;
  }
  /** A state is immutable: a write creates another one. */
  const verdicts = new WeakMap<EntityState, boolean>();
  function isGranted(state: EntityState, type: string, left: readonly Rule[]): boolean {
    let verdict = verdicts.get(state);
    if (verdict === undefined) {
      const resource = resourceOf(storedState(state), state.urn, type);
      verdict = left.some(
        ({ policy }) =>
          includesActor(policy.actors, principal, resource) && inScope(policy, resource),
      );
      verdicts.set(state, verdict);
    }
    return verdict;
  }
  const ofNames = rules.filter(
    ({ policy, owned }) =>
      !owned && criteriaOfPolicy(policy).every(({ field }) => NAMES.has(criterionField(field))),
  );
  function alwaysVisible(urn: string): boolean {
    const resource = { owners: [], fields: { TYPE: [entityTypeOf(urn)], URN: [urn] } };
    return urn === principal.urn || ofNames.some(({ policy }) => inScope(policy, resource));
  }
  return {
    alwaysVisible,
    isVisible(state) {
      const type = entityTypeOf(state.urn);
      const left = rulesFor(type);
      if (left === true || state.urn === principal.urn) return true;
      if (left === false) return false;
      // A deleted entity has no aspects for the other rules.
      return isDeleted(state) ? alwaysVisible(state.urn) : isGranted(state, type, left);
    },
  };
}

/** Criteria that depend on the urn alone. */
const NAMES: ReadonlySet<string> = new Set(["TYPE", "URN"]);

/** It existed, and all of its aspects are deleted. */
const isDeleted = ({ aspects }: EntityState): boolean =>
  aspects.size > 0 && aspects.values().every(({ removed }) => removed);

/** The rules to check for entities of a type: true if all are visible, false if none is. */
function rulesLeft(rules: readonly Rule[], type: string): boolean | readonly Rule[] {
  const left: Rule[] = [];
  for (const rule of rules) {
    const all = criteriaOfPolicy(rule.policy);
    const criteria = all.filter(({ field }) => criterionField(field) === "TYPE");
    const ofType = { owners: [], fields: { TYPE: [type] } };
    if (!includesResource({ filter: { criteria } }, ofType)) continue;
    if (!rule.owned && criteria.length === all.length) return true;
    left.push(rule);
  }
  return left.length > 0 && left;
}

function ruleOf(policy: Policy, principal: Principal): Rule | undefined {
  const reads = toRead.some((all) => all.every((one) => policy.privileges.includes(one)));
  if (!isActive(policy) || !reads) return undefined;
  if (includesActor(policy.actors, principal, undefined)) return { policy, owned: false };
  return policy.actors.resourceOwners === true ? { policy, owned: true } : undefined;
}

const criteriaOfPolicy = ({ type, resources }: Policy): readonly PolicyCriterion[] =>
  type === "PLATFORM" || resources === undefined ? [] : criteriaOf(resources);

/** `exact`: the condition is equivalent to the rule; otherwise it also holds for other entities. */
interface Compiled {
  readonly condition: Condition;
  readonly exact: boolean;
}

const isMembership = ({ field }: PolicyCriterion): boolean =>
  criterionField(field) === "GROUP_MEMBERSHIP";

function conditionsOf(
  { policy, owned }: Rule,
  { urn, groups }: Principal,
  { ofCriteria, memberTypes }: FilterFields,
): readonly Compiled[] {
  const every: Condition[] = [];
  let whole = true;
  if (owned) {
    if (policy.actors.resourceOwnersTypes !== undefined) whole = false;
    if (ofCriteria.OWNER === undefined) whole = false;
    else every.push({ kind: "equal", field: ofCriteria.OWNER, values: [urn, ...groups] });
  }
  const criteria = criteriaOfPolicy(policy);
  for (const criterion of criteria.filter((one) => !isMembership(one))) {
    const condition = ofCriterion(criterion, ofCriteria);
    if (condition === undefined) whole = false;
    else every.push(condition);
  }
  const compiled = (more: readonly Condition[], all: boolean): Compiled => ({
    condition: { kind: "every", every: [...every, ...more] },
    exact: all,
  });
  const asked = criteria.filter(isMembership);
  if (asked.length === 0) return [compiled([], whole)];
  // Entities of other types are in no group; the others are checked one by one.
  const members: Condition = {
    kind: "equal",
    field: ofCriteria.TYPE ?? "_entityType",
    values: memberTypes,
  };
  const among = compiled([members], false);
  if (asked.some(({ condition }) => condition !== "NOT_EQUALS")) return [among];
  return [among, compiled([{ kind: "not", not: members }], whole)];
}

/** Beyond every character of a text. */
const LAST = "\uffff";

/** Types whose own urn is a value, too: a container is in itself. `nested`: and in its parents. */
const ownValues: Readonly<Record<string, { members: readonly string[]; nested: boolean }>> = {
  ...hierarchies,
  DATA_PLATFORM_INSTANCE: { members: ["dataPlatformInstance"], nested: false },
};

function ofCriterion(
  criterion: PolicyCriterion,
  fields: FilterFields["ofCriteria"],
): Condition | undefined {
  const name = criterionField(criterion.field);
  if (!criterionNames.has(name)) return { kind: "any", any: [] };
  const held = ofField(criterion, ownValue(fields, name));
  if (held === undefined) return undefined;
  const negated = criterion.condition === "NOT_EQUALS";
  const holder = ownValue(ownValues, name);
  if (holder === undefined) return negated ? { kind: "not", not: held } : held;
  const { members, nested } = holder;
  const own = ofField(nested ? criterion : { ...criterion, below: undefined }, fields.URN);
  if (own === undefined || fields.TYPE === undefined) return undefined;
  const member: Condition = { kind: "equal", field: fields.TYPE, values: members };
  const itself: Condition = { kind: "every", every: [member, own] };
  const found: Condition = { kind: "any", any: [held, itself] };
  return negated ? { kind: "not", not: found } : found;
}

/** The condition that a field has the criterion's values; for NOT_EQUALS the values it must lack. */
function ofField(
  { values, condition = "EQUALS", below: lower }: PolicyCriterion,
  field: string | undefined,
): Condition | undefined {
  if (field === undefined) return undefined;
  const below = [...(lower ?? [])];
  switch (condition) {
    case "EQUALS":
    case "NOT_EQUALS":
      return { kind: "equal", field, values: [...new Set([...values, ...below])] };
    case "STARTS_WITH":
      return {
        kind: "any",
        any: [
          ...values.map(
            (start): Condition => ({ kind: "range", field, from: start, to: start + LAST }),
          ),
          { kind: "equal", field, values: below },
        ],
      };
    default:
      return { kind: "any", any: [] };
  }
}
