/** Writes: labels and texts through GraphQL, whole aspects as proposals. */
import { ApiError, mutateGraphql, send } from "./http.ts";
import type { JsonObject } from "./json.ts";
import { typeOf } from "./urn.ts";

/** A column of a dataset, or the entity itself. */
interface Target {
  readonly urn: string;
  readonly column?: string | undefined;
}

const resourceOf = ({ urn, column }: Target) => ({
  resourceUrn: urn,
  ...(column === undefined ? {} : { subResourceType: "DATASET_FIELD", subResource: column }),
});

export const addTag = (target: Target, tagUrn: string): Promise<unknown> =>
  mutateGraphql("mutation ($input: TagAssociationInput!) { addTag(input: $input) }", {
    input: { tagUrn, ...resourceOf(target) },
  });

export const removeTag = (target: Target, tagUrn: string): Promise<unknown> =>
  mutateGraphql("mutation ($input: TagAssociationInput!) { removeTag(input: $input) }", {
    input: { tagUrn, ...resourceOf(target) },
  });

export const addTerm = (target: Target, termUrn: string): Promise<unknown> =>
  mutateGraphql("mutation ($input: TermAssociationInput!) { addTerm(input: $input) }", {
    input: { termUrn, ...resourceOf(target) },
  });

export const removeTerm = (target: Target, termUrn: string): Promise<unknown> =>
  mutateGraphql("mutation ($input: TermAssociationInput!) { removeTerm(input: $input) }", {
    input: { termUrn, ...resourceOf(target) },
  });

export const addOwner = (
  urn: string,
  ownerUrn: string,
  ownershipTypeUrn: string | undefined,
): Promise<unknown> =>
  mutateGraphql("mutation ($input: AddOwnerInput!) { addOwner(input: $input) }", {
    input: {
      ownerUrn,
      ownershipTypeUrn,
      ownerEntityType: typeOf(ownerUrn) === "corpGroup" ? "CORP_GROUP" : "CORP_USER",
      resourceUrn: urn,
    },
  });

export const removeOwner = (urn: string, ownerUrn: string): Promise<unknown> =>
  mutateGraphql("mutation ($input: RemoveOwnerInput!) { removeOwner(input: $input) }", {
    input: { ownerUrn, resourceUrn: urn },
  });

export const setDomain = (entityUrn: string, domainUrn: string): Promise<unknown> =>
  mutateGraphql(
    "mutation ($entityUrn: String!, $domainUrn: String!) { setDomain(entityUrn: $entityUrn, domainUrn: $domainUrn) }",
    { entityUrn, domainUrn },
  );

export const unsetDomain = (entityUrn: string): Promise<unknown> =>
  mutateGraphql("mutation ($entityUrn: String!) { unsetDomain(entityUrn: $entityUrn) }", {
    entityUrn,
  });

/** The description of a document is its text. */
export const updateDescription = (target: Target, description: string): Promise<unknown> =>
  typeOf(target.urn) === "document"
    ? mutateGraphql(
        "mutation ($input: UpdateDocumentContentsInput!) { updateDocumentContents(input: $input) }",
        { input: { urn: target.urn, contents: { text: description } } },
      )
    : mutateGraphql(
        "mutation ($input: DescriptionUpdateInput!) { updateDescription(input: $input) }",
        { input: { description, ...resourceOf(target) } },
      );

export const updateDeprecation = (
  urn: string,
  deprecated: boolean,
  note: string,
): Promise<unknown> =>
  mutateGraphql("mutation ($input: UpdateDeprecationInput!) { updateDeprecation(input: $input) }", {
    input: { urn, deprecated, note },
  });

export const setRemoved = (urn: string, deleted: boolean): Promise<unknown> =>
  mutateGraphql(
    "mutation ($input: BatchUpdateSoftDeletedInput!) { batchUpdateSoftDeleted(input: $input) }",
    { input: { urns: [urn], deleted } },
  );

export const removeLink = (urn: string, linkUrl: string): Promise<unknown> =>
  mutateGraphql("mutation ($input: RemoveLinkInput!) { removeLink(input: $input) }", {
    input: { linkUrl, resourceUrn: urn },
  });

export const addLink = (urn: string, linkUrl: string, label: string): Promise<unknown> =>
  mutateGraphql("mutation ($input: AddLinkInput!) { addLink(input: $input) }", {
    input: { linkUrl, label, resourceUrn: urn },
  });

export const createTag = async (name: string): Promise<string> =>
  (
    await mutateGraphql<{ createTag: string }>(
      "mutation ($input: CreateTagInput!) { createTag(input: $input) }",
      { input: { name, id: name.replaceAll(/[^\p{L}\p{N}_.-]/gu, "") || undefined } },
    )
  ).createTag;

export const createDomain = async (name: string, parentDomain?: string): Promise<string> =>
  (
    await mutateGraphql<{ createDomain: string }>(
      "mutation ($input: CreateDomainInput!) { createDomain(input: $input) }",
      { input: { name, parentDomain } },
    )
  ).createDomain;

export const createTerm = async (name: string, parentNode?: string): Promise<string> =>
  (
    await mutateGraphql<{ createGlossaryTerm: string }>(
      "mutation ($input: CreateGlossaryEntityInput!) { createGlossaryTerm(input: $input) }",
      { input: { name, parentNode } },
    )
  ).createGlossaryTerm;

export const createNode = async (name: string, parentNode?: string): Promise<string> =>
  (
    await mutateGraphql<{ createGlossaryNode: string }>(
      "mutation ($input: CreateGlossaryEntityInput!) { createGlossaryNode(input: $input) }",
      { input: { name, parentNode } },
    )
  ).createGlossaryNode;

/** GraphQL has no mutation for data products: their aspects are written in one batch. */
export async function createDataProduct(name: string, domainUrn: string): Promise<string> {
  const id = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const urn = `urn:li:dataProduct:${id}`;
  const aspects: readonly (readonly [string, JsonObject])[] = [
    ["dataProductProperties", { name }],
    ["domains", { domains: [domainUrn] }],
  ];
  const proposals = aspects.map(([aspect, value]) => proposalBody(urn, aspect, value).proposal);
  await send("/aspects?action=ingestProposalBatch", { body: { proposals } });
  return urn;
}

export const setIncidentState = (urn: string, state: "ACTIVE" | "RESOLVED"): Promise<unknown> =>
  mutateGraphql(
    "mutation ($urn: String!, $input: IncidentStatusInput!) { updateIncidentStatus(urn: $urn, input: $input) }",
    { urn, input: { state } },
  );

export const addMembers = (groupUrn: string, userUrns: readonly string[]): Promise<unknown> =>
  mutateGraphql("mutation ($input: AddGroupMembersInput!) { addGroupMembers(input: $input) }", {
    input: { groupUrn, userUrns },
  });

export const removeMembers = (groupUrn: string, userUrns: readonly string[]): Promise<unknown> =>
  mutateGraphql(
    "mutation ($input: RemoveGroupMembersInput!) { removeGroupMembers(input: $input) }",
    {
      input: { groupUrn, userUrns },
    },
  );

export const createGroup = async (name: string): Promise<string> =>
  (
    await mutateGraphql<{ createGroup: string }>(
      "mutation ($input: CreateGroupInput!) { createGroup(input: $input) }",
      { input: { name } },
    )
  ).createGroup;

/** The body of a proposal that replaces an aspect. `version` makes it fail if another write came first. */
export const proposalBody = (
  urn: string,
  aspectName: string,
  value: JsonObject,
  version?: string,
): JsonObject => ({
  proposal: {
    entityType: typeOf(urn),
    entityUrn: urn,
    changeType: "UPSERT",
    aspectName,
    aspect: { contentType: "application/json", value: JSON.stringify(value) },
    ...(version === undefined ? {} : { headers: { "If-Version-Match": version } }),
  },
});

/** Replaces an aspect, and returns the position of the write. `version`: as in `proposalBody`. */
export async function writeAspect(
  urn: string,
  aspectName: string,
  value: JsonObject,
  version?: string,
): Promise<number> {
  const body = proposalBody(urn, aspectName, value, version);
  try {
    return (await send("/aspects?action=ingestProposal", { body })).position;
  } catch (error) {
    throw explained(error);
  }
}

/** Says what to do where another write came first. */
const explained = (error: unknown): unknown =>
  error instanceof ApiError && error.failedCondition
    ? new ApiError(
        `Somebody else wrote this aspect meanwhile. Reload the page, then edit again. ${error.message}`,
        error.status,
        error.code,
        true,
      )
    : error;

/** A value of a structured property. */
export type PropertyValue = { readonly string: string } | { readonly double: number };

/** Sets the values of a structured property; none removes it. Its other properties do not change. */
export async function setStructuredProperty(
  urn: string,
  propertyUrn: string,
  values: readonly PropertyValue[],
): Promise<number> {
  const path = `/properties/${propertyUrn.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const operation =
    values.length === 0
      ? { op: "remove", path }
      : { op: "add", path, value: { propertyUrn, values } };
  const proposal = {
    entityType: typeOf(urn),
    entityUrn: urn,
    changeType: "PATCH",
    aspectName: "structuredProperties",
    aspect: { contentType: "application/json-patch+json", value: JSON.stringify([operation]) },
  };
  return (await send("/aspects?action=ingestProposal", { body: { proposal } })).position;
}

export async function deleteAspect(urn: string, aspectName: string): Promise<number> {
  const proposal = {
    entityType: typeOf(urn),
    entityUrn: urn,
    changeType: "DELETE",
    aspectName,
  };
  return (await send("/aspects?action=ingestProposal", { body: { proposal } })).position;
}
