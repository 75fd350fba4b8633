/**
 * updateDataset, updateChart and the like: each member of the input changes one aspect. Lists replace
 * the stored lists; members that the input omits keep their values.
 */
import type { Proposal } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { appendAll } from "../../../lib/lists.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import { descriptionPathOf } from "../../schema/entity-types.ts";
import { actorOf, given, stampOf } from "../changes.ts";
import { operationsOf, ownershipOf } from "../declared.ts";
import { columnResource, rejectUnknownColumns } from "../label-resources.ts";
import { existingOwners } from "../owners.ts";
import {
  type PatchOperation,
  patchOf,
  proposalOf,
  rejectMissing,
  urnOf,
  write,
} from "../writing.ts";

interface Tags {
  readonly tags?: Maybe<readonly { readonly tag: { readonly urn?: Maybe<string> } }[]>;
}

interface EntityUpdate {
  readonly ownership?: Maybe<{
    readonly owners: readonly {
      readonly owner: string;
      readonly type?: Maybe<string>;
      readonly ownershipTypeUrn?: Maybe<string>;
    }[];
  }>;
  readonly globalTags?: Maybe<Tags>;
  /** The older name of globalTags. */
  readonly tags?: Maybe<Tags>;
  readonly editableProperties?: Maybe<{
    readonly description: string;
    readonly name?: Maybe<string>;
  }>;
  readonly deprecation?: Maybe<{
    readonly deprecated: boolean;
    readonly decommissionTime?: Maybe<number>;
    readonly note: string;
  }>;
  readonly institutionalMemory?: Maybe<{
    readonly elements: readonly {
      readonly url: string;
      readonly description?: Maybe<string>;
      readonly author: string;
      readonly createdAt?: Maybe<number>;
    }[];
  }>;
  readonly editableSchemaMetadata?: Maybe<{
    readonly editableSchemaFieldInfo: readonly {
      readonly fieldPath: string;
      readonly description?: Maybe<string>;
      readonly globalTags?: Maybe<Tags>;
    }[];
  }>;
}

type Part<Name extends keyof EntityUpdate> = (
  urn: string,
  value: NonNullable<EntityUpdate[Name]>,
  viewer: Viewer,
) => Promise<Proposal>;

async function existingTags({ tags }: Tags, viewer: Viewer) {
  const urns = (tags ?? []).map(({ tag }) => urnOf(tag.urn, ["tag"], viewer));
  await rejectMissing([...new Set(urns)], viewer);
  return { tags: urns.map((tag) => ({ tag })) };
}

const globalTags: Part<"globalTags"> = async (urn, value, viewer) =>
  proposalOf(urn, "globalTags", await existingTags(value, viewer));

const ownership: Part<"ownership"> = async (urn, { owners }, viewer) => {
  const inputs = owners.map(({ owner, type, ownershipTypeUrn }) => ({
    ...{ ownerUrn: owner, ownershipTypeUrn },
    type: type ?? (ownershipTypeUrn ? null : "NONE"),
  }));
  const existing = await existingOwners(inputs, viewer);
  return proposalOf(urn, "ownership", await ownershipOf(existing, viewer));
};

const editable: Part<"editableProperties"> = async (urn, { description, name }, viewer) => {
  const [aspect = ""] = descriptionPathOf(entityTypeOf(urn));
  const members = { ...given({ description, name }), lastModified: stampOf(viewer) };
  return patchOf(urn, aspect, operationsOf(members));
};

const deprecation: Part<"deprecation"> = async (urn, value, viewer) =>
  patchOf(
    urn,
    "deprecation",
    operationsOf({
      ...{ deprecated: value.deprecated, note: value.note, actor: actorOf(viewer) },
      decommissionTime: value.decommissionTime ?? null,
    }),
  );

const institutionalMemory: Part<"institutionalMemory"> = async (urn, { elements }, viewer) =>
  proposalOf(urn, "institutionalMemory", {
    elements: elements.map(({ url, description, author, createdAt }) => ({
      url,
      description: description ?? "",
      createStamp: { time: createdAt ?? viewer.now(), actor: author },
    })),
  });

const editableSchemaMetadata: Part<"editableSchemaMetadata"> = async (urn, value, viewer) => {
  const columns = value.editableSchemaFieldInfo;
  await rejectUnknownColumns(
    columns.map(({ fieldPath }) => columnResource(urn, fieldPath)),
    viewer,
  );
  const operations: PatchOperation[] = [];
  for (const { fieldPath, description, globalTags } of columns) {
    const path = ["editableSchemaFieldInfo", fieldPath];
    const tags = globalTags ? await existingTags(globalTags, viewer) : undefined;
    for (const [name, one] of Object.entries(given({ description, globalTags: tags }))) {
      operations.push({ op: "add", path: [...path, name], value: one });
    }
  }
  return patchOf(urn, "editableSchemaMetadata", [
    ...operations,
    ...operationsOf({ lastModified: stampOf(viewer) }),
  ]);
};

async function proposalsFor(
  urn: string,
  input: EntityUpdate,
  viewer: Viewer,
): Promise<readonly Proposal[]> {
  const tags = input.globalTags ?? input.tags;
  const { editableProperties } = input;
  const parts = [
    input.ownership && ownership(urn, input.ownership, viewer),
    tags && globalTags(urn, tags, viewer),
    editableProperties && editable(urn, editableProperties, viewer),
    input.deprecation && deprecation(urn, input.deprecation, viewer),
    input.institutionalMemory && institutionalMemory(urn, input.institutionalMemory, viewer),
    input.editableSchemaMetadata &&
      editableSchemaMetadata(urn, input.editableSchemaMetadata, viewer),
  ];
  return (await Promise.all(parts)).filter((one) => one !== null && one !== undefined);
}

const updatingWhole =
  (entityType: string) =>
  async ({ urn: text, input }: UpdateArgs<EntityUpdate>, viewer: Viewer) => {
    const urn = urnOf(text, [entityType], viewer);
    await rejectMissing([urn], viewer);
    await write(await proposalsFor(urn, input, viewer), viewer);
    return entityOf(urn);
  };

interface BatchMember {
  readonly urn: string;
  readonly update: EntityUpdate;
}

/** One write: a rejected member rejects all. */
async function updateDatasets({ input }: InputArgs<readonly BatchMember[]>, viewer: Viewer) {
  const members = input.map((one) => ({ ...one, urn: urnOf(one.urn, ["dataset"], viewer) }));
  const urns = members.map(({ urn }) => urn);
  await rejectMissing(urns, viewer);
  const repeated = urns.find((urn, i) => urns.indexOf(urn) < i);
  if (repeated !== undefined) {
    throw new CatalogError("malformed", `"${repeated}" occurs twice in the batch`, {
      hint: "Send one update for each dataset",
    });
  }
  const proposals: Proposal[] = [];
  for (const { urn, update } of members) {
    appendAll(proposals, await proposalsFor(urn, update, viewer));
  }
  await write(proposals, viewer);
  return urns.map(entityOf);
}

export const wholeEntityMutations = {
  updateDataset: updatingWhole("dataset"),
  updateDatasets,
  updateChart: updatingWhole("chart"),
  updateDashboard: updatingWhole("dashboard"),
  updateDataFlow: updatingWhole("dataFlow"),
  updateDataJob: updatingWhole("dataJob"),
  updateNotebook: updatingWhole("notebook"),
};
