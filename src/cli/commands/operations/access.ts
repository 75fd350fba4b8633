/** `annals login`, `whoami` and `open`; `token list` and `revoke`; `policy`. */
import { spawn } from "node:child_process";
import { type AnnalsClient, AnnalsError, createAnnalsClient } from "../../../client/client.ts";
import { loginFile, writeLogin } from "../../../config/login.ts";
import type { PageArguments } from "../../arguments.ts";
import { connectionOf, reach } from "../../client/connection.ts";
import { askGraphql } from "../../client/graphql.ts";
import type { CommonFlags, Session } from "../../client/session.ts";
import { UsageError } from "../../failure.ts";
import { commandOutput, timeOf, yamlOf } from "../../terminal/output.ts";
import { ask } from "../../terminal/prompt.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { confirm, readDocument } from "../catalog/write.ts";

interface Me {
  readonly corpUser: { readonly urn: string };
  readonly platformPrivileges: Readonly<Record<string, boolean>>;
}

const meQuery = `{ me { corpUser { urn } platformPrivileges {
  generatePersonalAccessTokens manageTokens manageServiceAccounts managePolicies manageIdentities
} } }`;

/** Stores the address and the token, once the service has accepted both. */
export async function login(
  server: string | undefined,
  flags: CommonFlags,
  terminal: Terminal,
): Promise<void> {
  const connection = connectionOf({ ...flags, server: server ?? flags.server });
  const address = connection.server;
  await reach(address);
  const given = connection.token ?? (await askToken(address));
  const me = await userOf(createAnnalsClient({ address, token: given }), given);
  writeLogin({ server: address, ...(given !== undefined && { token: given }) });
  const output = commandOutput(flags, terminal);
  const user = me?.corpUser.urn;
  const file = loginFile();
  await output.print({
    value: { server: address, user, file },
    table: `${address}: ${user === undefined ? anonymous : `logged in as ${user}`}`,
  });
  output.terminal.note(`stored in ${file}`);
}

const anonymous = "no token is needed; the service records its own user as the actor";

/** The user of a token. Undefined without one: a service on loopback accepts requests of nobody. */
async function userOf(client: AnnalsClient, token: string | undefined): Promise<Me | undefined> {
  try {
    return (await askGraphql<{ readonly me: Me }>(client, meQuery)).me;
  } catch (error) {
    const isNobody = error instanceof AnnalsError && error.code === "forbidden";
    if (isNobody && token === undefined) return undefined;
    throw error;
  }
}

/** From the terminal, without an echo. Undefined where the service needs none or nothing can be asked. */
async function askToken(address: string): Promise<string | undefined> {
  const { response } = await createAnnalsClient({ address }).POST("/api/graphql", {
    body: { query: "{ me { corpUser { urn } } }" },
  });
  if (response.status !== 401) return undefined;
  if (!process.stdin.isTTY) {
    throw new UsageError(
      `${address} needs a token: name a file with --token-file, or set ANNALS_TOKEN`,
    );
  }
  const token = await ask("Access token: ", { isSecret: true });
  if (token === undefined || token === "") throw new UsageError("no token was given");
  return token;
}

export async function whoami(session: Session): Promise<void> {
  const { server, token } = session.connection;
  const me = await userOf(session.client, token);
  const allowed = Object.entries(me?.platformPrivileges ?? {}).filter(([, may]) => may);
  const privileges = allowed.map(([name]) => name);
  const urn = me?.corpUser.urn;
  const rows = [
    ...[
      `user        ${urn ?? "none: the service accepts requests without a token"}`,
      `server      ${server}`,
    ],
    `token       ${token === undefined ? "none" : "yes"}`,
    `privileges  ${privileges.join(", ") || "none"}`,
  ];
  await session.print({
    value: { urn, server, hasToken: token !== undefined, privileges },
    ...{ urns: urn === undefined ? [] : [urn], table: rows.join("\n") },
  });
}

/** Prints the address of the page, and opens it where there is a desktop. */
export async function openPage(session: Session): Promise<void> {
  const url = `${session.connection.server}/`;
  await session.print({ value: { url }, table: url });
  if (!session.terminal.isInteractive) return;
  const opener = { darwin: "open", win32: "explorer" }[String(process.platform)] ?? "xdg-open";
  const child = spawn(opener, [url], { stdio: "ignore", detached: true });
  child.on("error", () => session.terminal.note("no browser was found: open the address by hand"));
  child.unref();
}

interface Token {
  readonly id: string;
  readonly name: string;
  readonly actorUrn: string;
  readonly ownerUrn: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

export async function listTokens(session: Session, { start, count }: PageArguments): Promise<void> {
  const query = `query($input: ListAccessTokenInput!) { listAccessTokens(input: $input) {
    total tokens { id name actorUrn ownerUrn createdAt expiresAt } } }`;
  const variables = { input: { start, count } };
  const { listAccessTokens: page } = await askGraphql<{
    readonly listAccessTokens: { readonly total: number; readonly tokens: readonly Token[] };
  }>(session.client, query, variables);
  await session.print({
    value: page,
    urns: page.tokens.map(({ actorUrn }) => actorUrn),
    table: {
      heads: ["ID", "NAME", "ACTS FOR", "CREATED", "EXPIRES"],
      rows: page.tokens.map(({ id, name, actorUrn, createdAt, expiresAt }) => [
        ...[id, name, actorUrn, timeOf(createdAt)],
        expiresAt === null ? "never" : timeOf(expiresAt),
      ]),
    },
    none: "there are no tokens",
  });
  const more = page.total - start - page.tokens.length;
  if (more > 0) session.terminal.note(`${more} more; --count shows more`);
}

export async function revokeToken(
  session: Session,
  id: string,
  { yes }: { readonly yes: boolean },
): Promise<void> {
  await confirm(session, `revoke token ${id}`, { yes });
  const query = "mutation($id: String!) { revokeAccessToken(tokenId: $id) }";
  await askGraphql(session.client, query, { id });
  await session.print({ value: { id, revoked: true }, table: `revoked token ${id}` });
}

interface Policy {
  readonly urn: string;
  readonly name: string;
  readonly policyType: string;
  readonly state: string;
  readonly description: string | null;
  readonly privileges: readonly string[];
  readonly editable: boolean;
  readonly resources: {
    readonly filter: {
      readonly criteria: readonly { readonly values: readonly unknown[] }[];
    } | null;
  } | null;
}

const policyFields = `urn name policyType state description privileges editable
  actors { users groups roles allUsers allGroups resourceOwners resourceOwnersTypes }
  resources { type resources allResources filter { criteria { field values { value } condition } } }`;

async function policiesOf(session: Session, query: string | undefined): Promise<readonly Policy[]> {
  const text = `query($input: ListPoliciesInput!) { listPolicies(input: $input) { policies { ${policyFields} } } }`;
  const input = { start: 0, count: 1_000, ...(query !== undefined && { query }) };
  const { listPolicies } = await askGraphql<{
    readonly listPolicies: { readonly policies: readonly Policy[] };
  }>(session.client, text, { input });
  return listPolicies.policies.map(withPlainValues);
}

/** Values of criteria as texts, as the input of a policy has them: {value: "x"} → "x". */
function withPlainValues(policy: Policy): Policy {
  const filter = policy.resources?.filter;
  if (!filter) return policy;
  const criteria = filter.criteria.map((one) => ({
    ...one,
    values: (one.values as readonly { readonly value: string }[]).map(({ value }) => value),
  }));
  return { ...policy, resources: { ...policy.resources, filter: { criteria } } };
}

export async function listPolicies(session: Session, query: string | undefined): Promise<void> {
  const policies = await policiesOf(session, query);
  await session.print({
    value: policies,
    urns: policies.map(({ urn }) => urn),
    table: {
      heads: ["URN", "NAME", "TYPE", "STATE"],
      rows: policies.map(({ urn, name, policyType, state }) => [urn, name, policyType, state]),
    },
    none: "there are no such policies",
  });
}

export async function getPolicy(session: Session, urn: string): Promise<void> {
  const policy = (await policiesOf(session, undefined)).find((one) => one.urn === urn);
  if (policy === undefined) {
    throw new UsageError(`there is no policy "${urn}". List them with annals policy list`);
  }
  await session.print({ value: policy, urns: [urn], table: yamlOf(policy) });
}

/** Creates a policy, or replaces the one with the urn; the document has the form that `get` prints. */
export async function putPolicy(
  session: Session,
  file: string,
  urn: string | undefined,
): Promise<void> {
  const document = await readDocument(file);
  if (typeof document !== "object" || document === null) {
    throw new UsageError(`"${file}" is not a policy: write what annals policy get prints`);
  }
  const {
    urn: _,
    editable: __,
    policyType,
    ...rest
  } = document as Readonly<Record<string, unknown>>;
  const input = { ...(policyType !== undefined && { type: policyType }), ...withoutNulls(rest) };
  const query =
    urn === undefined
      ? "mutation($input: PolicyUpdateInput!) { put: createPolicy(input: $input) }"
      : "mutation($urn: String!, $input: PolicyUpdateInput!) { put: updatePolicy(urn: $urn, input: $input) }";
  const { put } = await askGraphql<{ readonly put: string }>(session.client, query, { urn, input });
  await session.print({ value: { urn: put }, urns: [put], table: `wrote policy ${put}` });
}

/** Members that a response has as null are absent in a request. */
function withoutNulls(value: unknown): object {
  if (typeof value !== "object" || value === null) return {};
  return JSON.parse(JSON.stringify(value, (_, member) => member ?? undefined));
}
