/** Business attributes, and the columns that have them: at most one a column. */
import { CatalogError } from "../../../core/errors.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import { columnOf, columnType } from "../assets/columns.ts";
import { given, stampOf } from "../changes.ts";
import { create, deleting, distinct, operationsOf, rejectBlank } from "../declared.ts";
import { columnResource, type LabelResource, rejectUnknownColumns } from "../label-resources.ts";
import { attributeNames, rejectTakenName } from "../unique-names.ts";
import { anyOf, patchOf, proposalOf, rejectMissing, urnOf, write } from "../writing.ts";

interface AttributeInput {
  readonly id?: Maybe<string>;
  readonly name?: Maybe<string>;
  readonly description?: Maybe<string>;
  readonly type?: Maybe<string>;
}

const typeOf = ({ type }: AttributeInput) => (type ? columnType(type) : undefined);

const creation = {
  entityType: "businessAttribute",
  id: ({ id }: AttributeInput) => id,
  names: ({ name }: AttributeInput) => [name],
  aspects: (input: AttributeInput, viewer: Viewer) => {
    const { name, description } = input;
    const stamp = stampOf(viewer);
    const members = { fieldPath: name, name, description, type: typeOf(input) };
    return { businessAttributeInfo: given({ ...members, created: stamp, lastModified: stamp }) };
  },
  required: (_: AttributeInput, urn: string) => [
    anyOf(["MANAGE_BUSINESS_ATTRIBUTE", "CREATE_BUSINESS_ATTRIBUTE", "EDIT_ENTITY"], [urn]),
  ],
  answer: "entity",
} as const;

async function updateBusinessAttribute(
  { urn: text, input }: UpdateArgs<AttributeInput>,
  viewer: Viewer,
) {
  const urn = urnOf(text, ["businessAttribute"], viewer);
  const { name, description } = input;
  rejectBlank(name);
  await rejectMissing([urn], viewer);
  const operations = operationsOf({
    // The field path is the name, as of a column.
    ...(name && { name, fieldPath: name }),
    description: description ?? undefined,
    type: typeOf(input),
    lastModified: stampOf(viewer),
  });
  await viewer.moving(async () => {
    if (name) await rejectTakenName(attributeNames, { name, parent: undefined, urn }, viewer);
    await write([patchOf(urn, "businessAttributeInfo", operations)], viewer, [
      anyOf(["MANAGE_BUSINESS_ATTRIBUTE", "CREATE_BUSINESS_ATTRIBUTE", "EDIT_ENTITY"], [urn]),
    ]);
  });
  return entityOf(urn);
}

interface AttributeResources {
  readonly businessAttributeUrn: string;
  readonly resourceUrn: readonly LabelResource[];
}

const toEdit = (datasets: readonly string[]) => [
  anyOf(["EDIT_ENTITY", "EDIT_DATASET_COL_BUSINESS_ATTRIBUTE_PRIVILEGE"], distinct(datasets)),
];

async function addBusinessAttribute(
  { input }: InputArgs<AttributeResources>,
  viewer: Viewer,
): Promise<true> {
  const businessAttributeUrn = urnOf(input.businessAttributeUrn, ["businessAttribute"], viewer);
  await rejectMissing([businessAttributeUrn], viewer);
  const columns = input.resourceUrn.map(({ resourceUrn }) => columnOf(resourceUrn, viewer));
  await rejectUnknownColumns(
    columns.map(({ dataset, fieldPath }) => columnResource(dataset, fieldPath)),
    viewer,
  );
  const value = { businessAttribute: { businessAttributeUrn } };
  return write(
    columns.map(({ urn }) => proposalOf(urn, "businessAttributes", value)),
    viewer,
    toEdit(columns.map(({ dataset }) => dataset)),
  );
}

/** Removes the attribute from the columns that have it. */
async function removeBusinessAttribute(
  { input }: InputArgs<AttributeResources>,
  viewer: Viewer,
): Promise<true> {
  const attribute = urnOf(input.businessAttributeUrn, ["businessAttribute"], viewer);
  const columns = input.resourceUrn.map(({ resourceUrn }) => columnOf(resourceUrn, viewer));
  const proposals = [];
  for (const { urn } of columns) {
    const stored = (await viewer.loader.load(urn)).aspect("businessAttributes");
    if (memberAt(stored, ["businessAttribute", "businessAttributeUrn"]) !== attribute) continue;
    proposals.push(patchOf(urn, "businessAttributes", operationsOf({ businessAttribute: null })));
  }
  return write(proposals, viewer, toEdit(columns.map(({ dataset }) => dataset)));
}

export const attributeMutations = {
  createBusinessAttribute: ({ input }: InputArgs<AttributeInput>, viewer: Viewer) =>
    viewer.moving(async () => {
      const { name } = input;
      if (!name) throw new CatalogError("malformed", "name is empty", { hint: "Send a name" });
      await rejectTakenName(attributeNames, { name, parent: undefined }, viewer);
      return entityOf(await create(creation, input, viewer));
    }),
  updateBusinessAttribute,
  deleteBusinessAttribute: deleting(["businessAttribute"]),
  addBusinessAttribute,
  removeBusinessAttribute,
};
