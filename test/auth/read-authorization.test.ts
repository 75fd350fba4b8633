/** Read authorization: entities that a user may not read are absent for that user. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asBearer, ask, makeToken } from "../graphql/graphql-client.ts";
import { encoded, type Reply } from "../support/client.ts";
import { type GuardedService, guardedService, writeAsOperator } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const OPEN = dataset("open.seeds");
const TAGGED = dataset("tagged.seeds");
const OWNED = dataset("owned.seeds");
const HIDDEN = dataset("hidden.seeds");
const BEYOND = dataset("open.beyond");
const NEVER = dataset("never.seeds");
const STEWARD = "urn:li:ownershipType:steward";
const SEEN = [OPEN, BEYOND, TAGGED, OWNED].sort();

const policy = (criteria: object[], actors: object = { users: [MINA] }) => ({
  displayName: "reading",
  description: "",
  type: "METADATA",
  state: "ACTIVE",
  privileges: ["VIEW_ENTITY_PAGE"],
  actors,
  resources: { filter: { criteria } },
});
const all = (state: string) => ({
  displayName: "all",
  description: "",
  type: "METADATA",
  state,
  privileges: ["VIEW_ENTITY_PAGE"],
  actors: { allUsers: true },
});

let service: GuardedService;
let mina: Record<string, string>;
let position = 0;

const call = (method: string, path: string, body?: unknown, headers = mina): Promise<Reply> =>
  service.client.call(method, path, body, headers);
async function write(urn: string, aspect: string, value: unknown) {
  position = await writeAsOperator(service, urn, aspect, value);
}
/** Headers that make searches and relationships cover every write. */
const current = () => ({ ...mina, "X-Annals-Min-Position": String(position) });
const upstream = (urn: string) => ({
  upstreams: [{ dataset: urn, type: "TRANSFORMED", auditStamp: { time: 1, actor: MINA } }],
});

beforeAll(async () => {
  service = await guardedService({ readAuthorization: "on" });
  const { token } = await makeToken(service.client, { actorUrn: MINA }, service.operator);
  mina = asBearer(token);
  for (const urn of [OPEN, TAGGED, OWNED, HIDDEN, BEYOND]) {
    await write(urn, "datasetProperties", { name: urn.split(",")[1], description: "seeds of old" });
    await write(urn, "globalTags", {
      tags: [{ tag: urn === HIDDEN ? "urn:li:tag:secret" : "urn:li:tag:plain" }],
    });
  }
  await write(TAGGED, "globalTags", { tags: [{ tag: "urn:li:tag:forMina" }] });
  await write(OWNED, "ownership", {
    owners: [{ owner: MINA, type: "CUSTOM", typeUrn: STEWARD }],
    lastModified: { time: 1, actor: MINA },
  });
  await write(HIDDEN, "ownership", {
    owners: [{ owner: MINA, type: "CONSUMER" }],
    lastModified: { time: 1, actor: MINA },
  });
  await write(HIDDEN, "globalTags", {
    tags: [{ tag: "urn:li:tag:secret" }, { tag: "urn:li:tag:secreter" }],
  });
  // open ← hidden ← beyond, and open ← tagged
  await write(HIDDEN, "upstreamLineage", upstream(OPEN));
  await write(BEYOND, "upstreamLineage", upstream(HIDDEN));
  await write(TAGGED, "upstreamLineage", upstream(OPEN));
  await write(HIDDEN, "datasetProfile", { timestampMillis: 1_772_409_600_000, rowCount: 7 });
  for (const id of ["view-entity-page-all", "asset-owners-metadata-policy"]) {
    await write(`urn:li:dataHubPolicy:${id}`, "dataHubPolicyInfo", all("INACTIVE"));
  }
  const prefix = {
    field: "URN",
    condition: "STARTS_WITH",
    values: [dataset("open").split(",PROD")[0]],
  };
  const tagged = { field: "TAG", values: ["urn:li:tag:forMina"] };
  await write("urn:li:dataHubPolicy:a", "dataHubPolicyInfo", policy([prefix]));
  await write("urn:li:dataHubPolicy:b", "dataHubPolicyInfo", policy([tagged]));
  await write(
    "urn:li:dataHubPolicy:c",
    "dataHubPolicyInfo",
    policy([{ field: "TYPE", values: ["dataset"] }], {
      resourceOwners: true,
      resourceOwnersTypes: [STEWARD],
    }),
  );
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const search = (body: object, action = "search") =>
  call("POST", `/entities?action=${action}`, { start: 0, count: 10, ...body }, current());

describe("a search with read authorization", () => {
  test("finds and counts only readable entities, also in facets", async () => {
    const { body } = await search({ entity: "dataset", input: "seeds" });
    const { value } = body;
    expect([...value.entities].sort()).toEqual(SEEN);
    expect(value.numEntities).toBe(4);
    const text = JSON.stringify(value);
    expect(text).not.toContain("hidden");
    expect(text).not.toContain("secret");
  });

  test.each([
    ["by its name", { input: "hidden" }],
    ["by its urn", { input: `urn:"${HIDDEN}"` }],
    ["by a tag", { input: "tags:urn:li:tag:secret" }],
    [
      "by a filter",
      {
        input: "*",
        filter: { or: [{ and: [{ field: "urn", condition: "EQUAL", values: [HIDDEN] }] }] },
      },
    ],
    [
      "by a negated filter",
      {
        input: "*",
        filter: {
          or: [
            {
              and: [
                {
                  field: "tags",
                  condition: "EQUAL",
                  values: ["urn:li:tag:plain", "urn:li:tag:forMina"],
                  negated: true,
                },
              ],
            },
          ],
        },
      },
    ],
  ])("does not find a hidden entity %s", async (_, request) => {
    const { status, body } = await search({ entity: "dataset", ...request });
    expect(status).toBe(200);
    expect(body.value.entities).toEqual([]);
    expect(body.value.numEntities).toBe(0);
  });

  test("compares values by a hidden property definition without revealing it", async () => {
    const property = "urn:li:structuredProperty:io.kept_until";
    await write(property, "propertyDefinition", {
      qualifiedName: "io.kept_until",
      valueType: "urn:li:dataType:datahub.date",
      entityTypes: ["urn:li:entityType:datahub.dataset"],
    });
    for (const [urn, day] of [
      [OPEN, "2026-03-01"],
      [TAGGED, "2026-03-02"],
      [HIDDEN, "2026-03-03"],
    ] as const) {
      const properties = [{ propertyUrn: property, values: [{ string: day }] }];
      await write(urn, "structuredProperties", { properties });
    }
    const since = (value: string, name = "io.kept_until", headers = current()) => {
      const field = `structuredProperties.${name}`;
      const filter = { or: [{ and: [{ field, condition: "GREATER_THAN", values: [value] }] }] };
      const asked = { entity: "dataset", input: "*", start: 0, count: 10, filter };
      return call("POST", "/entities?action=search", asked, headers);
    };
    const noon = String(Date.parse("2026-03-01T12:00:00Z"));
    expect((await since(noon)).body.value.entities).toEqual([TAGGED]);
    expect((await since("soon")).body.value.entities).toEqual([]);
    // Another spelling requires a lookup of the definition.
    expect((await since(noon, "io_kept_until")).body.value.entities).toEqual([]);
    const asOperator = { ...current(), ...service.operator };
    expect((await since("soon", "io.kept_until", asOperator)).status).toBe(400);
    const all = await since(noon, "io_kept_until", asOperator);
    expect([...all.body.value.entities].sort()).toEqual([HIDDEN, TAGGED].sort());
  });

  test("suggests no word of a hidden entity", async () => {
    const searchFlags = { getSuggestions: true };
    const asked = { entity: "dataset", input: "hiddn", searchFlags };
    expect((await search(asked)).body.value.metadata.suggestions).toEqual([]);
    const body = { ...asked, start: 0, count: 10 };
    const operator = { ...current(), ...service.operator };
    const all = await call("POST", "/entities?action=search", body, operator);
    expect(all.body.value.metadata.suggestions).toMatchObject([{ text: "hidden", frequency: 1 }]);
  });

  test("filters every form of search", async () => {
    const across = await search({ input: "*", entities: ["dataset"] }, "searchAcrossEntities");
    expect(across.body.value.numEntities).toBe(4);
    const scrolled = await search(
      { input: "*", entities: ["dataset"], count: 10 },
      "scrollAcrossEntities",
    );
    expect(scrolled.body.value.numEntities).toBe(4);
    const query = `{ scrollAcrossEntities(input: {types: [DATASET], query: "*"}) { total searchResults { entity { urn } } } }`;
    const graphql = await ask(service.client, query, {}, mina);
    expect(graphql.body.data.scrollAcrossEntities.total).toBe(4);
    expect(JSON.stringify(graphql.body)).not.toContain("hidden");
    const typed = await search({ entity: "dataset", query: "hidden", limit: 10 }, "autocomplete");
    expect(typed.body.value.suggestions).toEqual([]);
    const more = await search({ entity: "dataset", query: "open", limit: 10 }, "autocomplete");
    expect(more.body.value.suggestions.length).toBeGreaterThan(0);
    const browsed = await search({ entity: "dataset", path: "/prod/hive", limit: 10 }, "browse");
    const inside = JSON.stringify(browsed.body.value);
    expect(inside).not.toContain("hidden");
    const listed = await search({ entity: "dataset" }, "listUrns");
    expect(listed.body.value.entities).toEqual(SEEN);
    expect(listed.body.value.total).toBe(4);
    const total = await call("POST", "/entities?action=getTotalEntityCount", { entity: "dataset" });
    expect(total.body.value).toBe(4);
  });
});

describe("a read by urn with read authorization", () => {
  const both = async (
    method: string,
    [path, body]: readonly [(urn: string) => string, ((urn: string) => object)?],
    headers: Record<string, string>,
  ) => {
    const ask = async (urn: string) => {
      const reply = await call(method, path(urn), body?.(urn), headers);
      const text = JSON.stringify(reply.body).replaceAll("hidden.seeds", "never.seeds");
      return { status: reply.status, text: text.replace(/"time":\d+/g, "") };
    };
    return [await ask(HIDDEN), await ask(NEVER)] as const;
  };

  test.each<[string, (urn: string) => string, ((urn: string) => object)?]>([
    ["GET", (urn) => `/entitiesV2/${encoded(urn)}`],
    ["GET", (urn) => `/entitiesV2?ids=List(${encoded(urn)},${encoded(OPEN)})`],
    ["GET", (urn) => `/entities/${encoded(urn)}`],
    ["GET", (urn) => `/aspects/${encoded(urn)}?aspect=globalTags&version=0`],
    ["GET", (urn) => `/aspects/${encoded(urn)}?aspect=globalTags&version=1`],
    ["GET", (urn) => `/aspects/${encoded(urn)}?aspect=globalTags&version=-1`],
    ["POST", () => "/entities?action=exists", (urn) => ({ urn })],
    [
      "POST",
      () => "/entities?action=filterExistingUrns",
      (urn) => ({ request: { urns: [urn, OPEN] } }),
    ],
    [
      "POST",
      () => "/aspects?action=getTimeseriesAspectValues",
      (urn) => ({ urn, entity: "dataset", aspect: "datasetProfile" }),
    ],
    [
      "GET",
      (urn) => `/relationships?direction=OUTGOING&types=List(DownstreamOf)&urn=${encoded(urn)}`,
    ],
    [
      "GET",
      (urn) => `/relationships?direction=INCOMING&types=List(DownstreamOf)&urn=${encoded(urn)}`,
    ],
    [
      "POST",
      () => "/relationships?action=getLineage",
      (urn) => ({ urn, direction: "DOWNSTREAM", maxHops: 3 }),
    ],
    [
      "POST",
      () => "/entities?action=searchAcrossLineage",
      (urn) => ({ urn, direction: "DOWNSTREAM", input: "*", start: 0, count: 10 }),
    ],
    ["GET", (urn) => `/changes?from=start&urn=${encoded(urn)}`],
    ["POST", () => "/entities?action=getBrowsePaths", (urn) => ({ urn })],
  ])(
    "%s %# answers for a hidden entity as for one that never existed",
    async (method, path, body) => {
      const [hidden, never] = await both(method, [path, body], current());
      expect(hidden).toEqual(never);
      // Control: the operator gets another response.
      const [seen, unknown] = await both(method, [path, body], {
        ...current(),
        ...service.operator,
      });
      expect(seen.status).toBe(200);
      expect(seen).not.toEqual(unknown);
    },
  );

  test("answers for readable entities, by each policy", async () => {
    for (const urn of SEEN) {
      const { body } = await call("GET", `/entitiesV2/${encoded(urn)}`);
      expect(Object.keys(body.aspects)).toContain("datasetProperties");
      const exists = await call("POST", "/entities?action=exists", { urn });
      expect(exists.body.value).toBe(true);
    }
    // Users may read themselves.
    expect(
      (await call("GET", `/entitiesV2/${encoded(MINA)}`)).body.aspects.corpUserKey.value,
    ).toEqual({ username: "mina" });
  });
});

describe("the graph with read authorization", () => {
  test("has no edges to hidden entities, and no paths through them", async () => {
    const path = `/relationships?direction=INCOMING&types=List(DownstreamOf)&urn=${encoded(OPEN)}`;
    const near = await call("GET", path, undefined, current());
    expect(near.body.total).toBe(1);
    expect(JSON.stringify(near.body)).not.toContain("hidden");
    const request = { urn: OPEN, direction: "DOWNSTREAM", maxHops: 5 };
    const walk = await call("POST", "/relationships?action=getLineage", request, current());
    expect(walk.body.value.relationships.map((one: { entity: string }) => one.entity)).toEqual([
      TAGGED,
    ]);
    const found = await search({ ...request, input: "*" }, "searchAcrossLineage");
    expect(found.body.value.numEntities).toBe(1);
    const whole = await call("POST", "/relationships?action=getLineage", request, service.operator);
    expect(whole.body.value.total).toBe(3);
  });

  test("the change feed has no changes of hidden entities", async () => {
    const { body } = await call("GET", "/changes?from=start&limit=1000&entityType=dataset");
    expect(body.changes.length).toBeGreaterThan(5);
    expect(
      JSON.stringify(body.changes.map((one: { entityUrn: string }) => one.entityUrn)),
    ).not.toContain("hidden");
  });
});

describe("a delete with read authorization", () => {
  test.each([
    ["/entities?action=delete", {}],
    ["/entities?action=delete", { dryRun: true }],
    ["/entities?action=deleteReferences", { dryRun: true }],
  ])("of a hidden entity is answered like that of an unknown one: %s", async (path, more) => {
    const ask = async (urn: string) => {
      const { status, body } = await call("POST", path, { urn, ...more });
      return { status, text: JSON.stringify(body).replaceAll("hidden.seeds", "never.seeds") };
    };
    expect(await ask(HIDDEN)).toEqual(await ask(NEVER));
  });

  test("lists references only of readable entities", async () => {
    const path = "/entities?action=deleteReferences";
    const { body } = await call("POST", path, { urn: OPEN, dryRun: true }, current());
    expect(JSON.stringify(body)).toContain("tagged.seeds");
    expect(JSON.stringify(body)).not.toContain("hidden");
    const whole = await call("POST", path, { urn: OPEN, dryRun: true }, service.operator);
    expect(JSON.stringify(whole.body)).toContain("hidden");
  });

  test("leaves hidden entities unchanged", async () => {
    const exists = { urn: HIDDEN };
    const reply = await call("POST", "/entities?action=exists", exists, service.operator);
    expect(reply.body.value).toBe(true);
  });
});

describe("the policies of read authorization", () => {
  test("apply from the position at which they are written", async () => {
    const one = () => call("GET", `/entitiesV2/${encoded(HIDDEN)}`);
    const seen = async () => "datasetProperties" in (await one()).body.aspects;
    expect(await seen()).toBe(false);
    const id = "urn:li:dataHubPolicy:view-entity-page-all";
    await write(id, "dataHubPolicyInfo", all("ACTIVE"));
    expect(await seen()).toBe(true);
    await write(id, "dataHubPolicyInfo", all("INACTIVE"));
    expect(await seen()).toBe(false);
  });

  test("hide counts of aspects from users, but not from the operator", async () => {
    const counted = { aspect: "globalTags" };
    expect((await call("POST", "/aspects?action=getCount", counted)).status).toBe(403);
    const whole = await call("POST", "/aspects?action=getCount", counted, service.operator);
    expect(whole.body.value).toBe(5);
  });
});
