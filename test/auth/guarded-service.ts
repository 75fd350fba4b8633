/** A service with authentication, and helpers to make, change and forge its tokens. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SignJWT } from "jose";
import { asBearer, ask } from "../graphql/graphql-client.ts";
import { type Client, proposal } from "../support/client.ts";
import { tokenOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

export interface GuardedService extends RunningService {
  /** Headers with the admin token. */
  readonly operator: Record<string, string>;
  /** The key that signs the tokens of the service. */
  readonly key: Uint8Array;
}

export async function guardedService(
  flags: Parameters<typeof runningService>[0] = {},
): Promise<GuardedService> {
  const service = await runningService({ auth: "on", builtInEntities: "on", ...flags });
  const keyFile = String(flags.signingKeyFile ?? join(service.directory, "signing.key"));
  const key = readFileSync(keyFile, "utf8").trim();
  return Object.assign(service, {
    operator: tokenOf(service.directory),
    key: Buffer.from(key, "utf8"),
  });
}

/** Writes an aspect as the operator and returns the position of the write. */
export async function writeAsOperator(
  { client, operator }: GuardedService,
  urn: string,
  aspect: string,
  value: unknown,
): Promise<number> {
  const body = { proposal: proposal(urn, aspect, value) };
  const reply = await client.call("POST", "/aspects?action=ingestProposal", body, operator);
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return reply.position ?? 0;
}

/** Grants every user the privilege to poll the topics of changes. */
export const grantPolling = (service: GuardedService): Promise<number> =>
  writeAsOperator(service, "urn:li:dataHubPolicy:polling", "dataHubPolicyInfo", {
    ...{ displayName: "polling", description: "", type: "PLATFORM", state: "ACTIVE" },
    ...{ privileges: ["GET_METADATA_CHANGE_LOG_EVENTS"], actors: { allUsers: true } },
  });

/** The user that the service authenticates with a token, or the status of the rejection. */
export async function whoIs(client: Client, token: string): Promise<string | number> {
  const query = "{ me { corpUser { urn } } }";
  const { status, body } = await ask(client, query, {}, asBearer(token));
  return status === 200 ? body.data.me.corpUser.urn : status;
}

type Part = Readonly<Record<string, unknown>>;

export const encodedPart = (part: Part | string): string =>
  Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");

export function partsOf(token: string): { head: Part; claims: Part; signature: string } {
  const [head = "", claims = "", signature = ""] = token.split(".");
  const read = (part: string): Part => JSON.parse(Buffer.from(part, "base64url").toString());
  return { head: read(head), claims: read(claims), signature };
}

/** Signs claims with any key, and with changes to the header of the token. */
export function resigned(
  token: string,
  change: { readonly head?: Part; readonly claims?: Part; readonly key: Uint8Array },
): Promise<string> {
  const { head, claims } = partsOf(token);
  const alg = String(change.head?.alg ?? head.alg);
  return new SignJWT({ ...claims, ...change.claims })
    .setProtectedHeader({ ...head, ...change.head, alg })
    .sign(change.key);
}
