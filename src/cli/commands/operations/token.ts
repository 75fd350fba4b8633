/**
 * `annals token create`: creates an access token as the root user, with the admin token of the
 * data directory. The token goes to stdout, alone; its id, user and expiry go to stderr.
 */
import { AnnalsError, createAnnalsClient } from "../../../client/client.ts";
import type { Config } from "../../../config/config.ts";
import { CatalogError } from "../../../core/errors.ts";
import type { TokenDuration } from "../../../lib/token-durations.ts";
import { reach } from "../../client/connection.ts";
import { noAnswer } from "../../client/connection-error.ts";
import { askGraphql } from "../../client/graphql.ts";
import { operatorTokenOf } from "../../client/token-file.ts";
import { type ExitCode, exitCodes } from "../../failure.ts";
import type { CommandOutput } from "../../terminal/output.ts";

export interface TokenOptions {
  /** Without a slash at the end. */
  readonly server: string;
  /** Sent to the service; absent: the admin token of the settings. */
  readonly token?: string | undefined;
  readonly name: string;
  readonly description?: string | undefined;
  readonly duration: TokenDuration;
  /** Urn of the user that it acts for; absent: the root user. */
  readonly actor?: string | undefined;
}

const requestMsMax = 30_000;

const query = `mutation($input: CreateAccessTokenInput!) {
  createAccessToken(input: $input) { accessToken metadata { id actorUrn expiresAt } }
}`;

export async function createToken(
  config: Pick<Config, "data" | "operatorTokenFile" | "urnNamespace">,
  options: TokenOptions,
  { terminal, print }: CommandOutput,
): Promise<ExitCode> {
  const { server, token, name, description, duration, actor } = options;
  const actorUrn = actor ?? `urn:${config.urnNamespace}:corpuser:datahub`;
  const input = { type: "PERSONAL", actorUrn, duration, name, description };
  const client = createAnnalsClient({
    ...{ address: server, token: token ?? operatorTokenOf(config) },
    signal: AbortSignal.timeout(requestMsMax),
  });
  await reach(server);
  const answer = await askGraphql<Answer>(client, query, { input }).catch((error: unknown) => {
    throw creationError(server, error);
  });
  const { accessToken, metadata } = answer.createAccessToken;
  const { id, actorUrn: user, expiresAt } = metadata;
  const until =
    expiresAt === null ? "never expires" : `expires ${new Date(expiresAt).toISOString()}`;
  terminal.note(`token ${id} acts for ${user} and ${until}; it is shown this once`);
  const value = { accessToken, id, actorUrn: user, expiresAt };
  await print({ value, table: accessToken, verbatim: true });
  return exitCodes.done;
}

function creationError(server: string, error: unknown): Error {
  if (!(error instanceof AnnalsError) || error.status === 0) return noAnswer(server, error);
  if (error.status >= 500) return error;
  return new CatalogError("invalid", `no token was created: ${error.message}`, { cause: error });
}

interface Answer {
  readonly createAccessToken: {
    readonly accessToken: string;
    readonly metadata: {
      readonly id: string;
      readonly actorUrn: string;
      /** Epoch milliseconds. */
      readonly expiresAt: number | null;
    };
  };
}
