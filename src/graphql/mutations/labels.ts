/**
 * Mutations of labels: tags, terms, owners, domains and descriptions. They send patches, so that
 * concurrent writes are kept. Labels and labelled entities must exist.
 */
import type { Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { entityTypeOf } from "../../core/urn.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { InputArgs, Viewer } from "../context.ts";
import { rejectMore } from "../limits.ts";
import type { Maybe } from "../maybe.ts";
import { descriptionPathOf } from "../schema/entity-types.ts";
import { actorOf } from "./changes.ts";
import { type LabelResource, rejectTooMany, rejectUnknownColumns } from "./label-resources.ts";
import { addOwners, type OwnerInput, removeOwners } from "./owners.ts";
import {
  type PatchOperation,
  patchOf,
  proposalOf,
  rejectMissing,
  urnOf,
  write,
} from "./writing.ts";

/** The resource of a mutation, or those of a batch. */
type Resources = Partial<LabelResource> & {
  readonly resources?: readonly Maybe<LabelResource>[];
};

const resourcesIn = ({ resources, ...resource }: Resources): readonly LabelResource[] =>
  resources?.filter((one) => one !== null && one !== undefined) ?? [resource as LabelResource];

const urnsOf = (resources: Resources): readonly string[] =>
  resourcesIn(resources).map(({ resourceUrn }) => resourceUrn);

interface Kind {
  readonly entityType: string;
  readonly aspect: string;
  /** Name of the list in the aspect. */
  readonly list: string;
  /** Name of the field of a list member that has the label's urn. */
  readonly member: string;
  /** Members of the input that name one label, and several. */
  readonly one: "tagUrn" | "termUrn";
  readonly many: "tagUrns" | "termUrns";
}

const tags: Kind = {
  ...{ entityType: "tag", aspect: "globalTags", list: "tags", member: "tag" },
  ...{ one: "tagUrn", many: "tagUrns" },
};
const terms: Kind = {
  ...{ entityType: "glossaryTerm", aspect: "glossaryTerms", list: "terms", member: "urn" },
  ...{ one: "termUrn", many: "termUrns" },
};

/** A dataset's aspect holds the labels of its columns. */
function labelPatch(
  { resourceUrn, subResource }: LabelResource,
  kind: Kind,
  operations: readonly PatchOperation[],
): Proposal {
  if (!subResource) return patchOf(resourceUrn, kind.aspect, operations);
  const column = ["editableSchemaFieldInfo", subResource, kind.aspect];
  return patchOf(
    resourceUrn,
    "editableSchemaMetadata",
    operations.map((one) => ({ ...one, path: [...column, ...one.path] })),
  );
}

type LabelsInput = Resources & {
  readonly [Member in Kind["one"]]?: string;
} & { readonly [Member in Kind["many"]]?: readonly string[] };

/** Adds one or several labels to one or several resources, or removes them. */
const labelling =
  (op: "add" | "remove", kind: Kind) =>
  async ({ input }: InputArgs<LabelsInput>, viewer: Viewer): Promise<true> => {
    const asked = input[kind.many] ?? [input[kind.one] ?? ""];
    const resources = resourcesIn(input);
    rejectTooMany(asked, resources);
    const labels = asked.map((urn) => urnOf(urn, [kind.entityType], viewer));
    await rejectMissing(urnsOf(input), viewer);
    if (op === "add") await rejectMissing(labels, viewer);
    await rejectUnknownColumns(resources, viewer, { edited: op === "remove" });
    const operations = labels.map((urn) => ({
      op,
      path: [kind.list, urn],
      value: { [kind.member]: urn },
    }));
    const proposals = resources.map((one) => labelPatch(one, kind, operations));
    return write(operations.length === 0 ? [] : proposals, viewer);
  };

type OwnersInput = Resources &
  OwnerInput & {
    readonly owners?: readonly OwnerInput[];
    readonly ownerUrns?: readonly string[];
  };

const addingOwners = ({ input }: InputArgs<OwnersInput>, viewer: Viewer) => {
  const { owners = [input], ownershipTypeUrn } = input;
  const typed = owners.map((owner) => ({ ownershipTypeUrn, ...owner }));
  return addOwners(typed, resourcesIn(input), viewer);
};

const removingOwners = ({ input }: InputArgs<OwnersInput>, viewer: Viewer) => {
  const { ownerUrns: urns = [input.ownerUrn], ownershipTypeUrn: typeUrn } = input;
  return removeOwners({ urns, typeUrn }, resourcesIn(input), viewer);
};

async function writeDomain(
  domainUrn: Maybe<string>,
  urns: readonly string[],
  viewer: Viewer,
): Promise<true> {
  const domains = domainUrn ? [urnOf(domainUrn, ["domain"], viewer)] : [];
  await rejectMissing(urns, viewer);
  await rejectMissing(domains, viewer);
  return write(
    urns.map((urn) => proposalOf(urn, "domains", { domains })),
    viewer,
  );
}

/** Operations that add the required properties of an entity without properties, from its urn. */
export function requiredProperties(urn: string): readonly PatchOperation[] {
  const name = urn.split(":").slice(3).join(":");
  const values: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    tag: { name },
    domain: { name },
    glossaryTerm: { name, definition: "", termSource: "INTERNAL" },
  };
  return Object.entries(ownValue(values, entityTypeOf(urn)) ?? {}).map(([field, value]) => ({
    op: "add",
    path: [field],
    value,
  }));
}

interface DescriptionInput extends LabelResource {
  readonly description: string;
}

const descriptionCharactersMax = 1_000_000;

async function describe(input: DescriptionInput, viewer: Viewer): Promise<true> {
  const { resourceUrn, subResource, description } = input;
  const hint = "Send a shorter description, and a link to the rest (addLink)";
  rejectMore(description.length, descriptionCharactersMax, "description has", "characters", hint);
  await rejectMissing([resourceUrn], viewer);
  await rejectUnknownColumns([input], viewer);
  const type = entityTypeOf(resourceUrn);
  const [aspect, field] = subResource
    ? ["editableSchemaMetadata", "description"]
    : descriptionPathOf(type);
  if (aspect === undefined || field === undefined) {
    throw new CatalogError(
      "invalid",
      `entities of type "${type}" have no description that can be edited here`,
      {
        hint: "Write the aspect that has the description",
      },
    );
  }
  const path = subResource ? ["editableSchemaFieldInfo", subResource, field] : [field];
  const loaded = await viewer.loader.load(resourceUrn);
  const required =
    loaded.aspect(aspect) === undefined && !subResource ? requiredProperties(loaded.urn) : [];
  const operations = [...required, { op: "add", path, value: description } as const];
  return write([patchOf(resourceUrn, aspect, operations)], viewer);
}

interface DeprecationInput {
  readonly deprecated: boolean;
  readonly decommissionTime?: Maybe<number>;
  readonly note?: Maybe<string>;
  readonly replacement?: Maybe<string>;
}

async function deprecate(
  input: DeprecationInput,
  urns: readonly string[],
  viewer: Viewer,
): Promise<true> {
  const { deprecated, decommissionTime, note, replacement } = input;
  await rejectMissing(urns, viewer);
  const value = {
    deprecated,
    note: note ?? "",
    actor: actorOf(viewer),
    decommissionTime: decommissionTime ?? undefined,
    ...(replacement && { replacement }),
  };
  return write(
    urns.map((urn) => proposalOf(urn, "deprecation", value)),
    viewer,
  );
}

export const labelMutations = {
  addTag: labelling("add", tags),
  addTags: labelling("add", tags),
  batchAddTags: labelling("add", tags),
  removeTag: labelling("remove", tags),
  batchRemoveTags: labelling("remove", tags),
  addTerm: labelling("add", terms),
  addTerms: labelling("add", terms),
  batchAddTerms: labelling("add", terms),
  removeTerm: labelling("remove", terms),
  batchRemoveTerms: labelling("remove", terms),

  addOwner: addingOwners,
  addOwners: addingOwners,
  batchAddOwners: addingOwners,
  removeOwner: removingOwners,
  batchRemoveOwners: removingOwners,

  setDomain: (args: { entityUrn: string; domainUrn: string }, viewer: Viewer) =>
    writeDomain(args.domainUrn, [args.entityUrn], viewer),
  unsetDomain: (args: { entityUrn: string }, viewer: Viewer) =>
    writeDomain(undefined, [args.entityUrn], viewer),
  batchSetDomain: (
    { input }: InputArgs<Resources & { domainUrn?: Maybe<string> }>,
    viewer: Viewer,
  ) => writeDomain(input.domainUrn, urnsOf(input), viewer),

  updateDescription: ({ input }: InputArgs<DescriptionInput>, viewer: Viewer) =>
    describe(input, viewer),
  updateDeprecation: ({ input }: InputArgs<DeprecationInput & { urn: string }>, viewer: Viewer) =>
    deprecate(input, [input.urn], viewer),
  batchUpdateDeprecation: ({ input }: InputArgs<DeprecationInput & Resources>, viewer: Viewer) =>
    deprecate(input, urnsOf(input), viewer),

  async batchUpdateSoftDeleted(
    { input: { urns, deleted } }: InputArgs<{ urns: readonly string[]; deleted: boolean }>,
    viewer: Viewer,
  ) {
    await rejectMissing(urns, viewer);
    return write(
      urns.map((urn) => proposalOf(urn, "status", { removed: deleted })),
      viewer,
    );
  },
};
