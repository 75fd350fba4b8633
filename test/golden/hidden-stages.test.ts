/**
 * Searches omit entities in a lifecycle stage with `hideInSearch`, unless the request includes
 * them.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask } from "../graphql/graphql-client.ts";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,stages.${name},PROD)`;
const stage = (name: string) => `urn:li:lifecycleStageType:${name}`;
const stamp = { time: 1, actor: "urn:li:corpuser:ann" };

let service: RunningService;
let position = 0;

async function write(urn: string, aspect: string, value: unknown): Promise<void> {
  const reply = await service.client.upsert(urn, aspect, value);
  expect(reply.body).toEqual({ value: "success" });
  position = reply.position ?? 0;
}
const define = (name: string, hideInSearch: boolean, entityTypes?: readonly string[]) =>
  write(stage(name), "lifecycleStageTypeInfo", {
    ...{ name, settings: { hideInSearch }, created: stamp, lastModified: stamp },
    ...(entityTypes && { entityTypes }),
  });

async function answer(path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
  const reply = await service.client.call(body ? "POST" : "GET", path, body, {
    "X-Annals-Min-Position": String(position),
  });
  expect(reply.status, `${path}: ${JSON.stringify(reply.body)}`).toBe(200);
  return reply.body;
}

const all = ["archived", "draft", "none", "shown"].map(dataset);
const names = (urns: readonly string[]) =>
  urns.map((urn) => /stages\.(\w+)/.exec(urn)?.[1]).toSorted();

interface Asked {
  readonly flags?: object;
  readonly more?: object;
}
async function found({ flags, more }: Asked = {}) {
  const body = { entity: "dataset", input: "*", start: 0, count: 10 };
  const { value } = await answer("/entities?action=search", {
    ...{ ...body, ...more },
    ...(flags && { searchFlags: flags }),
  });
  return names((value as { entities: string[] }).entities);
}

beforeAll(async () => {
  service = await runningService();
  for (const urn of all) {
    await write(urn, "datasetProperties", { name: `stages ${names([urn])}` });
    await write(urn, "browsePaths", { paths: ["/stages/all"] });
    await write(urn, "browsePathsV2", { path: [{ id: "stages" }] });
  }
  await define("ARCHIVED", true);
  await define("DRAFT", true, ["dataset", "document"]);
  await define("SHOWN", false);
  for (const name of ["archived", "draft", "shown"]) {
    const lifecycleStage = stage(name.toUpperCase());
    await write(dataset(name), "status", { removed: false, lifecycleStage });
  }
});
afterAll(() => service?.[Symbol.asyncDispose]());

const visible = ["none", "shown"];
const everything = ["archived", "draft", "none", "shown"];

describe("an entity in a stage that hides it", () => {
  test("is omitted by search, autocomplete and browse, but can be read", async () => {
    expect(await found()).toEqual(visible);
    const completed = await answer("/entities?action=autocomplete", {
      ...{ entity: "dataset", query: "stages", limit: 10 },
    });
    const { suggestions } = completed.value as { suggestions: string[] };
    expect(suggestions.map((one) => one.replace("stages.", "")).toSorted()).toEqual(visible);
    const level = { entity: "dataset", start: 0, limit: 10, count: 10 };
    const browsed = await answer("/entities?action=browse", { ...level, path: "/stages/all" });
    expect(browsed.value).toMatchObject({ numEntities: 2 });
    const folders = await answer("/entities?action=browseV2", { ...level, path: "" });
    expect(folders.value).toMatchObject({ groups: [{ name: "stages", count: 2 }] });
    const scrolled = await answer("/openapi/v3/entity/dataset?count=10");
    expect(names((scrolled.entities as { urn: string }[]).map(({ urn }) => urn))).toEqual(visible);
    const { aspects } = await answer(`/entitiesV2/${encoded(dataset("archived"))}`);
    expect(aspects).toHaveProperty("status");
  });

  test("is found with a flag, or when the request names the stage itself", async () => {
    expect(await found({ flags: { includeHiddenLifecycleStages: true } })).toEqual(everything);
    const filter = (field: string) => ({
      or: [{ and: [{ field, condition: "EQUAL", values: [stage("DRAFT")] }] }],
    });
    expect(await found({ more: { filter: filter("lifecycleStage") } })).toEqual(["draft"]);
    expect(await found({ more: { input: `lifecycleStage:"${stage("ARCHIVED")}"` } })).toEqual([
      "archived",
    ]);
    const query = `{ searchAcrossEntities(input: {types: [DATASET], query: "*", count: 10,
      searchFlags: {includeHiddenLifecycleStages: true}}) { total } }`;
    const { body } = await ask(service.client, query);
    expect(body.data.searchAcrossEntities.total).toBe(4);
  });

  test("is found once the stage applies to other types, no longer hides, or is deleted", async () => {
    await define("DRAFT", true, ["document"]);
    expect(await found()).toEqual(["draft", ...visible]);
    await define("DRAFT", true, []);
    expect(await found()).toEqual(["draft", ...visible]);
    await define("ARCHIVED", false);
    expect(await found()).toEqual(everything);
    await define("ARCHIVED", true);
    expect(await found()).toEqual(["draft", ...visible]);
    await write(stage("ARCHIVED"), "status", { removed: true });
    expect(await found()).toEqual(everything);
    await write(stage("ARCHIVED"), "status", { removed: false });
    expect(await found()).toEqual(["draft", ...visible]);
    const { body } = await service.client.call("POST", "/entities?action=delete", {
      urn: stage("ARCHIVED"),
    });
    expect(body.value).toBeDefined();
    await expect.poll(() => found()).toEqual(everything);
  });
});
