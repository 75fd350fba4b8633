/**
 * Tools that write. Each is a mutation of the GraphQL API, so that its rules and privileges hold here,
 * too.
 */
import { z } from "zod";
import { CatalogError } from "../../core/errors.ts";
import { urn } from "../arguments.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";

export const urns = (what: string) => z.array(urn).min(1).max(100).describe(what);
const entities = { urns: urns("Entities to change") };
export const column = z
  .string()
  .max(8_192)
  .optional()
  .describe("Path of a column: changes this column of the datasets and not the datasets");
const labelled = { ...entities, column };

/** Entities, or a column of each, as mutations name them. */
const resourcesOf = (values: { readonly urns: readonly string[]; readonly column?: string }) =>
  values.urns.map((resourceUrn) => ({ resourceUrn, ...columnOf(values.column) }));

const columnOf = (path: string | undefined) =>
  path === undefined ? {} : { subResource: path, subResourceType: "DATASET_FIELD" };

/** Runs a mutation with one argument `input`; `selection` is of its result. */
export async function mutate(
  field: string,
  inputType: string,
  input: object,
  { mutate }: ToolContext,
  selection = "",
): Promise<object> {
  if (mutate === undefined) {
    throw new CatalogError("forbidden", "tools of this service only read", {
      hint: "Start it with --mcp-writes on",
    });
  }
  const query = `mutation($input: ${inputType}!) { ${field}(input: $input) ${selection} }`;
  return { position: await mutate(query, { input }) };
}

const addTags = defineTool({
  name: "add_tags",
  title: "Add tags",
  description: "Adds tags to entities, or to a column of datasets. Tags must exist.",
  input: { ...labelled, tags: urns("Urns of tags, such as urn:li:tag:pii") },
  run: ({ tags, ...values }, context) =>
    mutate(
      "batchAddTags",
      "BatchAddTagsInput",
      { tagUrns: tags, resources: resourcesOf(values) },
      context,
    ),
});

const removeTags = defineTool({
  name: "remove_tags",
  title: "Remove tags",
  description: "Removes tags from entities, or from a column of datasets.",
  input: { ...labelled, tags: urns("Urns of tags") },
  run: ({ tags, ...values }, context) =>
    mutate(
      "batchRemoveTags",
      "BatchRemoveTagsInput",
      { tagUrns: tags, resources: resourcesOf(values) },
      context,
    ),
});

const addTerms = defineTool({
  name: "add_glossary_terms",
  title: "Add glossary terms",
  description: "Adds glossary terms to entities, or to a column of datasets. Terms must exist.",
  input: { ...labelled, terms: urns("Urns of glossary terms") },
  run: ({ terms, ...values }, context) =>
    mutate(
      "batchAddTerms",
      "BatchAddTermsInput",
      { termUrns: terms, resources: resourcesOf(values) },
      context,
    ),
});

const removeTerms = defineTool({
  name: "remove_glossary_terms",
  title: "Remove glossary terms",
  description: "Removes glossary terms from entities, or from a column of datasets.",
  input: { ...labelled, terms: urns("Urns of glossary terms") },
  run: ({ terms, ...values }, context) =>
    mutate(
      "batchRemoveTerms",
      "BatchRemoveTermsInput",
      { termUrns: terms, resources: resourcesOf(values) },
      context,
    ),
});

const ownershipType = z.enum(["TECHNICAL_OWNER", "BUSINESS_OWNER", "DATA_STEWARD", "NONE"]);

const addOwners = defineTool({
  name: "add_owners",
  title: "Add owners",
  description: "Adds users or groups as owners of entities. Users and groups must exist.",
  input: {
    ...entities,
    owners: urns("Urns of users and groups"),
    type: ownershipType.default("TECHNICAL_OWNER"),
  },
  run: ({ owners, type, urns }, context) =>
    mutate(
      "batchAddOwners",
      "BatchAddOwnersInput",
      { owners: owners.map((ownerUrn) => ({ ownerUrn, type })), resources: resourcesOf({ urns }) },
      context,
    ),
});

const removeOwners = defineTool({
  name: "remove_owners",
  title: "Remove owners",
  description:
    "Removes users or groups from the owners of entities, whatever the type of ownership.",
  input: { ...entities, owners: urns("Urns of users and groups") },
  run: ({ owners, urns }, context) =>
    mutate(
      "batchRemoveOwners",
      "BatchRemoveOwnersInput",
      { ownerUrns: owners, resources: resourcesOf({ urns }) },
      context,
    ),
});

const setDescription = defineTool({
  name: "set_description",
  title: "Set the description",
  description:
    "Replaces the edited description of an entity, or of a column of a dataset. Markdown.",
  input: { urn, column, description: z.string().max(100_000) },
  run: ({ urn, column, description }, context) =>
    mutate(
      "updateDescription",
      "DescriptionUpdateInput",
      { description, resourceUrn: urn, ...columnOf(column) },
      context,
    ),
});

const setDomain = defineTool({
  name: "set_domain",
  title: "Set the domain",
  description: "Moves entities into a domain; without a domain, out of any.",
  input: { ...entities, domain: urn.optional().describe("Urn of a domain") },
  run: ({ domain, urns }, context) =>
    mutate(
      "batchSetDomain",
      "BatchSetDomainInput",
      { domainUrn: domain, resources: resourcesOf({ urns }) },
      context,
    ),
});

const setDeprecation = defineTool({
  name: "set_deprecation",
  title: "Set the deprecation",
  description: "Marks entities as deprecated with a note, or removes the mark.",
  input: { ...entities, deprecated: z.boolean(), note: z.string().max(10_000).default("") },
  run: ({ deprecated, note, urns }, context) =>
    mutate(
      "batchUpdateDeprecation",
      "BatchUpdateDeprecationInput",
      { deprecated, note, resources: resourcesOf({ urns }) },
      context,
    ),
});

export const writeTools: readonly Tool[] = [
  addTags,
  removeTags,
  addTerms,
  removeTerms,
  addOwners,
  removeOwners,
  setDescription,
  setDomain,
  setDeprecation,
];
