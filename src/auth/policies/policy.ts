/**
 * The policy engine, with DataHub's semantics. Pure. Policies only grant: without a grant access is
 * denied.
 *
 *   alternatives are met ⇐ any of its lists has every privilege granted
 *   a privilege is granted ⇐ a policy that is not INACTIVE lists it, its actors include the principal,
 *                            its resources include the resource (unless its type is PLATFORM), and
 *                            its constraints include every changed part of the resource
 */
import { ownValue } from "../../lib/own-value.ts";
import type { Privilege, PrivilegeAlternatives } from "./privileges.ts";

/** The members of the aspect dataHubPolicyInfo that checks need. */
export interface Policy {
  readonly type: string;
  readonly state: string;
  readonly privileges: readonly string[];
  readonly actors: {
    readonly users?: readonly string[] | undefined;
    readonly groups?: readonly string[] | undefined;
    readonly roles?: readonly string[] | undefined;
    readonly resourceOwners?: boolean | undefined;
    /** Only owners with these ownership types, by urn; an empty list includes no owner. */
    readonly resourceOwnersTypes?: readonly string[] | undefined;
    readonly allUsers?: boolean | undefined;
    readonly allGroups?: boolean | undefined;
  };
  readonly resources?: ResourceFilter | undefined;
}

export interface ResourceFilter {
  /** The three older members, which apply without a filter. */
  readonly type?: string | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly allResources?: boolean | undefined;
  readonly filter?: PolicyFilter | undefined;
  /** Limits the changed parts (added and removed tags) of a resource: all must match. */
  readonly privilegeConstraints?: PolicyFilter | undefined;
}

interface PolicyFilter {
  readonly criteria: readonly PolicyCriterion[];
}

export interface PolicyCriterion {
  readonly field: string;
  readonly values: readonly string[];
  /** Of the field STRUCTURED_PROPERTY, in place of `values`: any value of any of these properties. */
  readonly structuredPropertyValues?: readonly PropertyValues[] | undefined;
  readonly condition?: string | undefined;
  /** Descendants of the values after expansion (policy-expansion.ts); they count like values. */
  readonly below?: ReadonlySet<string> | undefined;
}

interface PropertyValues {
  readonly propertyUrn: string;
  readonly values: readonly string[];
}

/** A property with one of its values, for comparison as one text; urns of properties have no blanks. */
export const propertyTexts = ({ propertyUrn, values }: PropertyValues): readonly string[] =>
  values.map((value) => `${propertyUrn} ${value}`);

/** The acting user. Roles are the user's own and those of the groups. */
export interface Principal {
  readonly urn: string;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
}

/** The entity that a check is about. */
export interface PolicyResource {
  readonly owners: readonly { readonly owner: string; readonly kind?: string | undefined }[];
  /** Values by the field names of criteria: TYPE, URN, OWNER, DOMAIN, TAG, … */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Fields for which descendants of a criterion's values do not count. */
  readonly outside?: readonly string[] | undefined;
}

/** `parts`: changed parts of the resource, for policies with constraints. */
export function meets(
  policies: readonly Policy[],
  principal: Principal,
  alternatives: PrivilegeAlternatives,
  resource?: PolicyResource,
  parts: readonly PolicyResource[] = [],
): boolean {
  const granted = (privilege: Privilege): boolean =>
    policies.some(
      (policy) =>
        grants(policy, privilege, principal, resource) && holdsParts(policy.resources, parts),
    );
  return alternatives.some((all) => all.length > 0 && all.every(granted));
}

function grants(
  policy: Policy,
  privilege: Privilege,
  principal: Principal,
  resource: PolicyResource | undefined,
): boolean {
  if (!isActive(policy) || !policy.privileges.includes(privilege)) return false;
  return includesActor(policy.actors, principal, resource) && inScope(policy, resource);
}

/** Every other state, also an unknown one, counts as active, as in DataHub. */
export const isActive = ({ state }: Policy): boolean => state !== "INACTIVE";

/** Platform policies have no resource. */
export const inScope = (
  { type, resources }: Policy,
  resource: PolicyResource | undefined,
): boolean => type === "PLATFORM" || includesResource(resources, resource);

/** Without a resource, ownership does not count. */
export function includesActor(
  actors: Policy["actors"],
  { urn, groups, roles }: Principal,
  resource: PolicyResource | undefined,
): boolean {
  if (actors.allUsers === true || actors.users?.includes(urn) === true) return true;
  if (actors.allGroups === true && groups.length > 0) return true;
  if (groups.some((group) => actors.groups?.includes(group) === true)) return true;
  if (roles.some((role) => actors.roles?.includes(role) === true)) return true;
  if (actors.resourceOwners !== true || resource === undefined) return false;
  const kinds = actors.resourceOwnersTypes;
  return resource.owners.some(
    ({ owner, kind }) =>
      (owner === urn || groups.includes(owner)) &&
      (kinds === undefined || (kind !== undefined && kinds.includes(kind))),
  );
}

/** Without a resource no filter matches, not even one without criteria. */
export function includesResource(
  filter: ResourceFilter | undefined,
  resource: PolicyResource | undefined,
): boolean {
  if (filter === undefined) return true;
  if (resource === undefined) return false;
  return criteriaOf(filter).every((criterion) => matches(criterion, resource));
}

function holdsParts(filter: ResourceFilter | undefined, parts: readonly PolicyResource[]): boolean {
  const criteria = filter?.privilegeConstraints?.criteria ?? [];
  return parts.every((part) => criteria.every((criterion) => matches(criterion, part)));
}

/** The criteria of a filter, also for the older members. */
export function criteriaOf({
  filter,
  type,
  resources,
  allResources,
}: ResourceFilter): PolicyCriterion[] {
  if (filter !== undefined) return [...filter.criteria];
  const criteria: PolicyCriterion[] = [];
  if (type !== undefined) criteria.push({ field: "TYPE", values: [type] });
  if (resources !== undefined && allResources !== true) {
    criteria.push({ field: "URN", values: resources });
  }
  return criteria;
}

/** Older names of fields. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ["RESOURCE_TYPE", "TYPE"],
  ["RESOURCE_URN", "URN"],
]);

export function criterionField(field: string): string {
  const name = field.toUpperCase();
  return RENAMED.get(name) ?? name;
}

function valuesOf(
  name: string,
  { values, structuredPropertyValues = [] }: PolicyCriterion,
): readonly string[] | undefined {
  if (name !== "STRUCTURED_PROPERTY") return values;
  const texts = structuredPropertyValues.flatMap(propertyTexts);
  return texts.length === 0 ? undefined : texts;
}

function matches(criterion: PolicyCriterion, of: PolicyResource): boolean {
  const { field, condition = "EQUALS", below } = criterion;
  const name = criterionField(field);
  const values = valuesOf(name, criterion);
  // A criterion that names no property matches nothing, not even with NOT_EQUALS.
  if (values === undefined) return false;
  // An unknown field matches no criterion, not even NOT_EQUALS.
  const found = ownValue(of.fields, name);
  if (found === undefined) return false;
  const inherited = of.outside?.includes(name) !== true;
  const lower = (value: string): boolean => inherited && below?.has(value) === true;
  const named = (value: string): boolean => values.includes(value) || lower(value);
  const begun = (value: string): boolean => values.some((start) => value.startsWith(start));
  switch (condition) {
    case "EQUALS":
      return found.some(named);
    case "NOT_EQUALS":
      return !found.some(named);
    case "STARTS_WITH":
      return found.some((value) => begun(value) || lower(value));
    default:
      return false;
  }
}
