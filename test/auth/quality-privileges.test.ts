/** Mutations of assertions, contracts, operations and settings require DataHub's privileges. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { mutationsOf } from "../graphql/run-mutations.ts";
import { type GuardedService, guardedService, writeAsOperator } from "./guarded-service.ts";

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const [BEDS, ROWS] = [dataset("beds"), dataset("rows")];
const VIEW = "urn:li:dataHubView:all";
const URN = "{ urn }";
const stamp = { time: 1, actor: "urn:li:corpuser:datahub" };

let service: GuardedService;

/** A user with privileges on one dataset, or with platform privileges. */
async function userWith(name: string, privileges: readonly string[], urn?: string) {
  const actorUrn = `urn:li:corpuser:${name}`;
  await writeAsOperator(service, `urn:li:dataHubPolicy:${name}`, "dataHubPolicyInfo", {
    ...{ displayName: name, description: "", state: "ACTIVE", privileges },
    ...{ type: urn === undefined ? "PLATFORM" : "METADATA", actors: { users: [actorUrn] } },
    ...(urn && { resources: { filter: { criteria: [{ field: "URN", values: [urn] }] } } }),
  });
  const { token } = await makeToken(service.client, { actorUrn }, service.operator);
  return mutationsOf(() => service.client, asBearer(token));
}

beforeAll(async () => {
  service = await guardedService({ writeAuthorization: "on" });
  for (const urn of [BEDS, ROWS]) {
    await writeAsOperator(service, urn, "datasetProperties", { name: "beds" });
  }
  await writeAsOperator(service, VIEW, "dataHubViewInfo", {
    ...{ name: "All", type: "GLOBAL", created: stamp, lastModified: stamp },
    definition: { entityTypes: [], filter: { or: [] } },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const assertion = (entityUrn: string, urn?: string) => ({
  ...(urn && { urn }),
  input: { entityUrn, type: "fresh", description: "", platform: { name: "tool" } },
});
const result = (urn: string) => ({ urn, result: { type: "SUCCESS" } });

test("an assertion needs the privilege for the dataset that it is about", async () => {
  const own = await userWith("asserts", ["EDIT_ENTITY_ASSERTIONS"], BEDS);
  const other = await userWith("others", ["EDIT_ENTITY_ASSERTIONS"], ROWS);
  expect(await other.codeOf("upsertCustomAssertion", assertion(BEDS), URN)).toBe(403);
  const { urn } = await own.run("upsertCustomAssertion", assertion(BEDS), URN);
  await own.run("reportAssertionResult", result(urn));
  expect(await other.codeOf("reportAssertionResult", result(urn))).toBe(403);
  // This would move the assertion away from a dataset that the user may not change.
  expect(await other.codeOf("upsertCustomAssertion", assertion(ROWS, urn), URN)).toBe(403);
  expect(await other.codeOf("deleteAssertion", { urn })).toBe(403);
  await own.run("deleteAssertion", { urn });
});

test("a contract needs the privilege for its dataset", async () => {
  const own = await userWith("contracts", ["EDIT_ENTITY_DATA_CONTRACT"], BEDS);
  const other = await userWith("strangers", ["EDIT_ENTITY_DATA_CONTRACT"], ROWS);
  const contract = (entityUrn: string, urn?: string) => ({
    ...(urn && { urn }),
    input: { entityUrn },
  });
  expect(await other.codeOf("upsertDataContract", contract(BEDS), URN)).toBe(403);
  const { urn } = await own.run("upsertDataContract", contract(BEDS), URN);
  expect(await other.codeOf("upsertDataContract", contract(ROWS, urn), URN)).toBe(403);
});

test("an operation needs the privilege for its dataset", async () => {
  const own = await userWith("operates", ["EDIT_ENTITY_OPERATIONS"], BEDS);
  const operation = (urn: string) => ({
    input: { urn, operationType: "INSERT", sourceType: "DATA_PROCESS" },
  });
  await own.run("reportOperation", operation(BEDS));
  expect(await own.codeOf("reportOperation", operation(ROWS))).toBe(403);
});

test("a setting of the catalog needs its own privilege, or the one for all settings", async () => {
  const views = { input: { defaultView: VIEW } };
  const propagation = { input: { docColumnPropagation: false } };
  const ofViews = await userWith("views", ["MANAGE_GLOBAL_VIEWS"]);
  await ofViews.run("updateGlobalViewsSettings", views);
  expect(await ofViews.codeOf("updateDocPropagationSettings", propagation)).toBe(403);
  const ofFeatures = await userWith("features", ["MANAGE_FEATURES"]);
  await ofFeatures.run("updateDocPropagationSettings", propagation);
  expect(await ofFeatures.codeOf("updateGlobalViewsSettings", views)).toBe(403);
  const ofAll = await userWith("settings", ["MANAGE_GLOBAL_SETTINGS"]);
  await ofAll.run("updateGlobalViewsSettings", views);
  await ofAll.run("updateApplicationsSettings", { input: { enabled: true } });
});
