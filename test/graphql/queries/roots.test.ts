/** The queries on a small catalog return their golden answers, and require their privileges. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../../support/running-service.ts";
import { asActor, ask, faultOf, ROOT } from "../graphql-client.ts";
import { queries } from "./root-queries.ts";
import { ada, writeSample } from "./sample.ts";

let service: RunningService;
let position = 0;
beforeAll(async () => {
  service = await runningService();
  position = await writeSample(service.client);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function data(query: string, headers = asActor(ROOT)) {
  const least = { "X-Annals-Min-Position": String(position) };
  const { body } = await ask(service.client, query, {}, { ...headers, ...least });
  expect(body.errors, query).toBeUndefined();
  return body.data;
}

test.each(Object.keys(queries))("queries of %s have their golden answers", async (name) => {
  expect(await data(queries[name] ?? "")).toMatchSnapshot();
});

test("every member of the configuration has a value", async () => {
  const schema = await data(
    `{ __schema { types { name fields { name type { kind ofType { name } } } } } }`,
  );
  const fieldsOf = (typename: string): string =>
    schema.__schema.types
      .find(({ name }: { name: string }) => name === typename)
      .fields.map(({ name }: { name: string }) => name)
      .join(" ");
  const { appConfig, me } = await data(
    `{ appConfig { appVersion featureFlags { ${fieldsOf("FeatureFlagsConfig")} } }
       me { platformPrivileges { ${fieldsOf("PlatformPrivileges")} } } }`,
  );
  expect(appConfig.appVersion).toMatch(/^v\d/);
  expect(appConfig.featureFlags).toMatchObject({ showNavBarRedesign: true, showAcrylInfo: false });
  expect(Object.keys(me.platformPrivileges)).toHaveLength(30);
});

test("queries for administrators are rejected for other users", async () => {
  const rejected = [
    "{ listGroups(input: {}) { total } }",
    "{ listTests(input: {}) { total } }",
    "{ listSecrets(input: {}) { total } }",
    '{ searchUsers(input: {query: "*"}) { total } }',
    "{ listServiceAccounts(input: {}) { total } }",
    `{ debugAccess(userUrn: "${ROOT}") { roles } }`,
    `{ getGrantedPrivileges(input: {actorUrn: "${ROOT}"}) { privileges } }`,
  ];
  for (const query of rejected) {
    const reply = await ask(service.client, query, {}, asActor(ada));
    expect(faultOf(reply)?.extensions.code, query).toBe(403);
  }
});

test("semantic search and a user that is not a service account return errors", async () => {
  const semantic = await ask(
    service.client,
    '{ semanticSearch(input: {type: TAG, query: "x"}) { total } }',
  );
  expect(faultOf(semantic).message).toContain("Semantic search is disabled in this environment");
  const user = await ask(service.client, `{ getServiceAccount(urn: "${ada}") { urn } }`);
  expect(faultOf(user).extensions.code).toBe(400);
});
