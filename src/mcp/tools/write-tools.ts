/**
 * Tools that write. Each is a mutation of the GraphQL API, so that its rules and privileges hold here,
 * too.
 */
import { z } from "zod";
import { assert } from "../../core/errors.ts";
import { urn } from "../arguments.ts";
import { defineTool, type Tool } from "../tool.ts";

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

/** A tool that runs a mutation with one argument `input`. */
export function writeTool<Input extends Readonly<Record<string, z.ZodType>>>({
  mutation,
  selection = "",
  toInput,
  ...tool
}: Omit<Parameters<typeof defineTool<Input>>[0], "run"> & {
  /** The field, and the type of its input. */
  readonly mutation: readonly [field: string, inputType: string];
  /** Of the result of the mutation. */
  readonly selection?: string;
  readonly toInput: (values: z.infer<z.ZodObject<Input>>) => object;
}): Tool {
  const [field, inputType] = mutation;
  const query = `mutation($input: ${inputType}!) { ${field}(input: $input) ${selection} }`;
  return defineTool<Input>({
    ...tool,
    async run(values, { mutate }) {
      assert(mutate !== undefined, "tools that write are registered with mutations only");
      return { position: await mutate(query, { input: toInput(values) }) };
    },
  });
}

const addTags = writeTool({
  name: "add_tags",
  title: "Add tags",
  description: "Adds tags to entities, or to a column of datasets. Tags must exist.",
  input: { ...labelled, tags: urns("Urns of tags, such as urn:li:tag:pii") },
  mutation: ["batchAddTags", "BatchAddTagsInput"],
  toInput: ({ tags, ...values }) => ({ tagUrns: tags, resources: resourcesOf(values) }),
});

const removeTags = writeTool({
  name: "remove_tags",
  title: "Remove tags",
  description: "Removes tags from entities, or from a column of datasets.",
  input: { ...labelled, tags: urns("Urns of tags") },
  mutation: ["batchRemoveTags", "BatchRemoveTagsInput"],
  toInput: ({ tags, ...values }) => ({ tagUrns: tags, resources: resourcesOf(values) }),
});

const addTerms = writeTool({
  name: "add_glossary_terms",
  title: "Add glossary terms",
  description: "Adds glossary terms to entities, or to a column of datasets. Terms must exist.",
  input: { ...labelled, terms: urns("Urns of glossary terms") },
  mutation: ["batchAddTerms", "BatchAddTermsInput"],
  toInput: ({ terms, ...values }) => ({ termUrns: terms, resources: resourcesOf(values) }),
});

const removeTerms = writeTool({
  name: "remove_glossary_terms",
  title: "Remove glossary terms",
  description: "Removes glossary terms from entities, or from a column of datasets.",
  input: { ...labelled, terms: urns("Urns of glossary terms") },
  mutation: ["batchRemoveTerms", "BatchRemoveTermsInput"],
  toInput: ({ terms, ...values }) => ({ termUrns: terms, resources: resourcesOf(values) }),
});

const ownershipType = z.enum(["TECHNICAL_OWNER", "BUSINESS_OWNER", "DATA_STEWARD", "NONE"]);

const addOwners = writeTool({
  name: "add_owners",
  title: "Add owners",
  description: "Adds users or groups as owners of entities. Users and groups must exist.",
  input: {
    ...entities,
    owners: urns("Urns of users and groups"),
    type: ownershipType.default("TECHNICAL_OWNER"),
  },
  mutation: ["batchAddOwners", "BatchAddOwnersInput"],
  toInput: ({ owners, type, urns }) => ({
    owners: owners.map((ownerUrn) => ({ ownerUrn, type })),
    resources: resourcesOf({ urns }),
  }),
});

const removeOwners = writeTool({
  name: "remove_owners",
  title: "Remove owners",
  description:
    "Removes users or groups from the owners of entities, whatever the type of ownership.",
  input: { ...entities, owners: urns("Urns of users and groups") },
  mutation: ["batchRemoveOwners", "BatchRemoveOwnersInput"],
  toInput: ({ owners, urns }) => ({ ownerUrns: owners, resources: resourcesOf({ urns }) }),
});

const setDescription = writeTool({
  name: "set_description",
  title: "Set the description",
  description:
    "Replaces the edited description of an entity, or of a column of a dataset. Markdown.",
  input: { urn, column, description: z.string().max(100_000) },
  mutation: ["updateDescription", "DescriptionUpdateInput"],
  toInput: ({ urn, column, description }) => ({
    description,
    resourceUrn: urn,
    ...columnOf(column),
  }),
});

const setDomain = writeTool({
  name: "set_domain",
  title: "Set the domain",
  description: "Moves entities into a domain; without a domain, out of any.",
  input: { ...entities, domain: urn.optional().describe("Urn of a domain") },
  mutation: ["batchSetDomain", "BatchSetDomainInput"],
  toInput: ({ domain, urns }) => ({ domainUrn: domain, resources: resourcesOf({ urns }) }),
});

const setDeprecation = writeTool({
  name: "set_deprecation",
  title: "Set the deprecation",
  description: "Marks entities as deprecated with a note, or removes the mark.",
  input: { ...entities, deprecated: z.boolean(), note: z.string().max(10_000).default("") },
  mutation: ["batchUpdateDeprecation", "BatchUpdateDeprecationInput"],
  toInput: ({ deprecated, note, urns }) => ({ deprecated, note, resources: resourcesOf({ urns }) }),
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
