/** Adding users to groups and removing them. */
import { CatalogError } from "../../core/errors.ts";
import type { Viewer } from "../context.ts";
import { patchOf, refuseMissing, urnOf, write } from "./writing.ts";

interface MembersInput {
  readonly groupUrn: string;
  readonly userUrns: readonly string[];
}

/** Aspects of a user that state membership, each with its list of groups. */
const memberships = { nativeGroupMembership: "nativeGroups", groupMembership: "groups" } as const;

/** Throws `invalid` for a group whose members another system manages. */
async function refuseExternal(group: string, { loader }: Viewer): Promise<void> {
  const origin = (await loader.load(group)).aspect("origin");
  if (origin?.type !== "EXTERNAL") return;
  throw new CatalogError("invalid", `the group "${group}" was ingested from an external provider`, {
    hint: "Change its members in that provider",
  });
}

export async function addGroupMembers(
  _: never,
  { input }: { readonly input: MembersInput },
  viewer: Viewer,
): Promise<true> {
  const { group, users } = await membersOf(input, viewer);
  const operation = { op: "add", path: ["nativeGroups", group], value: group } as const;
  return write(
    users.map((urn) => patchOf(urn, "nativeGroupMembership", [operation])),
    viewer,
  );
}

/** Removes every form of membership, because each gives a user the privileges of the group. */
export async function removeGroupMembers(
  _: never,
  { input }: { readonly input: MembersInput },
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
  await refuseMissing([group, ...users], viewer);
  await refuseExternal(group, viewer);
  return { group, users };
}
