/**
 * The schema, put together of its topics; here are access tokens, as clients of the reference and
 * of the interface know them. Both names of the input of createAccessToken are types, and variables
 * may be declared with either.
 */
import { assertionDefinitions } from "./assertion-definitions.ts";
import { browseDefinitions } from "./browse-definitions.ts";
import { entityDefinitions } from "./entity-definitions.ts";
import { labelDefinitions } from "./label-definitions.ts";
import { makingDefinitions } from "./making-definitions.ts";
import { policyDefinitions } from "./policy-definitions.ts";
import { searchDefinitions } from "./search-definitions.ts";
import { sourceDefinitions } from "./source-definitions.ts";

export const typeDefinitions = (entityTypes: readonly string[]): string =>
  [
    definitions,
    `enum EntityType {\n  ${entityTypes.join("\n  ")}\n}`,
    entityDefinitions(),
    searchDefinitions,
    browseDefinitions,
    labelDefinitions,
    makingDefinitions,
    sourceDefinitions,
    assertionDefinitions,
    policyDefinitions,
  ].join("\n");

const definitions = /* GraphQL */ `
"A whole number of up to 64 bits."
scalar Long

type Query {
  "Who asks."
  me: AuthenticatedUser

  "Access tokens. A filter on actorUrn or ownerUrn with the caller's own urn needs Generate Personal Access Tokens; all others need Manage All Access Tokens."
  listAccessTokens(input: ListAccessTokenInput!): ListAccessTokenResult!

  "What is known of a token. Needs Manage All Access Tokens."
  getAccessTokenMetadata(token: String!): AccessTokenMetadata!

  "Makes a token as createAccessToken does, without a name."
  getAccessToken(input: GetAccessTokenInput!): AccessToken @deprecated(reason: "Use createAccessToken")
}

type Mutation {
  "Makes a token. For the caller's own user it needs Generate Personal Access Tokens, for others Manage All Access Tokens. A variable for the input may be declared as GetAccessTokenInput, too."
  createAccessToken(input: CreateAccessTokenInput!): AccessToken

  "Revokes a token at once. The owner may, and who may Manage All Access Tokens."
  revokeAccessToken(tokenId: String!): Boolean!
}

enum AccessTokenType {
  "Acts for a user."
  PERSONAL
  "Acts for a user that is a service account. Needs Manage Service Accounts."
  SERVICE_ACCOUNT
}

enum AccessTokenDuration {
  ONE_HOUR
  ONE_DAY
  ONE_WEEK
  "30 days."
  ONE_MONTH
  "90 days."
  THREE_MONTHS
  "180 days."
  SIX_MONTHS
  "365 days."
  ONE_YEAR
  NO_EXPIRY
}

input CreateAccessTokenInput {
  type: AccessTokenType!
  "The user that the token acts for."
  actorUrn: String!
  duration: AccessTokenDuration!
  name: String!
  description: String
}

"As getAccessToken takes it. A variable of createAccessToken may be declared as this, too, and then has a name."
input GetAccessTokenInput {
  type: AccessTokenType!
  actorUrn: String!
  duration: AccessTokenDuration!
  name: String
  description: String
}

type AccessToken {
  "The token. It is told this once and kept nowhere."
  accessToken: String!
  metadata: AccessTokenMetadata
}

type AccessTokenMetadata implements Entity {
  urn: String!
  type: EntityType!
  "For revokeAccessToken."
  id: String!
  name: String!
  description: String
  "The user that the token acts for."
  actorUrn: String!
  "The user who made it."
  ownerUrn: String!
  owner: CorpUser
  "Epoch milliseconds."
  createdAt: Long!
  "Epoch milliseconds; null: never."
  expiresAt: Long
  "When it was last used, in epoch milliseconds, to the hour; null: it was not."
  lastUsedAt: Long
}

input ListAccessTokenInput {
  start: Int = 0
  "At most 1,000."
  count: Int = 20
  "All must hold. None: the tokens of all users."
  filters: [FacetFilterInput!]
}

type ListAccessTokenResult {
  start: Int!
  "Size of a page."
  count: Int!
  total: Int!
  "The one that expires last comes first, those that never do at the end."
  tokens: [AccessTokenMetadata!]!
}

input FacetFilterInput {
  "id, name, description, actorUrn, ownerUrn, createdAt or expiresAt."
  field: String!
  "Any of these."
  values: [String!]
  "One more of the values."
  value: String
  negated: Boolean = false
  condition: FilterOperator = EQUAL
}

enum FilterOperator {
  CONTAIN
  EQUAL
  IEQUAL
  IN
  EXISTS
  GREATER_THAN
  GREATER_THAN_OR_EQUAL_TO
  LESS_THAN
  LESS_THAN_OR_EQUAL_TO
  START_WITH
  END_WITH
  DESCENDANTS_INCL
  ANCESTORS_INCL
  RELATED_INCL
}

type AuthenticatedUser {
  corpUser: CorpUser!
  platformPrivileges: PlatformPrivileges!
}

"What the caller may."
type PlatformPrivileges {
  generatePersonalAccessTokens: Boolean!
  manageTokens: Boolean!
  manageServiceAccounts: Boolean!
  managePolicies: Boolean!
  manageIdentities: Boolean!
}

type CorpUserProperties {
  active: Boolean!
  displayName: String
  firstName: String
  lastName: String
  fullName: String
  email: String
  title: String
  manager: CorpUser
  departmentId: Long
  departmentName: String
  countryCode: String
  customProperties: [CustomPropertiesEntry!]
}
`;
