/** Mutations of service accounts, profiles of users and groups, ownership types and stored files. */
import { randomUUID } from "node:crypto";
import type { PrivilegeAlternatives } from "../../../auth/policies/privileges.ts";
import { CatalogError } from "../../../core/errors.ts";
import { type JsonObject, stringsIn } from "../../../lib/json.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import {
  changeAspect,
  createEntity,
  given,
  requirePrivilege,
  setMembers,
  stampOf,
  storedAspect,
} from "../changes.ts";
import { globalView } from "../settings/user-settings.ts";
import { rejectMissing, remove, urnOf } from "../writing.ts";

const ACCOUNT = "SERVICE_ACCOUNT";

/** The urn of a service account. Throws `malformed` for another user, `not_found` for an unknown one. */
async function accountOf(text: string, viewer: Viewer): Promise<string> {
  const urn = urnOf(text, ["corpuser"], viewer);
  await rejectMissing([urn], viewer);
  const { aspect } = await viewer.loader.load(urn);
  if (stringsIn(aspect("subTypes")?.typeNames).includes(ACCOUNT)) return urn;
  throw new CatalogError("malformed", `"${urn}" is not a service account`, {
    hint: "Send the urn that createServiceAccount returned",
  });
}

export const accountMutations = {
  async createServiceAccount(
    { input }: InputArgs<{ displayName?: Maybe<string>; description?: Maybe<string> }>,
    viewer: Viewer,
  ) {
    const id = `service_${randomUUID()}`;
    const displayName = input.displayName || id;
    const corpUserInfo = { active: true, displayName, ...given({ title: input.description }) };
    const subTypes = { typeNames: [ACCOUNT] };
    const urn = await createEntity("corpuser", { id, aspects: { corpUserInfo, subTypes } }, viewer);
    return {
      ...{ urn, type: "CORP_USER", name: id, displayName, description: input.description },
      ...{ createdBy: viewer.actor, createdAt: viewer.now(), updatedAt: viewer.now() },
    };
  },

  async deleteServiceAccount({ urn }: { urn: string }, viewer: Viewer) {
    return remove(await accountOf(urn, viewer), viewer);
  },

  async updateServiceAccountDefaultView(
    { input }: InputArgs<{ urn: string; defaultView?: Maybe<string> }>,
    viewer: Viewer,
  ) {
    const urn = await accountOf(input.urn, viewer);
    const views = given({ defaultView: await globalView(input.defaultView, viewer) });
    const change = (stored: JsonObject) => ({ appearance: {}, ...stored, views });
    return changeAspect(urn, "corpUserSettings", change, viewer);
  },
};

/** Any of these for the profile of another user. Users edit their own profile without a privilege. */
const toEditProfiles: PrivilegeAlternatives = [
  ["MANAGE_USERS_AND_GROUPS"],
  ["EDIT_ENTITY"],
  ["EDIT_USER_PROFILE"],
  ["EDIT_CONTACT_INFO"],
];

interface UserInput extends JsonObject {
  readonly platformUrns?: Maybe<readonly string[]>;
  readonly personaUrn?: Maybe<string>;
}

export const profileMutations = {
  async updateCorpUserProperties({ urn: text, input }: UpdateArgs<UserInput>, viewer: Viewer) {
    const urn = urnOf(text, ["corpuser"], viewer);
    if (urn !== viewer.actor) await requirePrivilege(toEditProfiles, viewer);
    await rejectMissing([urn], viewer);
    const { platformUrns: platforms, personaUrn: persona, ...rest } = input;
    const changed = given({ ...rest, platforms, persona });
    await setMembers(urn, "corpUserEditableInfo", changed, viewer);
    return entityOf(urn);
  },

  async updateCorpGroupProperties({ urn: text, input }: UpdateArgs<JsonObject>, viewer: Viewer) {
    const urn = urnOf(text, ["corpGroup"], viewer);
    await requirePrivilege(toEditProfiles, viewer);
    await rejectMissing([urn], viewer);
    await setMembers(urn, "corpGroupEditableInfo", given(input), viewer);
    return entityOf(urn);
  },
};

interface OwnershipTypeInput {
  readonly name?: Maybe<string>;
  readonly description?: Maybe<string>;
}

const OWNERSHIP_TYPE = "ownershipType";

export const ownershipTypeMutations = {
  async createOwnershipType({ input }: InputArgs<OwnershipTypeInput>, viewer: Viewer) {
    const created = stampOf(viewer);
    const ownershipTypeInfo = { ...given(input), created, lastModified: created };
    return entityOf(await createEntity(OWNERSHIP_TYPE, { aspects: { ownershipTypeInfo } }, viewer));
  },

  async updateOwnershipType({ urn: text, input }: UpdateArgs<OwnershipTypeInput>, viewer: Viewer) {
    const urn = urnOf(text, [OWNERSHIP_TYPE], viewer);
    await storedAspect(urn, "ownershipTypeInfo", viewer);
    const changed = { ...given(input), lastModified: stampOf(viewer) };
    await setMembers(urn, "ownershipTypeInfo", changed, viewer);
    return entityOf(urn);
  },

  /** The built-in types are only marked as removed, because owners without a type refer to them. */
  async deleteOwnershipType(
    { urn: text, deleteReferences }: { urn: string; deleteReferences?: Maybe<boolean> },
    viewer: Viewer,
  ) {
    const urn = urnOf(text, [OWNERSHIP_TYPE], viewer);
    if (!urn.includes(":__system__")) {
      return remove(urn, viewer, undefined, deleteReferences === false);
    }
    await rejectMissing([urn], viewer);
    return setMembers(urn, "status", { removed: true }, viewer);
  },
};

interface FileInput {
  readonly id: string;
  readonly storageKey: string;
  readonly [member: string]: unknown;
}

export const fileMutations = {
  /** Stores the description of a file. The service does not store files. */
  async createDataHubFile({ input }: InputArgs<FileInput>, viewer: Viewer) {
    const { id, storageKey, ...rest } = input;
    const dataHubFileInfo = {
      ...given(rest),
      bucketStorageLocation: { storageBucket: "", storageKey },
      created: stampOf(viewer),
    };
    const urn = await createEntity("dataHubFile", { id, aspects: { dataHubFileInfo } }, viewer);
    return { file: entityOf(urn) };
  },
};
