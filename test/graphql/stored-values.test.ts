/** Values of aspects that the enums of DataHub's schema lack: they make no field fail. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask } from "./graphql-client.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

async function read(urn: string, selected: string) {
  const query = `query($urn: String!) { entity(urn: $urn) { ${selected} } }`;
  const { body } = await ask(service.client, query, { urn });
  expect(body.errors, JSON.stringify(body.errors)).toBeUndefined();
  return body.data.entity;
}

test("symbols of the model are values of the schema", async () => {
  const urn = "urn:li:domain:harbour";
  await service.client.upsert(urn, "displayProperties", {
    icon: { iconLibrary: "PHOSPHOR", name: "anchor", style: "bold" },
  });
  const selected = "... on Domain { displayProperties { icon { iconLibrary name } } }";
  expect(await read(urn, selected)).toEqual({
    displayProperties: { icon: { iconLibrary: "PHOSPHOR", name: "anchor" } },
  });
});

test("a required enum is UNKNOWN for a text that it lacks", async () => {
  const urn = "urn:li:dataHubPolicy:odd";
  await service.client.upsert(urn, "dataHubPolicyInfo", {
    ...{ displayName: "odd", description: "", type: "NETWORK", state: "PAUSED" },
    ...{ privileges: [], actors: { resourceOwners: false } },
  });
  expect(await read(urn, "... on DataHubPolicy { policyType state name }")).toEqual({
    ...{ policyType: "UNKNOWN", state: "UNKNOWN", name: "odd" },
  });
});
