/**
 * The policies, the roles and the root user that are there from the start: those of the reference under
 * their own names. They are read and judged without being stored, so that a fresh catalog holds what its
 * users put in and nothing else; the first write to one stores it (built-in-writes.ts). The policies of
 * the root user and of administrators are fixed, so that nobody can be locked out of the service whose
 * data directory is theirs.
 */
import {
  allMetadata,
  allPlatform,
  editing,
  editorsPlatform,
  owning,
  viewing,
  viewingDatasets,
  viewingPages,
} from "./default-privileges.ts";
import type { Policy } from "./policy.ts";

export interface DefaultPolicy extends Policy {
  readonly displayName: string;
  readonly description: string;
  /** False: it holds whatever anybody writes. */
  readonly editable: boolean;
}

/** An entity that is there before anybody wrote it. */
export interface BuiltIn {
  readonly urn: string;
  readonly entityType: string;
  /** Values by the names of aspects, the key included. */
  readonly aspects: Readonly<Record<string, object>>;
  /** The aspect that tells it: its key follows from the urn. */
  readonly info: string;
  /** Nobody changes it. */
  readonly fixed: boolean;
}

/** Of its stamps; nothing that was written has it. */
export const builtInTime = 0;

/** Last part of the urn of the first user. */
export const rootUserId = "datahub";

/** Entity types that editors may edit. */
const editedTypes = [
  ...["dataset", "chart", "dashboard", "dataFlow", "dataJob", "tag", "container", "domain"],
  ...["glossaryTerm", "glossaryNode", "notebook", "dataProduct", "dataProcessInstance", "document"],
];

/** By the last parts of their urns. */
export function defaultPolicies(namespace: string): ReadonlyMap<string, DefaultPolicy> {
  const nobody = { resourceOwners: false, allUsers: false, allGroups: false };
  const root = { ...nobody, users: [`urn:${namespace}:corpuser:${rootUserId}`] };
  const everybody = { ...nobody, allUsers: true };
  const role = (id: string) => ({ ...nobody, roles: [`urn:${namespace}:dataHubRole:${id}`] });
  const [admins, editors, readers] = [role("Admin"), role("Editor"), role("Reader")];
  const products = ["MANAGE_DATA_PRODUCTS"];
  const domains = { type: "domain", allResources: true };
  const ofTypes = { field: "TYPE", values: editedTypes, condition: "EQUALS" };

  const platform = { type: "PLATFORM", state: "ACTIVE", editable: true };
  const metadata = { type: "METADATA", state: "ACTIVE", editable: true };
  const fixed = { editable: false };
  const named = (displayName: string, description: string) => ({ displayName, description });

  return new Map<string, DefaultPolicy>([
    [
      "0",
      {
        ...named("Root user: the platform", "The first user may do everything to the service."),
        ...platform,
        ...fixed,
        privileges: allPlatform,
        actors: root,
      },
    ],
    [
      "1",
      {
        ...named("Root user: metadata", "The first user may do everything to every entity."),
        ...metadata,
        ...fixed,
        privileges: allMetadata,
        actors: root,
      },
    ],
    [
      "root-domain-manage-data-products-policy",
      {
        ...named("Root user: data products", "The first user manages those of every domain."),
        ...metadata,
        ...fixed,
        privileges: products,
        actors: root,
        resources: domains,
      },
    ],
    [
      "admin-domain-manage-data-products-policy",
      {
        ...named("Administrators: data products", "The role Admin manages those of every domain."),
        ...metadata,
        ...fixed,
        privileges: products,
        actors: admins,
        resources: domains,
      },
    ],
    [
      "editor-domain-manage-data-products-policy",
      {
        ...named("Editors: data products", "The role Editor manages those of every domain."),
        ...metadata,
        privileges: products,
        actors: editors,
        resources: domains,
      },
    ],
    [
      "7",
      {
        ...named("All users: own tokens", "Every user may make tokens. Set its state to ACTIVE."),
        ...platform,
        state: "INACTIVE",
        actors: everybody,
        privileges: ["VIEW_ANALYTICS", "GENERATE_PERSONAL_ACCESS_TOKENS"],
      },
    ],
    [
      "view-entity-page-all",
      {
        ...named("All users: every entity", "Every user may see every entity, while it is ACTIVE."),
        ...metadata,
        privileges: viewingPages,
        actors: everybody,
      },
    ],
    [
      "view-dataset-sensitive",
      {
        ...named("All users: datasets", "Every user may see usage, profiles and operations."),
        ...metadata,
        privileges: viewingDatasets,
        actors: everybody,
      },
    ],
    [
      "admin-platform-policy",
      {
        ...named(
          "Administrators: the platform",
          "The role Admin may do everything to the service.",
        ),
        ...platform,
        ...fixed,
        privileges: allPlatform,
        actors: admins,
      },
    ],
    [
      "admin-metadata-policy",
      {
        ...named("Administrators: metadata", "The role Admin may do everything to every entity."),
        ...metadata,
        ...fixed,
        privileges: allMetadata,
        actors: admins,
      },
    ],
    [
      "editor-platform-policy",
      {
        ...named("Editors: the platform", "The role Editor manages what entities are sorted by."),
        ...platform,
        privileges: editorsPlatform,
        actors: editors,
      },
    ],
    [
      "editor-metadata-policy",
      {
        ...named("Editors: metadata", "The role Editor may see every entity and label it."),
        ...metadata,
        privileges: editing,
        actors: editors,
      },
    ],
    [
      "editor-metadata-policy-entities",
      {
        ...named("Editors: entities", "The role Editor may edit entities of the common types."),
        ...metadata,
        privileges: ["EDIT_ENTITY"],
        actors: editors,
        resources: { allResources: false, filter: { criteria: [ofTypes] } },
      },
    ],
    [
      "reader-platform-policy",
      {
        ...named("Readers: the platform", "The role Reader may do nothing to the service."),
        ...platform,
        privileges: [],
        actors: readers,
      },
    ],
    [
      "reader-metadata-policy",
      {
        ...named("Readers: metadata", "The role Reader may see every entity."),
        ...metadata,
        privileges: viewing,
        actors: readers,
      },
    ],
    [
      "asset-owners-metadata-policy",
      {
        ...named("Owners: their own", "Owners may see and edit what they own."),
        ...metadata,
        privileges: owning,
        actors: { ...nobody, resourceOwners: true },
      },
    ],
  ]);
}

const roles: Readonly<Record<string, string>> = {
  Admin: "May do everything.",
  Editor: "May see everything, and edit entities.",
  Reader: "May see everything.",
};

export function builtIns(namespace: string): readonly BuiltIn[] {
  const policies = [...defaultPolicies(namespace)].map(
    ([id, policy]): BuiltIn => ({
      urn: `urn:${namespace}:dataHubPolicy:${id}`,
      entityType: "dataHubPolicy",
      aspects: { dataHubPolicyKey: { id }, dataHubPolicyInfo: policy },
      info: "dataHubPolicyInfo",
      fixed: !policy.editable,
    }),
  );
  const named = Object.entries(roles).map(
    ([id, description]): BuiltIn => ({
      urn: `urn:${namespace}:dataHubRole:${id}`,
      entityType: "dataHubRole",
      aspects: {
        dataHubRoleKey: { id },
        dataHubRoleInfo: { name: id, description, editable: false },
      },
      info: "dataHubRoleInfo",
      fixed: false,
    }),
  );
  return [...policies, ...named, rootUser(namespace)];
}

const rootUser = (namespace: string): BuiltIn => ({
  urn: `urn:${namespace}:corpuser:${rootUserId}`,
  entityType: "corpuser",
  aspects: {
    corpUserKey: { username: rootUserId },
    // With what it would be given when it is stored, so that storing it changes nothing.
    corpUserInfo: {
      customProperties: {},
      system: false,
      active: true,
      displayName: "DataHub",
      title: "DataHub Root User",
    },
  },
  info: "corpUserInfo",
  fixed: false,
});
