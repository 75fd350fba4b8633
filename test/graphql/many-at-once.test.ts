/** What several ask of GraphQL at once, and what one asks too much of. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { encoded, type Reply } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask, faultOf } from "./graphql-client.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,labelled,PROD)";
const fault = async (query: string, variables: Readonly<Record<string, unknown>>) =>
  faultOf(await ask(service.client, query, variables));
const aspect = async (urn: string, name: string) => {
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}?aspects=List(${name})`);
  return body.aspects[name]?.value;
};

test("versions that are linked concurrently are in the set once each, and one of them is the latest", async () => {
  const set = "urn:li:versionSet:(raced,dataset)";
  const named = (i: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,raced.v${i},PROD)`;
  const urns = Array.from({ length: 6 }, (_, i) => named(i));
  for (const urn of urns) await service.client.upsert(urn, "status", { removed: false });
  const field = (name: string, type: string) =>
    `mutation($input: ${type}!) { ${name}(input: $input) { urn } }`;
  const link = (linkedEntity: string, version: string, versionSet = set) =>
    ask(service.client, field("linkAssetVersion", "LinkVersionInput"), {
      input: { versionSet, linkedEntity, version },
    });
  const unlink = (unlinkedEntity: string) =>
    ask(service.client, field("unlinkAssetVersion", "UnlinkVersionInput"), {
      input: { versionSet: set, unlinkedEntity },
    });
  const links = await Promise.all(urns.map((urn, i) => link(urn, String(i))));
  expect(links.map(({ body }) => body.errors)).toEqual(urns.map(() => undefined));
  const linked = async () => {
    const all = await Promise.all(urns.map((urn) => aspect(urn, "versionProperties")));
    return urns.map((urn, i) => ({ urn, ...all[i] })).filter(({ sortId }) => sortId);
  };
  const all = await linked();
  expect(new Set(all.map(({ sortId }) => sortId)).size).toBe(6);
  const latest = all.filter(({ isLatest }) => isLatest);
  expect(latest).toMatchObject([{ urn: (await aspect(set, "versionSetProperties")).latest }]);
  // One entity asked into two sets at once is in one.
  const other = named(7);
  await service.client.upsert(other, "status", { removed: false });
  const sets = ["a", "b", "c"].map((name) => `urn:li:versionSet:(${name},dataset)`);
  const replies = await Promise.all(sets.map((one) => link(other, "1", one)));
  expect(replies.filter(({ body }) => body.errors === undefined)).toHaveLength(1);
  // While the latest goes another comes: the set names one that is in it.
  for (let round = 0; round < 4; round++) {
    const [, going] = await Promise.all([
      link(named(8), "8"),
      unlink((await aspect(set, "versionSetProperties")).latest),
      service.client.upsert(named(8), "status", { removed: false }),
    ]);
    expect(going.status).toBe(200);
    const now = (await aspect(set, "versionSetProperties")).latest;
    expect(await aspect(now, "versionProperties")).toMatchObject({
      ...{ versionSet: set, isLatest: true },
    });
  }
});

test("a request with too many labels is rejected before any is created", async () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `urn:li:tag:t${i}`);
  const resources = Array.from({ length: 60 }, () => ({ resourceUrn: dataset }));
  for (const [name, type] of [
    ["batchAddTags", "BatchAddTagsInput"],
    ["batchRemoveTags", "BatchRemoveTagsInput"],
  ] as const) {
    const rejected = await fault(`mutation($input: ${type}!) { ${name}(input: $input) }`, {
      input: { tagUrns: many(1_000), resources },
    });
    expect(rejected).toMatchObject({ extensions: { code: 400 } });
    expect(rejected.message).toContain("1000 for each of 60 entities");
  }
});

test("nested lists end at the size limit of a response, and delay no other request", async () => {
  const tags = Array.from({ length: 50 }, (_, i) => ({ tag: `urn:li:tag:hub${i}` }));
  const entities = Array.from({ length: 250 }, (_, i) => ({
    urn: `urn:li:dataset:(urn:li:dataPlatform:hive,hub.t${i},PROD)`,
    globalTags: { value: { tags } },
  }));
  await service.client.upsert("urn:li:tag:hub0", "tagProperties", { name: "hub" });
  const path = "/openapi/v3/entity/dataset?async=false";
  expect((await service.client.call("POST", path, entities)).status).toBe(200);
  const related = (direction: string, type: string, fields: string) =>
    `relationships(input: {types: ["TaggedWith"], direction: ${direction}, start: 0, count: 1000}) {
      total relationships { entity { ... on ${type} { ${fields} } } } }`;
  const tagged = (fields: string) => related("INCOMING", "Dataset", fields);
  const tagsOf = (fields: string) => related("OUTGOING", "Tag", fields);
  const from = (fields: string) =>
    `{ entity(urn: "urn:li:tag:hub0") { ... on Tag { ${fields} } } }`;
  // There are 12,500 ways to go there and back, and 3,125,000 to go there once more.
  const near = await ask(service.client, from(tagged(tagsOf("urn"))), {});
  expect(near.body.errors).toBeUndefined();
  expect(near.body.data.entity.relationships.total).toBe(250);
  const done: string[] = [];
  const note = (of: string, asked: Promise<Reply>) => asked.finally(() => done.push(of));
  const answering = note("far", ask(service.client, from(tagged(tagsOf(tagged("urn")))), {}));
  // Other requests are answered meanwhile.
  await note("GraphQL", ask(service.client, '{ tag(urn: "urn:li:tag:hub0") { name } }'));
  await note("REST", service.client.get(`/entitiesV2/${encoded("urn:li:tag:hub0")}`));
  const far = await answering;
  expect(done).toEqual(["GraphQL", "REST", "far"]);
  expect(far.body.errors[0]).toMatchObject({
    message: expect.stringContaining("more than 50000 entities"),
    extensions: { code: 400 },
  });
  expect(far.body.errors.length).toBeLessThan(50_000);
});

test("the number of searches of a request is limited, whether they have results or not", async () => {
  const one = "urn:li:dataset:(urn:li:dataPlatform:hive,searched,PROD)";
  await service.client.upsert(one, "status", { removed: false });
  const fields = Array.from(
    { length: 3 },
    (_, i) => `a${i}: relatedDocuments(input: {}) { total }`,
  );
  const query = `query($urns: [String!]!) { entities(urns: $urns) { ... on Dataset { ${fields.join(" ")} } } }`;
  const urns = (count: number) => ({ urns: Array.from({ length: count }, () => one) });
  expect(await fault(query, urns(10))).toBeUndefined();
  expect(await fault(query, urns(1_000))).toMatchObject({
    message: expect.stringContaining("too many searches"),
    extensions: { code: 400 },
  });
});
