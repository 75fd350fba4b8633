/**
 * `annals token create`: asks a running service for an access token, as the root user, by the token
 * of the service's data directory. The token goes to stdout, alone; what it is, to stderr.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { CatalogError } from "../core/errors.ts";
import type { TokenDuration } from "../core/token-durations.ts";
import { type ExitCode, exitCodes } from "./failure.ts";
import { noAnswer } from "./no-answer.ts";
import type { Terminal } from "./terminal.ts";

export interface TokenOptions {
  /** Without a slash at the end. */
  readonly server: string;
  /** Sent to the service; absent: the operator's token of the settings. */
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
  { terminal }: { readonly terminal: Terminal },
): Promise<ExitCode> {
  const { server, token, name, description, duration, actor } = options;
  const actorUrn = actor ?? `urn:${config.urnNamespace}:corpuser:datahub`;
  const input = { type: "PERSONAL", actorUrn, duration, name, description };
  const answer = await ask(server, token ?? operatorTokenOf(config), {
    query,
    variables: { input },
  });
  const { accessToken, metadata } = answer;
  const until =
    metadata.expiresAt === null ? "never expires" : `expires ${isoTime(metadata.expiresAt)}`;
  terminal.tell(
    `token ${metadata.id} acts for ${metadata.actorUrn} and ${until}; it is shown this once`,
  );
  await terminal.print(accessToken);
  return exitCodes.done;
}

const isoTime = (millis: number): string => new Date(millis).toISOString();

/** The token that operations are asked with, as the settings say where it is. */
export function operatorTokenOf({
  data,
  operatorTokenFile,
}: Pick<Config, "data" | "operatorTokenFile">): string {
  const file = operatorTokenFile === "" ? join(data, "operator.token") : operatorTokenFile;
  return tokenIn(file, "Name the data directory of the service with --data");
}

/**
 * The token that a file holds. Throws `invalid` where it holds anything else, which is never told: it
 * may be a secret all the same.
 */
export function tokenIn(file: string, hint: string): string {
  const text = contentOf(file, hint);
  if (text === "") throw new CatalogError("invalid", `the token file "${file}" is empty`, { hint });
  if (TOKEN.test(text)) return text;
  throw new CatalogError("invalid", `the file "${file}" does not hold one token alone`, {
    hint: `A token is one line of letters, digits and signs without blanks: write nothing else into the file. ${hint}`,
  });
}

/** What a header takes after "Bearer ". */
const TOKEN = /^[\x21-\x7e]+$/;

function contentOf(file: string, hint: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new CatalogError("invalid", `cannot read the token in "${file}"`, {
      hint: `${(cause as Error).message}. ${hint}`,
      cause,
    });
  }
}

interface Made {
  readonly accessToken: string;
  readonly metadata: {
    readonly id: string;
    readonly actorUrn: string;
    readonly expiresAt: number | null;
  };
}

interface Answer {
  readonly message?: string;
  readonly errors?: readonly { readonly message: string }[];
  readonly data?: { readonly createAccessToken: Made | null } | null;
}

async function ask(server: string, token: string, body: object): Promise<Made> {
  const response = await fetch(`${server}/api/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(requestMsMax),
  }).catch((cause: unknown) => {
    throw noAnswer(server, cause);
  });
  const answer = (await response.json().catch(() => undefined)) as Answer | undefined;
  const made = answer?.data?.createAccessToken;
  if (made) return made;
  const strange = `status ${response.status}, which no catalog gives`;
  const reason = answer?.errors?.[0]?.message ?? answer?.message ?? strange;
  throw new CatalogError("invalid", `no token was made: ${reason}`);
}
