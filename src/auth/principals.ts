/** What is known of users and of the things that they ask about, from their aspects. */
import type { Principal, Resource } from "./policy.ts";
import type { Stored, StoredEntities } from "./stored-entities.ts";

/** `removed` and `suspended` users may do nothing; an `unknown` one is not in the catalog. */
export type Standing = "active" | "removed" | "suspended" | "unknown";

export function standingOf(user: Stored | undefined): Standing {
  if (user === undefined) return "unknown";
  if ((user.status as { removed?: boolean } | undefined)?.removed === true) return "removed";
  const status = (user.corpUserStatus as { status?: string } | undefined)?.status;
  return status === "SUSPENDED" ? "suspended" : "active";
}

/** The user with groups and roles; undefined for one who may do nothing. */
export async function findPrincipal(
  entities: StoredEntities,
  urn: string,
): Promise<Principal | undefined> {
  const user = await entities.find(urn);
  const standing = standingOf(user);
  if (standing === "removed" || standing === "suspended") return undefined;
  const told = [
    ...urnsIn(user, "groupMembership", "groups"),
    ...urnsIn(user, "nativeGroupMembership", "nativeGroups"),
  ];
  const groups: string[] = [];
  const roles = [...urnsIn(user, "roleMembership", "roles")];
  for (const urn of new Set(told)) {
    const group = await entities.find(urn);
    // Who is in a group that was removed is in none.
    if (standingOf(group) === "removed") continue;
    groups.push(urn);
    roles.push(...urnsIn(group, "roleMembership", "roles"));
  }
  return { urn, groups, roles };
}

/** What policies may ask of an entity; without a urn, of any of its type. */
export async function findResource(
  entities: StoredEntities,
  urn: string | undefined,
  entityType: string,
): Promise<Resource> {
  return resourceOf(urn === undefined ? undefined : await entities.find(urn), urn, entityType);
}

/** The same, of an entity that is at hand. Its aspects are looked at as they are asked for. */
export function resourceOf(
  entity: Stored | undefined,
  urn: string | undefined,
  entityType: string,
): Resource {
  return {
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
        return urnsIn(entity, "domains", "domains");
      },
      get TAG() {
        return membersIn(entity, "globalTags", "tags", "tag");
      },
      get GLOSSARY() {
        return membersIn(entity, "glossaryTerms", "terms", "urn");
      },
      get CONTAINER() {
        return urnIn(entity, "container", "container");
      },
      get DATA_PLATFORM_INSTANCE() {
        return urnIn(entity, "dataPlatformInstance", "instance");
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

function ownersOf(entity: Stored | undefined): Resource["owners"] {
  const owners = memberOf(entity, "ownership", "owners") as
    | readonly { owner: string; type?: string; typeUrn?: string }[]
    | undefined;
  return (owners ?? []).map(({ owner, type, typeUrn }) => ({
    owner,
    types: [type, typeUrn].filter((kind) => kind !== undefined),
  }));
}

const memberOf = (entity: Stored | undefined, aspect: string, member: string): unknown =>
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
