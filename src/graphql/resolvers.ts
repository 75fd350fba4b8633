/** What the fields answer. Whether they may is judged before, by rules.ts. */
import type { TokenRecord } from "../auth/access-tokens.ts";
import { type Privilege, toGenerateTokens } from "../auth/privileges.ts";
import type { TokenType } from "../auth/token-format.ts";
import { CatalogError } from "../core/errors.ts";
import type { TokenDuration } from "../core/token-durations.ts";
import { parseUrn, withNamespace } from "../core/urn.ts";
import { assertionMutations, eventFields } from "./assertions.ts";
import { browsing } from "./browsing.ts";
import { entityFields } from "./entity-fields.ts";
import { entityQueries } from "./entity-queries.ts";
import { entityOf } from "./entity-source.ts";
import { sourceFields, sourceMutations, sourceQueries } from "./ingestion-sources.ts";
import { labelling } from "./labelling.ts";
import { making } from "./making.ts";
import { policyMutations, policyQueries } from "./policies.ts";
import { searching } from "./searching.ts";
import { byExpiry, type FacetFilter, tokenFilter } from "./token-filter.ts";
import type { Resolver, Viewer } from "./viewer.ts";

const nameCharactersMax = 200;
const descriptionCharactersMax = 2_000;
const pageMax = 1_000;

/** The name of a token that was asked for without one, as older clients do. */
const NAMELESS = "made without a name";

const metadataOf = (record: TokenRecord) => ({ ...record, type: "ACCESS_TOKEN" });

function userOf(urn: string, { entities }: Viewer) {
  return {
    ...entityOf(urn),
    properties: async () => (await entities.find(urn))?.corpUserInfo,
  };
}

async function me(_: never, __: never, viewer: Viewer) {
  const { authority, actor = "" } = viewer;
  const may = (privilege: Privilege) => () => authority.allows(actor, [[privilege]]);
  return {
    corpUser: userOf(actor, viewer),
    platformPrivileges: {
      generatePersonalAccessTokens: () => authority.allows(actor, toGenerateTokens()),
      manageTokens: may("MANAGE_ACCESS_TOKENS"),
      manageServiceAccounts: may("MANAGE_SERVICE_ACCOUNTS"),
      managePolicies: may("MANAGE_POLICIES"),
      manageIdentities: may("MANAGE_USERS_AND_GROUPS"),
    },
  };
}

interface ListInput {
  readonly start: number | null;
  readonly count: number | null;
  readonly filters?: readonly FacetFilter[] | null;
}

async function listAccessTokens(
  _: never,
  { input }: { input: ListInput },
  { tokens, namespace }: Viewer,
) {
  const start = input.start ?? 0;
  const count = input.count ?? 20;
  if (start < 0 || count < 0 || count > pageMax) {
    throw new CatalogError("malformed", `start is ${start} and count is ${count}`, {
      hint: `Send 0 or more, and a count of at most ${pageMax}`,
    });
  }
  const passes = tokenFilter(input.filters ?? [], namespace);
  const found = (await tokens.list()).filter(passes).sort(byExpiry);
  const page = found.slice(start, start + count).map(metadataOf);
  return { start, count, total: found.length, tokens: page };
}

async function getAccessTokenMetadata(_: never, { token }: { token: string }, { tokens }: Viewer) {
  const record = await tokens.read(token);
  if (record === undefined) throw new CatalogError("not_found", "this is no valid access token");
  return metadataOf(record);
}

interface CreateInput {
  readonly type: TokenType;
  readonly actorUrn: string;
  readonly duration: TokenDuration;
  readonly name: string;
  readonly description?: string | null;
}

const getAccessToken = (
  _: never,
  { input }: { input: Omit<CreateInput, "name"> },
  viewer: Viewer,
) => createAccessToken(_, { input: { ...input, name: NAMELESS } }, viewer);

async function createAccessToken(
  _: never,
  { input }: { input: CreateInput },
  { tokens, namespace, actor: owner = "", wrote }: Viewer,
) {
  const { type, duration, description } = input;
  const name = bounded("name", input.name.trim(), nameCharactersMax);
  if (name === "") {
    throw new CatalogError("malformed", "the token has no name", {
      hint: "Send a name by which you know it when you revoke it",
    });
  }
  const { token, record, position } = await tokens.create(
    {
      type,
      actor: userUrn(input.actorUrn, namespace),
      duration,
      name,
      description:
        description === null || description === undefined
          ? undefined
          : bounded("description", description, descriptionCharactersMax),
    },
    owner,
  );
  wrote(position);
  return { accessToken: token, metadata: metadataOf(record) };
}

function bounded(member: string, given: string, max: number): string {
  if (given.length <= max) return given;
  throw new CatalogError(
    "malformed",
    `${member} has ${given.length} characters of at most ${max}`,
    {
      hint: "Send a shorter one",
    },
  );
}

function userUrn(given: string, namespace: string): string {
  const urn = withNamespace(given, namespace);
  const { entityType, id } = parseUrn(urn);
  // The service's own actors are no users: nobody can act for them.
  if (entityType === "corpuser" && !id.startsWith("__")) return urn;
  throw new CatalogError("malformed", `actorUrn "${given.slice(0, 120)}" is no user`, {
    hint: `Name a user: urn:${namespace}:corpuser:jdoe`,
  });
}

async function revokeAccessToken(
  _: never,
  { tokenId }: { tokenId: string },
  { tokens, actor = "", wrote }: Viewer,
) {
  try {
    wrote(await tokens.revoke(tokenId, actor));
    return true;
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    // Clients know what is not there any more by the code of a failure.
    const code = error.code === "not_found" ? "internal" : error.code;
    throw new CatalogError(code, `Failed to revoke access token. ${error.message}`, {
      cause: error,
    });
  }
}

const tokenQueries = { me, listAccessTokens, getAccessTokenMetadata, getAccessToken };

type Resolvers = Readonly<Record<string, Readonly<Record<string, Resolver>>>>;

const { Assertion, Dataset, ...otherEntities } = entityFields;

export const resolvers: Resolvers = {
  Query: {
    ...tokenQueries,
    ...searching,
    ...browsing,
    ...entityQueries,
    ...sourceQueries,
    ...policyQueries,
  },
  Mutation: {
    ...{ createAccessToken, revokeAccessToken },
    ...{ ...labelling, ...making, ...sourceMutations, ...assertionMutations, ...policyMutations },
  },
  ...otherEntities,
  Assertion: { ...Assertion, ...eventFields.Assertion } as Resolvers[string],
  Dataset: { ...Dataset, ...eventFields.Dataset } as Resolvers[string],
  ...sourceFields,
  AccessTokenMetadata: {
    owner: ({ ownerUrn }: TokenRecord, _: never, viewer: Viewer) => userOf(ownerUrn, viewer),
    lastUsedAt: ({ urn }: TokenRecord, _: never, { lastUse }: Viewer) => lastUse(urn),
  },
};
