/** Principals and resources of policy checks, from the stored aspects. */
import { appendAll } from "../../lib/lists.ts";
import type { Stored, StoredEntities } from "../stored-entities.ts";
import { type PolicyResource, type Principal, propertyTexts } from "./policy.ts";

/** `removed` and `suspended` users may do nothing; an `unknown` one is not in the catalog. */
type Standing = "active" | "removed" | "suspended" | "unknown";

export function standingOf(user: Stored | undefined): Standing {
  if (user === undefined) return "unknown";
  if ((user.status as { removed?: boolean } | undefined)?.removed === true) return "removed";
  const status = (user.corpUserStatus as { status?: string } | undefined)?.status;
  return status === "SUSPENDED" ? "suspended" : "active";
}

/** The user with groups and roles; undefined for a removed or suspended user. */
export async function findPrincipal(
  entities: StoredEntities,
  urn: string,
): Promise<Principal | undefined> {
  const user = await entities.find(urn);
  const standing = standingOf(user);
  if (standing === "removed" || standing === "suspended") return undefined;
  const memberOfGroups = [
    ...urnsIn(user, "groupMembership", "groups"),
    ...urnsIn(user, "nativeGroupMembership", "nativeGroups"),
  ];
  const groups: string[] = [];
  const roles = [...urnsIn(user, "roleMembership", "roles")];
  for (const urn of new Set(memberOfGroups)) {
    const group = await entities.find(urn);
    // Removed groups have no members.
    if (standingOf(group) === "removed") continue;
    groups.push(urn);
    appendAll(roles, urnsIn(group, "roleMembership", "roles"));
  }
  return { urn, groups, roles };
}

/**
 * The criteria values of an entity; without a urn, of its type. Containers and glossary nodes count
 * with all their ancestors, domains without them.
 */
export async function findResource(
  entities: Pick<StoredEntities, "find">,
  urn: string | undefined,
  entityType: string,
): Promise<PolicyResource> {
  const entity = urn === undefined ? undefined : await entities.find(urn);
  const near = resourceOf(entity, urn, entityType);
  const fields: Record<string, readonly string[]> = { ...near.fields };
  for (const [field, { above }] of Object.entries(hierarchies)) {
    if (near.outside?.includes(field)) continue;
    fields[field] = await withAncestors(entities, near.fields[field] ?? [], above);
  }
  return { owners: near.owners, fields, outside: near.outside };
}

/** Maximum number of ancestors. */
const ancestorsMax = 1_000;

async function withAncestors(
  entities: Pick<StoredEntities, "find">,
  urns: readonly string[],
  above: Hierarchy["above"],
): Promise<readonly string[]> {
  const found = new Set(urns);
  for (const urn of found) {
    if (found.size > ancestorsMax) break;
    // Iterating a set includes values added meanwhile; a set ends cycles.
    for (const parent of above(await entities.find(urn))) found.add(parent);
  }
  return [...found];
}

/**
 * The criteria values of a loaded entity, from its own aspects: parents, but not their ancestors.
 * Getters, because most checks read few of them.
 */
export function resourceOf(
  entity: Stored | undefined,
  urn: string | undefined,
  entityType: string,
): PolicyResource {
  return {
    outside: outsideOf(entityType),
    get owners() {
      return ownersOf(entity);
    },
    fields: {
      TYPE: [entityType],
      URN: urn === undefined ? [] : [urn],
      get OWNER() {
        return ownersOf(entity).map(({ owner }) => owner);
      },
      get DOMAIN() {
        return placesOf("DOMAIN", entity, urn, entityType);
      },
      get TAG() {
        return membersIn(entity, "globalTags", "tags", "tag");
      },
      get GLOSSARY() {
        return placesOf("GLOSSARY", entity, urn, entityType);
      },
      get CONTAINER() {
        return placesOf("CONTAINER", entity, urn, entityType);
      },
      get DATA_PLATFORM_INSTANCE() {
        const own = entityType === "dataPlatformInstance" && urn !== undefined ? [urn] : [];
        return [...own, ...urnIn(entity, "dataPlatformInstance", "instance")];
      },
      get STRUCTURED_PROPERTY() {
        return propertiesOf(entity);
      },
      get GROUP_MEMBERSHIP() {
        return [
          ...urnsIn(entity, "groupMembership", "groups"),
          ...urnsIn(entity, "nativeGroupMembership", "nativeGroups"),
        ];
      },
    },
  };
}

/** The values of structured properties, as propertyTexts of criteria. */
function propertiesOf(entity: Stored | undefined): readonly string[] {
  const found = memberOf(entity, "structuredProperties", "properties");
  const properties = (found ?? []) as readonly {
    readonly propertyUrn: string;
    /** Each is an object with one member: {"string": "a"}, {"double": 5}. */
    readonly values: readonly Readonly<Record<string, unknown>>[];
  }[];
  return properties.flatMap(({ propertyUrn, values }) =>
    propertyTexts({
      propertyUrn,
      values: values.flatMap((value) => Object.values(value).map(String)),
    }),
  );
}

interface Hierarchy {
  /** Entity types of its members. */
  readonly members: readonly string[];
  /** True when a policy for a parent covers its child members. */
  readonly nested: boolean;
  /** The members that an entity of another type belongs to. */
  readonly within: (entity: Stored | undefined) => readonly string[];
  /** The parents of a member. */
  readonly above: (member: Stored | undefined) => readonly string[];
}

/**
 * By the field of criteria: a grant for a member covers its descendants. A grant for a domain covers
 * the entities in it and its subdomains, but not the subdomains themselves, as in DataHub.
 */
export const hierarchies: Readonly<Record<"DOMAIN" | "CONTAINER" | "GLOSSARY", Hierarchy>> = {
  DOMAIN: {
    members: ["domain"],
    nested: false,
    within: (entity) => urnsIn(entity, "domains", "domains"),
    above: (member) => urnIn(member, "domainProperties", "parentDomain"),
  },
  CONTAINER: {
    members: ["container"],
    nested: true,
    within: (entity) => urnIn(entity, "container", "container"),
    above: (member) => urnIn(member, "container", "container"),
  },
  GLOSSARY: {
    members: ["glossaryTerm", "glossaryNode"],
    nested: true,
    within: (entity) => membersIn(entity, "glossaryTerms", "terms", "urn"),
    above: (member) => [
      ...urnIn(member, "glossaryTermInfo", "parentNode"),
      ...urnIn(member, "glossaryNodeInfo", "parentNode"),
    ],
  },
};

function placesOf(
  field: keyof typeof hierarchies,
  entity: Stored | undefined,
  urn: string | undefined,
  entityType: string,
): readonly string[] {
  const { members, nested, within, above } = hierarchies[field];
  if (urn === undefined || !members.includes(entityType)) return within(entity);
  return nested ? [urn, ...above(entity)] : [urn];
}

/** By entity type: fields whose hierarchy has it as a member without nesting. */
const outsideFields = new Map<string, readonly string[]>(
  Object.entries(hierarchies).flatMap(([field, { members, nested }]) =>
    nested ? [] : members.map((member) => [member, [field]] as const),
  ),
);

const outsideOf = (entityType: string): readonly string[] | undefined =>
  outsideFields.get(entityType);

function ownersOf(entity: Stored | undefined): PolicyResource["owners"] {
  const owners = memberOf(entity, "ownership", "owners") as
    | readonly { owner: string; typeUrn?: string }[]
    | undefined;
  return (owners ?? []).map(({ owner, typeUrn }) => ({ owner, kind: typeUrn }));
}

const memberOf = (entity: Stored | undefined, aspect: string, member: string): unknown =>
  // Safe lookup: this file names the aspects and members.
  (entity?.[aspect] as Readonly<Record<string, unknown>> | undefined)?.[member];

const urnsIn = (entity: Stored | undefined, aspect: string, member: string): readonly string[] =>
  (memberOf(entity, aspect, member) as readonly string[] | undefined) ?? [];

function urnIn(entity: Stored | undefined, aspect: string, member: string): readonly string[] {
  const found = memberOf(entity, aspect, member);
  return typeof found === "string" ? [found] : [];
}

function membersIn(
  entity: Stored | undefined,
  aspect: string,
  list: string,
  member: string,
): readonly string[] {
  const found = memberOf(entity, aspect, list) as readonly Record<string, string>[] | undefined;
  return (found ?? []).flatMap((one) => one[member] ?? []);
}
