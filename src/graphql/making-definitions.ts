/**
 * The part of the schema that makes and deletes tags, domains, terms and groups, and links
 * versions.
 */
export const makingDefinitions = /* GraphQL */ `
extend type Mutation {
  "Gives the urn. One that is there is refused."
  createTag(input: CreateTagInput!): String
  updateTag(urn: String!, input: TagUpdateInput!): Tag
  setTagColor(urn: String!, colorHex: String!): Boolean
  "With all that refers to it; so do the others that delete."
  deleteTag(urn: String!): Boolean

  createDomain(input: CreateDomainInput!): String
  moveDomain(input: MoveDomainInput!): Boolean
  deleteDomain(urn: String!): Boolean

  createGlossaryTerm(input: CreateGlossaryEntityInput!): String
  createGlossaryNode(input: CreateGlossaryEntityInput!): String
  updateParentNode(input: UpdateParentNodeInput!): Boolean
  deleteGlossaryEntity(urn: String!): Boolean

  "Where tokens are asked for, groups and their members need Manage Users & Groups."
  createGroup(input: CreateGroupInput!): String
  removeGroup(urn: String!): Boolean
  addGroupMembers(input: AddGroupMembersInput!): Boolean
  removeGroupMembers(input: RemoveGroupMembersInput!): Boolean
  "Without a role: of none. Needs Manage Users & Groups where tokens are asked for."
  batchAssignRole(input: BatchAssignRoleInput!): Boolean

  "Of a tag, a domain, a term, a node or a group."
  updateName(input: UpdateNameInput!): Boolean

  "Makes an entity the latest of a version set, which comes to be with its first one."
  linkAssetVersion(input: LinkVersionInput!): VersionSet
  "Takes the latest of a version set out of it."
  unlinkAssetVersion(input: UnlinkVersionInput!): VersionSet

  batchAssignForm(input: BatchAssignFormInput!): Boolean

  "Tells which entities the form is for. Nothing here assigns it to them."
  createDynamicFormAssignment(input: CreateDynamicFormAssignmentInput!): Boolean
}

input CreateTagInput {
  "Made of nothing in particular when absent."
  id: String
  name: String!
  description: String
}

input TagUpdateInput {
  urn: String
  name: String!
  description: String
}

input CreateDomainInput {
  id: String
  name: String!
  description: String
  parentDomain: String
}

input MoveDomainInput {
  "None: to the top."
  parentDomain: String
  resourceUrn: String!
}

input CreateGlossaryEntityInput {
  id: String
  name: String!
  description: String
  parentNode: String
}

input UpdateParentNodeInput {
  parentNode: String
  resourceUrn: String!
}

input CreateGroupInput {
  id: String
  name: String!
  description: String
}

input AddGroupMembersInput {
  groupUrn: String!
  userUrns: [String!]!
}

input RemoveGroupMembersInput {
  groupUrn: String!
  userUrns: [String!]!
}

input BatchAssignRoleInput {
  roleUrn: String
  actors: [String!]!
}

input UpdateNameInput {
  name: String!
  urn: String!
}

input LinkVersionInput {
  versionSet: String!
  linkedEntity: String!
  version: String!
  comment: String
  sourceTimestamp: Long
  sourceCreator: String
}

input UnlinkVersionInput {
  versionSet: String
  unlinkedEntity: String
}

input BatchAssignFormInput {
  formUrn: String!
  entityUrns: [String!]!
}

input CreateDynamicFormAssignmentInput {
  formUrn: String!
  "Any must hold, each all of its own; at least one."
  orFilters: [AndFilterInput!]!
}
`;
