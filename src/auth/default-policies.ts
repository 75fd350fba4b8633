/**
 * The policies that hold from the start. They are judged without being stored, so that a fresh
 * catalog holds what its users put in and nothing else. One that is `editable` is replaced by what
 * the log holds under its urn; the others always hold, so that nobody can be locked out of the
 * service whose data directory is theirs.
 */
import type { Policy } from "./policy.ts";
import { privilegeNames } from "./privileges.ts";

export interface DefaultPolicy extends Policy {
  /** Last part of its urn. */
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  readonly editable: boolean;
}

/** Last parts of the urns of the first user, and of the role of administrators. */
export const rootUserId = "datahub";
const adminRoleId = "Admin";

export function defaultPolicies(namespace: string): readonly DefaultPolicy[] {
  const root = `urn:${namespace}:corpuser:${rootUserId}`;
  const role = (id: string): string => `urn:${namespace}:dataHubRole:${id}`;
  const admins = role(adminRoleId);
  const all = { state: "ACTIVE", privileges: privilegeNames, editable: false };
  return [
    {
      ...all,
      id: "0",
      displayName: "Root user: the platform",
      description: "The first user may do everything to the service.",
      type: "PLATFORM",
      actors: { users: [root] },
    },
    {
      ...all,
      id: "1",
      displayName: "Root user: metadata",
      description: "The first user may do everything to every entity.",
      type: "METADATA",
      actors: { users: [root] },
    },
    {
      ...all,
      id: "admin-platform-policy",
      displayName: "Administrators: the platform",
      description: "Who has the role Admin may do everything to the service.",
      type: "PLATFORM",
      actors: { roles: [admins] },
    },
    {
      ...all,
      id: "admin-metadata-policy",
      displayName: "Administrators: metadata",
      description: "Who has the role Admin may do everything to every entity.",
      type: "METADATA",
      actors: { roles: [admins] },
    },
    {
      id: "reader-metadata-policy",
      displayName: "Readers: metadata",
      description: "Who has the role Reader or Editor may see every entity.",
      type: "METADATA",
      state: "ACTIVE",
      privileges: ["VIEW_ENTITY_PAGE"],
      actors: { roles: [role("Reader"), role("Editor")] },
      editable: true,
    },
    {
      id: "view-entity-page-all",
      displayName: "All users: every entity",
      description: "Every user may see every entity. Set its state to INACTIVE to say who may.",
      type: "METADATA",
      state: "ACTIVE",
      privileges: ["VIEW_ENTITY_PAGE"],
      actors: { allUsers: true },
      editable: true,
    },
    {
      id: "7",
      displayName: "All users: own tokens",
      description: "Every user may make and see tokens of their own. Set its state to ACTIVE.",
      type: "PLATFORM",
      state: "INACTIVE",
      privileges: ["GENERATE_PERSONAL_ACCESS_TOKENS"],
      actors: { allUsers: true },
      editable: true,
    },
  ];
}
