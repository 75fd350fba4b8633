/**
 * Mutations of labels: tags, terms, owners, domains and descriptions. They send patches, so that
 * concurrent writes are kept. Labels and labelled entities must exist.
 */
import type { Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { entityTypeOf } from "../../core/urn.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { descriptionAspects } from "../queries/aspects-by-type.ts";
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

interface Resources {
  readonly resources: readonly Maybe<LabelResource>[];
}

const resourcesIn = ({ resources }: Resources): readonly LabelResource[] =>
  resources.filter((one) => one !== null && one !== undefined);

interface Kind {
  readonly entityType: string;
  readonly aspect: string;
  /** Name of the list in the aspect. */
  readonly list: string;
  /** Name of the field of a list member that has the label's urn. */
  readonly member: string;
}

const tags: Kind = { entityType: "tag", aspect: "globalTags", list: "tags", member: "tag" };
const terms: Kind = {
  entityType: "glossaryTerm",
  aspect: "glossaryTerms",
  list: "terms",
  member: "urn",
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

async function label(
  op: "add" | "remove",
  kind: Kind,
  asked: { readonly labels: readonly string[]; readonly resources: readonly LabelResource[] },
  viewer: Viewer,
): Promise<true> {
  rejectTooMany(asked.labels, asked.resources);
  const labels = asked.labels.map((urn) => urnOf(urn, [kind.entityType], viewer));
  const resources = asked.resources.map(({ resourceUrn }) => resourceUrn);
  await rejectMissing(resources, viewer);
  if (op === "add") await rejectMissing(labels, viewer);
  await rejectUnknownColumns(asked.resources, viewer, { edited: op === "remove" });
  const operations = labels.map((urn) => ({
    op,
    path: [kind.list, urn],
    value: { [kind.member]: urn },
  }));
  const proposals = asked.resources.map((one) => labelPatch(one, kind, operations));
  return write(operations.length === 0 ? [] : proposals, viewer);
}

interface TagsInput extends LabelResource {
  readonly tagUrn: string;
  readonly tagUrns: readonly string[];
}

interface TermsInput extends LabelResource {
  readonly termUrn: string;
  readonly termUrns: readonly string[];
}

type Field<Input> = (source: never, args: { input: Input }, viewer: Viewer) => Promise<true>;

const oneTag =
  (op: "add" | "remove"): Field<TagsInput> =>
  (_, { input }, viewer) =>
    label(op, tags, { labels: [input.tagUrn], resources: [input] }, viewer);

const manyTags =
  (op: "add" | "remove"): Field<TagsInput & Resources> =>
  (_, { input }, viewer) =>
    label(op, tags, { labels: input.tagUrns, resources: resourcesIn(input) }, viewer);

const oneTerm =
  (op: "add" | "remove"): Field<TermsInput> =>
  (_, { input }, viewer) =>
    label(op, terms, { labels: [input.termUrn], resources: [input] }, viewer);

const manyTerms =
  (op: "add" | "remove"): Field<TermsInput & Resources> =>
  (_, { input }, viewer) =>
    label(op, terms, { labels: input.termUrns, resources: resourcesIn(input) }, viewer);

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
  if (description.length > descriptionCharactersMax) {
    throw new CatalogError(
      "malformed",
      `description has ${description.length} characters; at most ${descriptionCharactersMax} are allowed`,
      { hint: "Send a shorter description, and a link to the rest (addLink)" },
    );
  }
  await rejectMissing([resourceUrn], viewer);
  await rejectUnknownColumns([input], viewer);
  const type = entityTypeOf(resourceUrn);
  const [aspect, field] = subResource
    ? ["editableSchemaMetadata", "description"]
    : (ownValue(descriptionAspects, type) ?? []);
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

const urnsOf = (resources: Resources): readonly string[] =>
  resourcesIn(resources).map(({ resourceUrn }) => resourceUrn);

export const labelling = {
  addTag: oneTag("add"),
  removeTag: oneTag("remove"),
  addTags: ((_, { input }, viewer) =>
    label("add", tags, { labels: input.tagUrns, resources: [input] }, viewer)) as Field<TagsInput>,
  batchAddTags: manyTags("add"),
  batchRemoveTags: manyTags("remove"),
  addTerm: oneTerm("add"),
  removeTerm: oneTerm("remove"),
  addTerms: ((_, { input }, viewer) =>
    label(
      "add",
      terms,
      { labels: input.termUrns, resources: [input] },
      viewer,
    )) as Field<TermsInput>,
  batchAddTerms: manyTerms("add"),
  batchRemoveTerms: manyTerms("remove"),

  addOwner: ((_, { input }, viewer) => addOwners([input], [input], viewer)) as Field<
    OwnerInput & LabelResource
  >,
  addOwners: ((_, { input }, viewer) => addOwners(input.owners, [input], viewer)) as Field<
    { owners: readonly OwnerInput[] } & LabelResource
  >,
  batchAddOwners: ((_, { input }, viewer) =>
    addOwners(
      input.owners.map((owner) => ({ ownershipTypeUrn: input.ownershipTypeUrn, ...owner })),
      resourcesIn(input),
      viewer,
    )) as Field<{ owners: readonly OwnerInput[]; ownershipTypeUrn?: Maybe<string> } & Resources>,
  removeOwner: ((_, { input }, viewer) =>
    removeOwners(
      { urns: [input.ownerUrn], typeUrn: input.ownershipTypeUrn },
      [input],
      viewer,
    )) as Field<OwnerInput & LabelResource>,
  batchRemoveOwners: ((_, { input }, viewer) =>
    removeOwners(
      { urns: input.ownerUrns, typeUrn: input.ownershipTypeUrn },
      resourcesIn(input),
      viewer,
    )) as Field<{ ownerUrns: readonly string[]; ownershipTypeUrn?: Maybe<string> } & Resources>,

  setDomain: (_: never, args: { entityUrn: string; domainUrn: string }, viewer: Viewer) =>
    writeDomain(args.domainUrn, [args.entityUrn], viewer),
  unsetDomain: (_: never, args: { entityUrn: string }, viewer: Viewer) =>
    writeDomain(undefined, [args.entityUrn], viewer),
  batchSetDomain: ((_, { input }, viewer) =>
    writeDomain(input.domainUrn, urnsOf(input), viewer)) as Field<
    { domainUrn?: Maybe<string> } & Resources
  >,

  updateDescription: ((_, { input }, viewer) => describe(input, viewer)) as Field<DescriptionInput>,
  updateDeprecation: ((_, { input }, viewer) => deprecate(input, [input.urn], viewer)) as Field<
    DeprecationInput & { urn: string }
  >,
  batchUpdateDeprecation: ((_, { input }, viewer) =>
    deprecate(input, urnsOf(input), viewer)) as Field<DeprecationInput & Resources>,

  batchUpdateSoftDeleted: (async (_, { input: { urns, deleted } }, viewer) => {
    await rejectMissing(urns, viewer);
    return write(
      urns.map((urn) => proposalOf(urn, "status", { removed: deleted })),
      viewer,
    );
  }) as Field<{ urns: readonly string[]; deleted: boolean }>,
};
