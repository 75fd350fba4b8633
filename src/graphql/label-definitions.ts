/** The part of the schema that labels entities: tags, terms, owners, domain, texts, state. */
export const labelDefinitions = /* GraphQL */ `
extend type Mutation {
  addTag(input: TagAssociationInput!): Boolean
  addTags(input: AddTagsInput!): Boolean
  batchAddTags(input: BatchAddTagsInput!): Boolean
  removeTag(input: TagAssociationInput!): Boolean
  batchRemoveTags(input: BatchRemoveTagsInput!): Boolean

  addTerm(input: TermAssociationInput!): Boolean
  addTerms(input: AddTermsInput!): Boolean
  batchAddTerms(input: BatchAddTermsInput!): Boolean
  removeTerm(input: TermAssociationInput!): Boolean
  batchRemoveTerms(input: BatchRemoveTermsInput!): Boolean

  addOwner(input: AddOwnerInput!): Boolean
  addOwners(input: AddOwnersInput!): Boolean
  batchAddOwners(input: BatchAddOwnersInput!): Boolean
  removeOwner(input: RemoveOwnerInput!): Boolean
  batchRemoveOwners(input: BatchRemoveOwnersInput!): Boolean

  "In place of any that it has."
  setDomain(entityUrn: String!, domainUrn: String!): Boolean
  unsetDomain(entityUrn: String!): Boolean
  "Without a domain: out of any."
  batchSetDomain(input: BatchSetDomainInput!): Boolean

  "Of an entity, or of a column of a dataset."
  updateDescription(input: DescriptionUpdateInput!): Boolean
  updateDeprecation(input: UpdateDeprecationInput!): Boolean
  batchUpdateDeprecation(input: BatchUpdateDeprecationInput!): Boolean
  "Soft-deleted entities are out of searches, and come back."
  batchUpdateSoftDeleted(input: BatchUpdateSoftDeletedInput!): Boolean
  addLink(input: AddLinkInput!): Boolean
  removeLink(input: RemoveLinkInput!): Boolean
}

enum SubResourceType {
  "A column, named by its field path."
  DATASET_FIELD
}

input ResourceRefInput {
  resourceUrn: String!
  subResourceType: SubResourceType
  subResource: String
}

input TagAssociationInput {
  tagUrn: String!
  resourceUrn: String!
  subResourceType: SubResourceType
  subResource: String
}

input AddTagsInput {
  tagUrns: [String!]!
  resourceUrn: String!
  subResourceType: SubResourceType
  subResource: String
}

input BatchAddTagsInput {
  tagUrns: [String!]!
  resources: [ResourceRefInput!]!
}

input BatchRemoveTagsInput {
  tagUrns: [String!]!
  resources: [ResourceRefInput]!
}

input TermAssociationInput {
  termUrn: String!
  resourceUrn: String!
  subResourceType: SubResourceType
  subResource: String
}

input AddTermsInput {
  termUrns: [String!]!
  resourceUrn: String!
  subResourceType: SubResourceType
  subResource: String
}

input BatchAddTermsInput {
  termUrns: [String!]!
  resources: [ResourceRefInput]!
}

input BatchRemoveTermsInput {
  termUrns: [String!]!
  resources: [ResourceRefInput]!
}

enum OwnerEntityType {
  CORP_USER
  CORP_GROUP
}

enum OwnershipType {
  TECHNICAL_OWNER
  BUSINESS_OWNER
  DATA_STEWARD
  NONE
  CUSTOM
  DATAOWNER
  DEVELOPER
  DELEGATE
  PRODUCER
  CONSUMER
  STAKEHOLDER
}

input OwnerInput {
  ownerUrn: String!
  ownerEntityType: OwnerEntityType
  type: OwnershipType
  ownershipTypeUrn: String
}

input AddOwnerInput {
  ownerUrn: String!
  ownerEntityType: OwnerEntityType
  type: OwnershipType
  ownershipTypeUrn: String
  resourceUrn: String!
}

input AddOwnersInput {
  owners: [OwnerInput!]!
  resourceUrn: String!
}

input BatchAddOwnersInput {
  owners: [OwnerInput!]!
  ownershipTypeUrn: String
  resources: [ResourceRefInput]!
}

input RemoveOwnerInput {
  ownerUrn: String!
  "Only ownership of this type."
  ownershipTypeUrn: String
  resourceUrn: String!
}

input BatchRemoveOwnersInput {
  ownerUrns: [String!]!
  ownershipTypeUrn: String
  resources: [ResourceRefInput]!
}

input BatchSetDomainInput {
  domainUrn: String
  resources: [ResourceRefInput!]!
}

input DescriptionUpdateInput {
  description: String!
  resourceUrn: String!
  subResourceType: SubResourceType
  subResource: String
}

input UpdateDeprecationInput {
  urn: String!
  deprecated: Boolean!
  "Epoch milliseconds."
  decommissionTime: Long
  note: String
  replacement: String
}

input BatchUpdateDeprecationInput {
  deprecated: Boolean!
  decommissionTime: Long
  note: String
  replacement: String
  resources: [ResourceRefInput]!
}

input BatchUpdateSoftDeletedInput {
  urns: [String!]!
  deleted: Boolean!
}

input AddLinkInput {
  linkUrl: String!
  label: String!
  resourceUrn: String!
}

input RemoveLinkInput {
  linkUrl: String!
  resourceUrn: String!
}
`;
