/**
 * Tokens are returned once, and keys stay in their files. The test searches everything that the
 * service wrote and returned, at the most verbose log level.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asBearer, ask, makeToken } from "../graphql/graphql-client.ts";
import { createClient } from "../support/client.ts";
import { tokenOf } from "../support/operator.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test("no token or key is in the log, the views, the service's own log or its responses", async () => {
  using directory = temporaryDirectory();
  const env = { ANNALS_LOG_LEVEL: "trace" };
  await using service = await startService(directory.path, { args: ["--auth", "on"], env });
  const client = createClient(service.address);
  const operator = tokenOf(directory.path);
  const { token, id } = await makeToken(client, { name: "secret" }, operator);
  const key = readFileSync(join(directory.path, "signing.key"), "utf8").trim();
  const secrets = [token, token.split(".")[2] ?? "", key, operator.Authorization?.slice(7) ?? ""];

  // Requests whose responses or records might contain a token.
  const texts: string[] = [];
  const collect = async (path: string, body: unknown, headers: Record<string, string>) => {
    texts.push(JSON.stringify((await client.call("POST", path, body, headers)).body));
  };
  const list = "{ listAccessTokens(input: {}) { tokens { id name description } } }";
  await collect("/api/graphql", { query: list }, asBearer(token));
  await collect("/api/graphql", { query: list }, asBearer(`${token}x`));
  await collect("/api/graphql", "{", asBearer(token));
  await collect("/operations?action=getIndexSizes", {}, { Authorization: `Basic ${token}` });
  await collect("/operations?action=getIndexSizes", {}, operator);
  await collect("/entitiesV2/nothing", {}, asBearer(token));
  const forged = { "X-DataHub-Actor": "otto", ...asBearer(token) };
  await collect("/aspects?action=ingestProposal", { proposal: {} }, forged);
  for (const path of [`/entitiesV2/urn:li:dataHubAccessToken:${id}`, "/config", "/openapi.json"]) {
    texts.push(JSON.stringify((await client.call("GET", path, undefined, asBearer(token))).body));
  }
  // Tokens in the wrong places.
  for (const misplaced of [token, operator.Authorization?.slice(7) ?? ""]) {
    await ask(client, `mutation { revokeAccessToken(tokenId: "${misplaced}") }`, {}, operator);
    await client.call("GET", `/entitiesV2/x?access_token=${misplaced}`, undefined, {});
    await client.call("POST", "/operations?action=getJob", {}, { Authorization: misplaced });
    await client.call("GET", "/config", undefined, { "X-DataHub-Actor": misplaced });
  }
  await ask(client, `mutation { revokeAccessToken(tokenId: "${id}") }`, {}, operator);
  await collect("/api/graphql", { query: list }, asBearer(token));
  texts.push((await client.call("GET", "/metrics", undefined, operator)).body);
  expect(texts.at(-1)).toContain("annals_");
  await collect("/operations?action=listAuditEvents", { count: 1000 }, operator);
  expect(await service.stop()).toBe(0);

  texts.push(service.stderr());
  expect(service.stderr()).toContain("token refused");
  const secretFiles = ["signing.key", "operator.token"];
  for (const name of readdirSync(directory.path)) {
    const path = join(directory.path, name);
    if (secretFiles.includes(name)) expect(statSync(path).mode & 0o777).toBe(0o600);
    else texts.push(readFileSync(path, "latin1"));
  }
  expect(texts.join("\n")).toContain(id);
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(40);
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  }
});
