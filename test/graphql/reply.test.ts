/** What a GraphQL answer is on the wire: as the documentation has it, and with the log's position. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { logHead } from "../support/log-head.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { asActor, ask, faultOf, makeToken, ROOT } from "./graphql-client.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

interface DocumentedHeader {
  readonly in: string;
  readonly name: string;
  readonly example?: string;
}

test("the documented example works on a new catalog as documented", async () => {
  const { client } = service;
  const { post } = (await client.get("/openapi.json")).body.paths["/api/graphql"];
  const { example: body } = post.requestBody.content["application/json"];
  const headers = post.parameters.flatMap(({ in: place, name, example }: DocumentedHeader) =>
    place === "header" && example !== undefined ? [[name, example]] : [],
  );
  const reply = await client.call("POST", "/api/graphql", body, Object.fromEntries(headers));
  expect(reply.body).toEqual(post.responses[200].content["application/json"].example);

  const page = (await client.get("/restli/docs")).body as string;
  const call = page.slice(page.indexOf("/api/graphql' "));
  const [, actor = ""] = /-H 'X-Service-Actor: ([^']+)'/.exec(call.slice(0, 300)) ?? [];
  expect((await ask(client, body.query, body.variables, asActor(actor))).body).toEqual(reply.body);
});

/** The audit trail is written behind answers, so that the log may go on after what they tell. */
async function lastChange(client: RunningService["client"]): Promise<number> {
  const { body } = await client.get("/changes?from=start&limit=1000");
  return body.changes.at(-1).position;
}

const revoke = (id: string) => `revokeAccessToken(tokenId: "${id}")`;

test("responses carry a position: that of the write for a mutation, that of the views for a query", async () => {
  const { client } = service;
  const input = `{type: PERSONAL, actorUrn: "${ROOT}", duration: ONE_HOUR, name: "x"}`;
  const create = `createAccessToken(input: ${input}) { accessToken metadata { id } }`;
  const begun = await logHead(client);
  const made = await ask(client, `mutation { ${create} }`);
  expect(made.position).toBe(await lastChange(client));
  expect(made.position).toBeGreaterThan(begun);

  const { id } = made.body.data.createAccessToken.metadata;
  const gone = await ask(client, `mutation { ${revoke(id)} }`);
  expect(gone.body.data).toEqual({ revokeAccessToken: true });
  expect(gone.position).toBe(await lastChange(client));
  expect(gone.position).toBeGreaterThan(Number(made.position));

  const several = await ask(client, `mutation { a: ${create} b: ${create} }`);
  expect(several.position).toBe(await lastChange(client));

  const again = await ask(client, `mutation { ${revoke(id)} }`);
  expect(faultOf(again).message).toContain("Failed to revoke access token");
  const asked = await ask(client, "{ me { corpUser { urn } } }");
  const head = await logHead(client);
  for (const { position = -1 } of [again, asked]) {
    expect(position).toBeGreaterThanOrEqual(0);
    expect(position).toBeLessThanOrEqual(head);
  }
});

test("a request whose second mutation fails returns the position of the first", async () => {
  const { client } = service;
  const { id } = await makeToken(client);
  const reply = await ask(client, `mutation { a: ${revoke(id)} b: ${revoke("another")} }`);
  expect(faultOf(reply).path).toEqual(["b"]);
  expect(reply.position).toBe(await lastChange(client));
});

test("a subscription is answered with an error", async () => {
  const { client } = service;
  for (const body of [
    { query: "subscription { a }" },
    { query: "subscription a { a } query b { __typename }", operationName: "a" },
  ]) {
    const reply = await client.call("POST", "/api/graphql", body);
    expect(reply).toMatchObject({ status: 200, body: { data: null } });
    expect(faultOf(reply).message).toContain("no subscriptions");
  }
});

test("mutations reject requests with conditions", async () => {
  const { client } = service;
  for (const name of ["If-Version-Match", "If-Unmodified-Since", "If-None-Match"]) {
    const conditions = { ...asActor(ROOT), [name]: "1" };
    const { status, body } = await ask(client, `mutation { ${revoke("x")} }`, {}, conditions);
    expect({ status, ...body }).toMatchObject({ status: 400, code: "malformed" });
    expect(body.message).toContain(name);
    const { body: read } = await ask(client, "{ __typename }", {}, conditions);
    expect(read.data).toEqual({ __typename: "Query" });
  }
});

test("mutations reject requests with an Idempotency-Key", async () => {
  const { client } = service;
  const key = { ...asActor(ROOT), "Idempotency-Key": "k-1" };
  const { status, body } = await ask(client, `mutation { ${revoke("x")} }`, {}, key);
  expect({ status, ...body }).toMatchObject({ status: 400, code: "malformed" });
  expect(body.message).toContain("Idempotency-Key");
  expect((await ask(client, "{ __typename }", {}, key)).body.data).toEqual({ __typename: "Query" });
});

test("errors of large variables do not repeat the variables", async () => {
  const unknown = Array.from({ length: 20_000 }, (_, n) => [`unknown_${n}`, 1]);
  const query =
    "query($input: SearchAcrossEntitiesInput!) { searchAcrossEntities(input: $input) { total } }";
  const input = { query: "*", ...Object.fromEntries(unknown) };
  const { body } = await ask(service.client, query, { input });
  expect(body.errors[0].message).toMatch(
    /^Variable "\$input" got invalid value .*….*Field "unknown_0" is not defined/,
  );
  expect(JSON.stringify(body).length).toBeLessThan(30_000);
});

test("errors of many fields do not repeat a long argument whole", async () => {
  const fields = Array.from({ length: 20 }, (_, n) => `f${n}: updateName(input: $input)`);
  const query = `mutation($input: UpdateNameInput!) { ${fields.join(" ")} }`;
  const input = { urn: "urn:li:dataset:x", name: "x".repeat(200_000) };
  const { body } = await ask(service.client, query, { input });
  expect(body.errors).toHaveLength(20);
  expect(body.errors[0].message).toMatch(
    /cannot be renamed to "x+….*Entities of type .* can be renamed/,
  );
  expect(JSON.stringify(body).length).toBeLessThan(60_000);
});
