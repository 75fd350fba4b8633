/** Mutations that create and delete labels and groups, and those of members. */
import { CatalogError } from "../../core/errors.ts";
import { entityTypeOf } from "../../core/urn.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { platformPrivileges } from "../queries/access/platform-privileges.ts";
import { entityOf } from "../queries/entity-source.ts";
import { incomingUrns } from "../queries/related.ts";
import { propertiesAspectOf } from "../schema/entity-types.ts";
import { stampOf } from "./changes.ts";
import { create, deleting, ownershipOf } from "./declared.ts";
import { requiredProperties } from "./labels.ts";
import { move } from "./move.ts";
import { existingOwners, type OwnerInput } from "./owners.ts";
import { domainNames, rejectTakenName, termNames } from "./unique-names.ts";
import { anyOf, patchOf, proposalOf, rejectMissing, remove, urnOf, write } from "./writing.ts";

interface NewEntity {
  readonly id?: Maybe<string>;
  readonly name: string;
  readonly description?: Maybe<string>;
}

interface NewAspects {
  readonly input: NewEntity;
  /** Value of the properties aspect. */
  readonly value: object;
  /** Values of further aspects by name. */
  readonly others?: Readonly<Record<string, object>>;
}

/** Platform privileges to create an entity of a type, beside Create Entity and Edit Entity on it. */
const creators = new Map([
  ["tag", platformPrivileges.createTags],
  ["domain", platformPrivileges.createDomains],
]);

/** Creates an entity that the caller owns. */
const make = (entityType: string, { input, value, others }: NewAspects, viewer: Viewer) =>
  create<NewEntity>(
    {
      entityType,
      id: ({ id }) => id,
      names: ({ name }) => [name],
      aspects: () => ({ [propertiesAspectOf(entityType)]: value, ...others }),
      owned: () => others?.ownership === undefined,
      required: (_, urn) => {
        const creating = creators.get(entityType);
        if (creating === undefined) return undefined;
        const onEntity = anyOf(["CREATE_ENTITY", "EDIT_ENTITY"], [urn]);
        return [{ privileges: creating, urns: [] }, onEntity];
      },
    },
    input,
    viewer,
  );

const described = ({ description }: NewEntity) => (description ? { description } : {});

interface NewChild extends NewEntity {
  readonly parentDomain?: Maybe<string>;
  readonly parentNode?: Maybe<string>;
  readonly owners?: Maybe<readonly OwnerInput[]>;
}

const glossary =
  (entityType: "glossaryTerm" | "glossaryNode") =>
  async ({ input }: InputArgs<NewChild>, viewer: Viewer): Promise<string> => {
    const { name, description, parentNode } = input;
    const parent = parentNode ? urnOf(parentNode, ["glossaryNode"], viewer) : undefined;
    if (parent !== undefined) await rejectMissing([parent], viewer);
    const value = {
      name,
      definition: description ?? "",
      ...(entityType === "glossaryTerm" && { termSource: "INTERNAL" }),
      ...(parent !== undefined && { parentNode: parent }),
    };
    if (entityType === "glossaryNode") return make(entityType, { input, value }, viewer);
    return viewer.moving(async () => {
      await rejectTakenName(termNames, { name, parent }, viewer);
      return make(entityType, { input, value }, viewer);
    });
  };

/** Throws `invalid`, in DataHub's words, for a domain with child domains. */
async function rejectParentDomain(urn: string, viewer: Viewer): Promise<void> {
  const [child] = await incomingUrns({ urn, relationship: "IsPartOf", count: 1 }, viewer);
  if (child === undefined) return;
  throw new CatalogError("invalid", `Cannot delete domain ${urn} which has child domains`, {
    hint: `Move or delete its child domains first, such as ${child}`,
  });
}

const nameFields: Readonly<Record<string, string>> = {
  tag: "name",
  domain: "name",
  glossaryTerm: "name",
  glossaryNode: "name",
  corpGroup: "displayName",
  dataProduct: "name",
};

async function rename(urn: string, name: string, viewer: Viewer): Promise<true> {
  const entityType = entityTypeOf(urn);
  const field = ownValue(nameFields, entityType);
  if (field === undefined) {
    throw new CatalogError("malformed", `"${urn.slice(0, 120)}" cannot be renamed to "${name}"`, {
      hint: `Entities of type ${Object.keys(nameFields).join(", ")} can be renamed`,
    });
  }
  if (name.trim() === "") {
    throw new CatalogError("malformed", `the new name of "${urn.slice(0, 120)}" is empty`, {
      hint: "Send a name",
    });
  }
  await rejectMissing([urn], viewer);
  const operation = { op: "add", path: [field], value: name } as const;
  const aspect = propertiesAspectOf(entityType);
  const patch = patchOf(urn, aspect, [operation]);
  if (entityType !== "domain") return write([patch], viewer);
  return viewer.moving(async () => {
    const parent = (await viewer.loader.load(urn)).aspect(aspect)?.parentDomain;
    const named = { name, parent: typeof parent === "string" ? parent : undefined, urn };
    await rejectTakenName(domainNames, named, viewer);
    return write([patch], viewer);
  });
}

export const making = {
  createTag: ({ input }: InputArgs<NewEntity>, viewer: Viewer) =>
    make("tag", { input, value: { name: input.name, ...described(input) } }, viewer),
  async updateTag({ urn: text, input }: UpdateArgs<NewEntity>, viewer: Viewer) {
    const urn = urnOf(text, ["tag"], viewer);
    await rejectMissing([urn], viewer);
    const sent = Object.entries({ name: input.name, description: input.description });
    const operations = sent.flatMap(([field, value]) =>
      typeof value === "string" ? [{ op: "add" as const, path: [field], value }] : [],
    );
    await write([patchOf(urn, "tagProperties", operations)], viewer);
    return entityOf(urn);
  },
  async setTagColor(args: { urn: string; colorHex: string }, viewer: Viewer) {
    const urn = urnOf(args.urn, ["tag"], viewer);
    await rejectMissing([urn], viewer);
    const operation = { op: "add", path: ["colorHex"], value: args.colorHex } as const;
    const stored = (await viewer.loader.load(urn)).aspect("tagProperties");
    const required = stored === undefined ? requiredProperties(urn) : [];
    return write([patchOf(urn, "tagProperties", [...required, operation])], viewer);
  },
  deleteTag: deleting(["tag"]),

  async createDomain({ input }: InputArgs<NewChild>, viewer: Viewer) {
    const { name, parentDomain, owners } = input;
    const parent = parentDomain ? urnOf(parentDomain, ["domain"], viewer) : undefined;
    if (parent !== undefined) await rejectMissing([parent], viewer);
    const value = {
      name,
      ...described(input),
      created: stampOf(viewer),
      ...(parent !== undefined && { parentDomain: parent }),
    };
    const others = owners?.length
      ? { ownership: await ownershipOf(await existingOwners(owners, viewer), viewer) }
      : undefined;
    return viewer.moving(async () => {
      await rejectTakenName(domainNames, { name, parent }, viewer);
      return make("domain", { input, value, others }, viewer);
    });
  },
  moveDomain: (
    { input }: InputArgs<{ parentDomain?: Maybe<string>; resourceUrn: string }>,
    viewer: Viewer,
  ) => {
    const { parentDomain: parent, resourceUrn } = input;
    const newParent = { field: "parentDomain", parent, type: "domain" };
    return move(urnOf(resourceUrn, ["domain"], viewer), newParent, viewer);
  },
  deleteDomain: ({ urn: given }: { urn: string }, viewer: Viewer) => {
    const urn = urnOf(given, ["domain"], viewer);
    return viewer.moving(async () => {
      await rejectParentDomain(urn, viewer);
      return remove(urn, viewer);
    });
  },

  createGlossaryTerm: glossary("glossaryTerm"),
  createGlossaryNode: glossary("glossaryNode"),
  updateParentNode: (
    { input }: InputArgs<{ parentNode?: Maybe<string>; resourceUrn: string }>,
    viewer: Viewer,
  ) => {
    const { parentNode: parent, resourceUrn } = input;
    const newParent = { field: "parentNode", parent, type: "glossaryNode" };
    return move(urnOf(resourceUrn, ["glossaryTerm", "glossaryNode"], viewer), newParent, viewer);
  },
  deleteGlossaryEntity: deleting(["glossaryTerm", "glossaryNode"]),

  createGroup: ({ input }: InputArgs<NewEntity>, viewer: Viewer) => {
    const value = {
      displayName: input.name,
      ...described(input),
      admins: [],
      members: [],
      groups: [],
      created: stampOf(viewer),
    };
    return make("corpGroup", { input, value, others: { origin: { type: "NATIVE" } } }, viewer);
  },
  removeGroup: deleting(["corpGroup"]),
  addGroupMembers,
  removeGroupMembers,

  async batchAssignRole(
    { input }: InputArgs<{ roleUrn?: Maybe<string>; actors: readonly string[] }>,
    viewer: Viewer,
  ) {
    const roles = input.roleUrn ? [urnOf(input.roleUrn, ["dataHubRole"], viewer)] : [];
    const actors = input.actors.map((urn) => urnOf(urn, ["corpuser", "corpGroup"], viewer));
    await rejectMissing(actors, viewer);
    await rejectMissing(roles, viewer);
    return write(
      actors.map((urn) => proposalOf(urn, "roleMembership", { roles })),
      viewer,
    );
  },

  updateName: ({ input }: InputArgs<{ urn: string; name: string }>, viewer: Viewer) =>
    rename(input.urn, input.name, viewer),
};

/** The users to add to a group, or to remove. */
interface MembersInput {
  readonly groupUrn: string;
  readonly userUrns: readonly string[];
}

/** Aspects of a user that state membership, each with its list of groups. */
const memberships = { nativeGroupMembership: "nativeGroups", groupMembership: "groups" } as const;

/** Throws `invalid` for a group whose members another system manages. */
async function rejectExternal(group: string, { loader }: Viewer): Promise<void> {
  const origin = (await loader.load(group)).aspect("origin");
  if (origin?.type !== "EXTERNAL") return;
  throw new CatalogError("invalid", `the group "${group}" was ingested from an external provider`, {
    hint: "Change its members in that provider",
  });
}

async function addGroupMembers({ input }: InputArgs<MembersInput>, viewer: Viewer): Promise<true> {
  const { group, users } = await membersOf(input, viewer);
  const operation = { op: "add", path: ["nativeGroups", group], value: group } as const;
  return write(
    users.map((urn) => patchOf(urn, "nativeGroupMembership", [operation])),
    viewer,
  );
}

/** Removes every form of membership, because each gives a user the privileges of the group. */
async function removeGroupMembers(
  { input }: InputArgs<MembersInput>,
  viewer: Viewer,
): Promise<true> {
  const { group, users } = await membersOf(input, viewer);
  const patches = users.map(async (urn) => {
    const user = await viewer.loader.load(urn);
    return Object.entries(memberships).flatMap(([aspect, list]) => {
      const groups = user.aspect(aspect)?.[list];
      if (!Array.isArray(groups) || !groups.includes(group)) return [];
      return [patchOf(urn, aspect, [{ op: "remove", path: [list, group] }])];
    });
  });
  return write((await Promise.all(patches)).flat(), viewer);
}

async function membersOf({ groupUrn, userUrns }: MembersInput, viewer: Viewer) {
  const group = urnOf(groupUrn, ["corpGroup"], viewer);
  const users = userUrns.map((urn) => urnOf(urn, ["corpuser"], viewer));
  await rejectMissing([group, ...users], viewer);
  await rejectExternal(group, viewer);
  return { group, users };
}
