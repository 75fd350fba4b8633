/** The part of the schema about policies: all of it needs the privilege Manage Policies. */
export const policyDefinitions = /* GraphQL */ `
extend type Query {
  "Those that come with the service and those that are stored, by urn."
  listPolicies(input: ListPoliciesInput!): ListPoliciesResult
}

extend type Mutation {
  "Gives the urn."
  createPolicy(input: PolicyUpdateInput!): String
  "Of a policy that comes with the service: in its place, where that may be. Gives the urn."
  updatePolicy(urn: String!, input: PolicyUpdateInput!): String
  deletePolicy(urn: String!): String
}

input ListPoliciesInput {
  start: Int = 0
  "At most 1,000."
  count: Int = 20
  "Part of a name or a description."
  query: String
}

type ListPoliciesResult {
  start: Int!
  count: Int!
  total: Int!
  policies: [Policy!]!
}

type Policy {
  urn: String!
  type: EntityType!
  policyType: PolicyType!
  name: String!
  description: String
  state: PolicyState!
  privileges: [String!]!
  actors: ActorFilter!
  resources: ResourceFilter
  "False: it comes with the service and cannot be replaced."
  editable: Boolean!
}

enum PolicyType {
  PLATFORM
  METADATA
}

enum PolicyState {
  DRAFT
  ACTIVE
  INACTIVE
}

enum PolicyMatchCondition {
  EQUALS
  STARTS_WITH
  NOT_EQUALS
}

type ActorFilter {
  users: [String!]
  groups: [String!]
  roles: [String!]
  allUsers: Boolean
  allGroups: Boolean
  resourceOwners: Boolean
  resourceOwnersTypes: [String!]
}

type ResourceFilter {
  type: String
  resources: [String!]
  allResources: Boolean
  filter: PolicyMatchFilter
  "What may be changed of a resource: only tags that fulfil this come and go."
  privilegeConstraints: PolicyMatchFilter
}

type PolicyMatchFilter {
  criteria: [PolicyMatchCriterion!]
}

type PolicyMatchCriterion {
  field: String!
  values: [String!]!
  condition: PolicyMatchCondition
}

input PolicyUpdateInput {
  type: PolicyType!
  name: String!
  state: PolicyState!
  description: String
  resources: ResourceFilterInput
  privileges: [String!]!
  actors: ActorFilterInput!
}

input ActorFilterInput {
  users: [String!]
  groups: [String!]
  roles: [String!]
  resourceOwners: Boolean!
  resourceOwnersTypes: [String!]
  allUsers: Boolean!
  allGroups: Boolean!
}

input ResourceFilterInput {
  type: String
  resources: [String!]
  allResources: Boolean
  filter: PolicyMatchFilterInput
  privilegeConstraints: PolicyMatchFilterInput
}

input PolicyMatchFilterInput {
  criteria: [PolicyMatchCriterionInput!]
}

input PolicyMatchCriterionInput {
  field: String!
  values: [String!]!
  condition: PolicyMatchCondition = EQUALS
}
`;
