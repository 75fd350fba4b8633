/** Write authorization: policies grant edits, and constrain which tags may be added and removed. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asBearer, ask, makeToken } from "../graphql/graphql-client.ts";
import { proposal, type Reply } from "../support/client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const [BEDS, ROWS] = [dataset("beds"), dataset("rows")];
const user = (name: string) => `urn:li:corpuser:${name}`;
const tags = (...names: string[]) => ({
  tags: names.map((name) => ({ tag: `urn:li:tag:${name}` })),
});

let service: GuardedService;
const headersOf = new Map<string, Record<string, string>>();

const send = (who: string, path: string, body: unknown): Promise<Reply> =>
  service.client.call("POST", path, body, headersOf.get(who) ?? service.operator);
const write = (who: string, urn: string, aspect: string, value: unknown, changeType = "UPSERT") =>
  send(who, "/aspects?action=ingestProposal", {
    proposal: proposal(urn, aspect, value, { changeType }),
  });
async function given(urn: string, aspect: string, value: unknown) {
  expect((await write("operator", urn, aspect, value)).status).toBe(200);
}
const policy = (id: string, over: object) =>
  given(`urn:li:dataHubPolicy:${id}`, "dataHubPolicyInfo", {
    ...{ displayName: id, description: "", type: "METADATA", state: "ACTIVE" },
    ...over,
  });

beforeAll(async () => {
  service = await guardedService({ writeAuthorization: "on" });
  for (const name of ["mina", "otto", "edda", "toni"]) {
    const actorUrn = user(name);
    const { token } = await makeToken(service.client, { actorUrn }, service.operator);
    headersOf.set(name, asBearer(token));
  }
  await given(BEDS, "globalTags", tags("Plain", "pii.mail"));
  await given(ROWS, "ownership", {
    owners: [{ owner: user("otto"), type: "DATAOWNER" }],
    lastModified: { time: 1, actor: user("otto") },
  });
  await given(user("edda"), "roleMembership", { roles: ["urn:li:dataHubRole:Editor"] });
  await policy("tagger", {
    actors: { users: [user("toni")] },
    privileges: ["EDIT_ENTITY_TAGS"],
    resources: {
      filter: { criteria: [{ field: "TYPE", values: ["dataset"] }] },
      privilegeConstraints: {
        criteria: [{ field: "URN", values: ["urn:li:tag:pii."], condition: "STARTS_WITH" }],
      },
    },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

describe("a user may write", () => {
  const name = { name: "x" };
  test.each<[string, string, string, number]>([
    ["mina", "no entity, without a policy", BEDS, 403],
    ["otto", "an owned entity", ROWS, 200],
    ["otto", "no other entity", BEDS, 403],
    ["edda", "entities with the Editor role", BEDS, 200],
    ["toni", "no properties with a privilege for tags", BEDS, 403],
    ["operator", "every entity, as the operator", BEDS, 200],
  ])("%s: %s", async (who, _, urn, status) => {
    const reply = await write(who, urn, "datasetProperties", name);
    expect(reply.status).toBe(status);
    if (status === 403) expect(reply.body.message).toContain("the privilege Edit Entity");
  });

  test("only administrators may delete, through any endpoint", async () => {
    for (const who of ["mina", "otto", "edda"]) {
      const bodies = [
        await send(who, "/entities?action=delete", { urn: ROWS }),
        await write(who, ROWS, "datasetProperties", {}, "DELETE"),
        await send(who, "/entities?action=deleteReferences", { urn: ROWS }),
      ];
      expect(bodies.map(({ status }) => status)).toEqual([403, 403, 403]);
    }
    await given("urn:li:tag:x", "tagProperties", { name: "x" });
    const query = `mutation { addTag(input: {tagUrn: "urn:li:tag:x", resourceUrn: "${BEDS}"}) }`;
    const denied = await ask(service.client, query, {}, headersOf.get("mina"));
    expect(denied.body.errors[0].extensions).toMatchObject({ code: 403, type: "UNAUTHORIZED" });
  });

  test("a batch with one unauthorized proposal changes nothing", async () => {
    const proposals = [
      proposal(ROWS, "datasetProperties", { name: "both" }),
      proposal(BEDS, "datasetProperties", { name: "both" }),
    ];
    const reply = await send("otto", "/aspects?action=ingestProposalBatch", { proposals });
    expect(reply.status).toBe(403);
    const path = `/entitiesV2/${encodeURIComponent(ROWS)}`;
    const read = await service.client.call("GET", path, undefined, service.operator);
    expect(read.body.aspects.datasetProperties.value.name).toBe("x");
  });

  test("a user with the privilege for users may write users", async () => {
    const info = { active: true, displayName: "Mina" };
    expect((await write("mina", user("mina"), "corpUserInfo", info)).status).toBe(403);
    await policy("people", {
      ...{ type: "PLATFORM", actors: { users: [user("mina")] } },
      privileges: ["MANAGE_USERS_AND_GROUPS"],
    });
    expect((await write("mina", user("mina"), "corpUserInfo", info)).status).toBe(200);
  });
});

describe("privilege constraints of policies", () => {
  const now = async () => {
    const { body } = await service.client.call(
      "GET",
      `/entitiesV2/${encodeURIComponent(BEDS)}`,
      undefined,
      service.operator,
    );
    return body.aspects.globalTags.value.tags.map(({ tag }: { tag: string }) => tag.slice(11));
  };

  test("allow adding and removing tags that satisfy them, and no others", async () => {
    for (const [names, status] of [
      [["Plain", "pii.mail", "pii.name"], 200],
      [["Plain"], 200],
      [["Plain", "Other"], 403],
      [[], 403],
      [["Plain", "pii.mail"], 200],
    ] as const) {
      const reply = await write("toni", BEDS, "globalTags", tags(...names));
      expect(reply.status).toBe(status);
      if (status === 403) expect(reply.body.message).toMatch(/"urn:li:tag:(Other|Plain)"/);
    }
    expect(await now()).toEqual(["Plain", "pii.mail"]);
  });

  test("apply to patches and deletes, too", async () => {
    const patch = (op: string, name: string) => ({
      patch: [
        {
          op,
          path: `/tags/urn:li:tag:${name}`,
          ...(op === "add" && { value: tags(name).tags[0] }),
        },
      ],
    });
    const patched = (op: string, name: string) =>
      write("toni", BEDS, "globalTags", patch(op, name), "PATCH");
    expect((await patched("add", "pii.phone")).status).toBe(200);
    expect((await patched("add", "Other")).status).toBe(403);
    expect((await patched("remove", "Plain")).status).toBe(403);
    expect((await patched("remove", "pii.phone")).status).toBe(200);
    expect((await write("toni", BEDS, "globalTags", {}, "DELETE")).status).toBe(403);
    expect(await now()).toEqual(["Plain", "pii.mail"]);
  });

  test("apply to tags of columns", async () => {
    await policy("columns", {
      actors: { users: [user("mina")] },
      privileges: ["EDIT_ENTITY"],
      resources: {
        privilegeConstraints: {
          criteria: [{ field: "URN", values: ["urn:li:tag:Secret"], condition: "NOT_EQUALS" }],
        },
      },
    });
    const columns = (name: string) => ({
      editableSchemaFieldInfo: [{ fieldPath: "a b", globalTags: tags(name) }],
    });
    const put = (name: string) => write("mina", BEDS, "editableSchemaMetadata", columns(name));
    expect((await put("Open")).status).toBe(200);
    expect((await put("Secret")).status).toBe(403);
    await given(BEDS, "editableSchemaMetadata", columns("Secret"));
    expect((await put("Open")).status).toBe(403);
    expect((await put("Secret")).status).toBe(200);
  });

  const constrained = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,c.${name},PROD)`;
  const batch = (...proposals: readonly object[]) =>
    send("mina", "/aspects?action=ingestProposalBatch", { proposals });
  const generic = (urn: string, operations: readonly object[]) =>
    proposal(
      urn,
      "globalTags",
      { patch: operations, forceGenericPatch: true },
      { changeType: "PATCH" },
    );

  test.each(["urn:foo:tag:Secret", "urn:LI:tag:Secret"])(
    "apply to the spelling %s of a urn",
    async (tag) => {
      const urn = constrained("spelt");
      expect((await write("mina", urn, "globalTags", { tags: [{ tag }] })).status).toBe(403);
      const patch = [{ op: "add", path: `/tags/${tag}`, value: { tag } }];
      expect((await write("mina", urn, "globalTags", patch, "PATCH")).status).toBe(403);
    },
  );

  test("apply to each proposal after those before it", async () => {
    const urn = constrained("batches");
    await given(urn, "globalTags", tags("ok"));
    const added = await batch(
      proposal(urn, "globalTags", tags("ok", "ok2")),
      generic(urn, [
        { op: "test", path: "/tags/1/tag", value: "urn:li:tag:ok2" },
        { op: "add", path: "/tags/-", value: tags("Secret").tags[0] },
      ]),
    );
    expect(added.status).toBe(403);
    await given(urn, "globalTags", tags("ok", "Secret"));
    const removed = await batch(
      proposal(urn, "globalTags", tags("Secret", "ok")),
      generic(urn, [{ op: "remove", path: "/tags/0" }]),
    );
    expect(removed.status).toBe(403);
    const wrong = generic(urn, [{ op: "test", path: "/tags/0/tag", value: "urn:li:tag:other" }]);
    expect((await batch(wrong)).status).toBe(422);
    const allowed = await batch(
      proposal(urn, "globalTags", tags("Secret", "ok")),
      generic(urn, [{ op: "remove", path: "/tags/1" }]),
    );
    expect(allowed.status).toBe(200);
  });

  test("apply to the columns of a chart's inputs", async () => {
    const schemaFieldUrn = `urn:li:schemaField:(${BEDS},a)`;
    const field = (name: string) => ({
      ...{ fieldPath: "a", nativeDataType: "int", globalTags: tags(name) },
      type: { type: { "com.linkedin.schema.NumberType": {} } },
    });
    const put = (name: string) =>
      write("mina", "urn:li:chart:(looker,c)", "inputFields", {
        fields: [{ schemaFieldUrn, schemaField: field(name) }],
      });
    expect((await put("Secret")).status).toBe(403);
    expect((await put("Open")).status).toBe(200);
  });
});

test("Create Entity permits creating entities, and no writes to existing ones", async () => {
  await policy("creators", {
    actors: { users: [user("otto")] },
    privileges: ["CREATE_ENTITY"],
    resources: { filter: { criteria: [{ field: "TYPE", values: ["dataset"] }] } },
  });
  const mine = { owners: [{ owner: user("otto"), type: "DATAOWNER" }] };
  const ownership = { ...mine, lastModified: { time: 1, actor: user("otto") } };
  const there = dataset("there");
  await given(there, "datasetProperties", { name: "there" });
  expect((await write("otto", there, "ownership", ownership, "CREATE")).status).toBe(403);
  expect((await write("otto", there, "ownership", ownership, "CREATE_ENTITY")).status).toBe(422);
  const fresh = dataset("fresh");
  expect((await write("otto", fresh, "ownership", ownership, "CREATE")).status).toBe(200);
});
