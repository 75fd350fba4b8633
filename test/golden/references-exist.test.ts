/**
 * Aspects that refer to other entities, over HTTP: the entities of `UrnValidation` exist or are created
 * in the same request, and DataHub's rules about stages, versions, settings, prompts and names hold.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const ingest = (...proposals: readonly object[]) =>
  service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
const property = (id: string) => `urn:li:structuredProperty:${id}`;
const definition = (id: string, more: object = {}) =>
  proposal(property(id), "propertyDefinition", {
    qualifiedName: id,
    valueType: "urn:li:dataType:datahub.string",
    entityTypes: ["urn:li:entityType:datahub.dataset"],
    ...more,
  });
let tables = 0;
const table = () => `urn:li:dataset:(urn:li:dataPlatform:hive,refs.t${++tables},PROD)`;

async function rejected(says: string, ...proposals: readonly object[]) {
  const reply = await ingest(...proposals);
  expect(reply, says).toMatchObject({ status: 422, body: { code: "invalid" } });
  expect(reply.body.message).toContain(says);
}
async function accepted(...proposals: readonly object[]) {
  const reply = await ingest(...proposals);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
}

describe("a property definition names data types, entity types and platforms that exist", () => {
  const type = "urn:li:dataType:acme.grade";

  test("built-in types exist", () => accepted(definition("exist.one")));

  test("an unknown type is rejected with its path, and nothing is written", async () => {
    await rejected("ERROR :: /valueType", definition("exist.two", { valueType: type }));
    await rejected(
      "ERROR :: /entityTypes/0",
      definition("exist.two", { entityTypes: ["urn:li:entityType:acme.oven"] }),
    );
    await rejected(
      "ERROR :: /allowedPlatforms/0",
      definition("exist.two", { allowedPlatforms: ["urn:li:dataPlatform:never-heard-of"] }),
    );
    const patch = [{ op: "add", path: "/valueType", value: type }];
    await rejected(
      "ERROR :: /valueType",
      proposal(property("exist.one"), "propertyDefinition", patch, { changeType: "PATCH" }),
    );
    const urn = property("exist.two");
    const exists = await service.client.call("POST", "/entities?action=exists", { urn });
    expect(exists.body.value).toBe(false);
  });

  test("a type that the request creates exists, whatever the order", async () => {
    const info = { displayName: "Grade", qualifiedName: "acme.grade" };
    await accepted(
      definition("exist.three", { valueType: type }),
      proposal(type, "dataTypeInfo", info),
    );
    await accepted(definition("exist.four", { valueType: type }));
  });

  test("an older value may be written again after its type was deleted", async () => {
    await service.client.call("POST", "/entities?action=delete", { urn: type });
    await accepted(definition("exist.four", { valueType: type }));
    await rejected("/valueType", definition("exist.five", { valueType: type }));
    const restated = { ...definition("exist.five", { valueType: type }), changeType: "RESTATE" };
    await accepted(restated);
  });
});

test("two structured properties do not share a search field", async () => {
  await accepted(definition("io.acme.tier"));
  await rejected("have one search field", definition("io.acme_tier"));
  await rejected("have one search field", definition("a.b"), definition("a_b"));
  await accepted(definition("io.acme.tier", { displayName: "Tier" }));
});

test("settings of a property do not contradict each other, and one property is the badge", async () => {
  const settings = (id: string, value: object) =>
    proposal(property(id), "structuredPropertySettings", value);
  await accepted(definition("set.one"), definition("set.two"));
  await rejected(
    "Cannot have property isHidden = true",
    settings("set.one", { isHidden: true, showInSearchFilters: true }),
  );
  await accepted(settings("set.one", { showAsAssetBadge: true }));
  await rejected("Cannot have more than one", settings("set.two", { showAsAssetBadge: true }));
  // One request moves the badge.
  await accepted(
    settings("set.one", { showAsAssetBadge: false }),
    settings("set.two", { showAsAssetBadge: true }),
  );
});

test("prompt ids are unique within a form and over all forms", async () => {
  const form = (id: string, ...prompts: readonly string[]) =>
    proposal(`urn:li:form:${id}`, "formInfo", {
      name: id,
      prompts: prompts.map((one) => ({ id: one, title: one, type: "STRUCTURED_PROPERTY" })),
    });
  await rejected("duplicate prompt IDs given", form("a", "p", "p"));
  await accepted(form("a", "p", "q"));
  await rejected('"q" is a prompt of "urn:li:form:a"', form("b", "q"));
  await rejected("across any form", form("b", "r"), form("c", "r"));
  await accepted(form("a", "p", "q", "r"));
});

test("a lifecycle stage exists and admits the entity's type", async () => {
  const stage = "urn:li:lifecycleStageType:PROOFED";
  const info = {
    ...{ name: "Proofed", entityTypes: ["dataset"], settings: { hideInSearch: false } },
    created: { time: 1, actor: "urn:li:corpuser:mira" },
    lastModified: { time: 1, actor: "urn:li:corpuser:mira" },
  };
  const status = (urn: string) =>
    proposal(urn, "status", { removed: false, lifecycleStage: stage });
  const urn = table();
  await rejected(`Lifecycle stage '${stage}' does not exist`, status(urn));
  await accepted(status(urn), proposal(stage, "lifecycleStageTypeInfo", info));
  await rejected("does not apply to entity type 'tag'", status("urn:li:tag:proofed"));
  const patch = [{ op: "add", path: "/lifecycleStage", value: "urn:li:lifecycleStageType:NONE" }];
  await rejected("NONE' does not exist", proposal(urn, "status", patch, { changeType: "PATCH" }));
  await rejected(
    "ERROR :: /lifecycleStage",
    proposal(urn, "status", { removed: false, lifecycleStage: "urn:li:crate:x" }),
  );
});

test("a version set is of the entity's type, a logical parent of a dataset is a dataset", async () => {
  const version = {
    ...{ version: { versionTag: "v1" }, sortId: "AAAAAAAA" },
    versioningScheme: "ALPHANUMERIC_GENERATED_BY_DATAHUB",
  };
  const versioned = (versionSet: string) =>
    proposal(table(), "versionProperties", { ...version, versionSet });
  await rejected("entity type does not match", versioned("urn:li:versionSet:(s,mlModel)"));
  await accepted(versioned("urn:li:versionSet:(s,dataset)"));
  const parent = (destinationUrn: string) =>
    proposal(table(), "logicalParent", { parent: { destinationUrn } });
  await rejected("/parent/destinationUrn", parent("urn:li:chart:(looker,1)"));
  await rejected("is a dataset", parent(`urn:li:schemaField:(${table()},id)`));
  await accepted(parent(table()));
});
