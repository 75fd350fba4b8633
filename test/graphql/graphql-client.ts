/** GraphQL requests of tests, in as few words as they need. */
import type { Client, Reply } from "../support/client.ts";

export const ROOT = "urn:li:corpuser:datahub";

export const asActor = (actor: string) => ({ "X-Service-Actor": actor });
export const asBearer = (token: string) => ({ Authorization: `Bearer ${token}` });

export const ask = (
  client: Client,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
  headers: Record<string, string> = asActor(ROOT),
): Promise<Reply> => client.call("POST", "/api/graphql", { query, variables }, headers);

const CREATE = `mutation($input: CreateAccessTokenInput!) {
  createAccessToken(input: $input) { accessToken metadata { id name description } }
}`;

/** Makes a token, as the root user unless told otherwise. */
export async function makeToken(
  client: Client,
  input: Readonly<Record<string, unknown>> = {},
  headers?: Record<string, string>,
): Promise<{ readonly token: string; readonly id: string }> {
  const whole = { type: "PERSONAL", actorUrn: ROOT, duration: "ONE_HOUR", name: "t", ...input };
  const { status, body } = await ask(client, CREATE, { input: whole }, headers);
  if (status !== 200 || body.errors !== undefined) throw new Error(JSON.stringify(body));
  const { accessToken, metadata } = body.data.createAccessToken;
  return { token: accessToken, id: metadata.id };
}

/** What the answer says went wrong. */
export const faultOf = (reply: Reply) => reply.body.errors?.[0];
