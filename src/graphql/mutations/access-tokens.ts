/** Access tokens: list, look up, create and revoke. rules.ts authorizes each field before. */
import type { TokenRecord } from "../../auth/tokens/access-tokens.ts";
import type { TokenType } from "../../auth/tokens/token-format.ts";
import { CatalogError } from "../../core/errors.ts";
import { parseUrn, withNamespace } from "../../core/urn.ts";
import type { TokenDuration } from "../../lib/token-durations.ts";
import type { InputArgs, Viewer } from "../context.ts";
import { rejectMore } from "../limits.ts";
import { type PageInput, pageOf } from "../queries/pages.ts";
import { byExpiry, type FacetFilter, tokenFilter } from "../queries/token-filter.ts";
import { userOf } from "../queries/users.ts";

const nameCharactersMax = 200;
const descriptionCharactersMax = 2_000;

/** Name of a token that was requested without one, as older clients do. */
const NAMELESS = "made without a name";

export const tokenQueries = { listAccessTokens, getAccessTokenMetadata, getAccessToken };
export const tokenMutations = { createAccessToken, revokeAccessToken };
export const tokenFields = {
  AccessTokenMetadata: {
    owner: ({ ownerUrn }: TokenRecord, _: never, viewer: Viewer) => userOf(ownerUrn, viewer),
    lastUsedAt: ({ urn }: TokenRecord, _: never, { lastUse }: Viewer) => lastUse(urn),
  },
};

const metadataOf = (record: TokenRecord) => ({ ...record, type: "ACCESS_TOKEN" });

interface ListInput extends PageInput {
  readonly filters?: readonly FacetFilter[] | null;
}

async function listAccessTokens({ input }: InputArgs<ListInput>, { tokens, namespace }: Viewer) {
  const { start, count } = pageOf(input);
  const passes = tokenFilter(input.filters ?? [], namespace);
  const found = (await tokens.list()).filter(passes).sort(byExpiry);
  const page = found.slice(start, start + count).map(metadataOf);
  return { start, count, total: found.length, tokens: page };
}

async function getAccessTokenMetadata({ token }: { token: string }, { tokens }: Viewer) {
  const record = await tokens.read(token);
  if (record === undefined)
    throw new CatalogError("not_found", "the token is not a valid access token");
  return metadataOf(record);
}

interface CreateInput {
  readonly type: TokenType;
  readonly actorUrn: string;
  readonly duration: TokenDuration;
  readonly name: string;
  readonly description?: string | null;
}

function getAccessToken({ input }: InputArgs<Omit<CreateInput, "name">>, viewer: Viewer) {
  return createAccessToken({ input: { ...input, name: NAMELESS } }, viewer);
}

async function createAccessToken(
  { input }: InputArgs<CreateInput>,
  { tokens, namespace, actor: owner = "", wrote }: Viewer,
) {
  const { type, duration, description } = input;
  const name = bounded("name", input.name.trim(), nameCharactersMax);
  if (name === "") {
    throw new CatalogError("malformed", "the token has no name", {
      hint: "Send a name that identifies the token in the list of tokens",
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

function bounded(member: string, text: string, max: number): string {
  rejectMore(text.length, max, `${member} has`, "characters", `Send a shorter ${member}`);
  return text;
}

function userUrn(given: string, namespace: string): string {
  const urn = withNamespace(given, namespace);
  const { entityType, id } = parseUrn(urn);
  // Nobody can act for the service's own actors.
  if (entityType === "corpuser" && !id.startsWith("__")) return urn;
  throw new CatalogError(
    "malformed",
    `actorUrn "${given.slice(0, 120)}" is not the urn of a user`,
    {
      hint: `Name a user: urn:${namespace}:corpuser:jdoe`,
    },
  );
}

async function revokeAccessToken(
  { tokenId }: { tokenId: string },
  { tokens, actor = "", wrote }: Viewer,
) {
  try {
    wrote(await tokens.revoke(tokenId, actor));
    return true;
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    // Clients distinguish a missing token by the code of the failure.
    const code = error.code === "not_found" ? "internal" : error.code;
    throw new CatalogError(code, `Failed to revoke access token. ${error.message}`, {
      cause: error,
    });
  }
}
