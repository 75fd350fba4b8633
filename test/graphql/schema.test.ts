/** The schema, its rules and its limits. */
import {
  buildASTSchema,
  buildClientSchema,
  getIntrospectionQuery,
  isObjectType,
  parse,
  validateSchema,
  visit,
} from "graphql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSchema } from "../../src/graphql/schema/create-schema.ts";
import { entityTypesOf } from "../../src/graphql/schema/entity-types.ts";
import { rules } from "../../src/graphql/schema/root-fields.ts";
import { letIn, writes } from "../../src/graphql/schema/rules.ts";
import { typeDefinitions } from "../../src/graphql/schema/type-definitions.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask, faultOf } from "./graphql-client.ts";
import { minimalCall } from "./minimal-call.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ graphqlExplorer: "on" });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

test("the definitions are a valid schema", () => {
  const { members } = entityTypesOf(["dataset", "corpuser"]);
  expect(validateSchema(buildASTSchema(typeDefinitions(members)))).toEqual([]);
});

describe("every operation of the schema", () => {
  const schema = createSchema(entityTypesOf(["dataset", "corpuser"]).members);

  test("has a rule, and every rule an operation", () => {
    const found = [schema.getQueryType(), schema.getMutationType()].map((type) => [
      type?.name,
      Object.keys(type?.getFields() ?? {}).sort(),
    ]);
    const ruled = Object.entries(rules).map(([type, own]) => [type, Object.keys(own).sort()]);
    expect(found).toEqual(ruled);
    expect(schema.getSubscriptionType()).toBeUndefined();
  });

  test("with a privilege is rejected for a caller without a name", async () => {
    const fields = [
      ...Object.values(schema.getQueryType()?.getFields() ?? {}).map(
        (field) => ["Query", field, minimalCall("query", field)] as const,
      ),
      ...Object.values(schema.getMutationType()?.getFields() ?? {}).map(
        (field) => ["Mutation", field, minimalCall("mutation", field)] as const,
      ),
    ];
    const calls = fields.flatMap(([type, { name }, call]) => {
      const rule = rules[type][name];
      return rule === letIn || rule === writes ? [] : [call];
    });
    expect(calls.length).toBeGreaterThan(20);
    for (const query of calls) {
      expect(faultOf(await ask(service.client, query, {}, {})).extensions, query).toEqual({
        code: 403,
        type: "UNAUTHORIZED",
        needs: expect.stringMatching(/privilege|caller|sign-in/i),
        classification: "DataFetchingException",
      });
    }
  });

  test("is returned by one introspection query", async () => {
    const { body } = await ask(service.client, getIntrospectionQuery(), {}, {});
    const told = buildClientSchema(body.data);
    expect(Object.keys(told.getTypeMap()).sort()).toEqual(Object.keys(schema.getTypeMap()).sort());
    const metadata = told.getType("AccessTokenMetadata");
    expect(isObjectType(metadata) && metadata.getInterfaces().map(({ name }) => name)).toEqual([
      "Entity",
    ]);
  });
});

describe("a query is bounded", () => {
  const nested = (depth: number): string =>
    depth === 0 ? "name" : `ofType { ${nested(depth - 1)} }`;
  const deep = (depth: number) => `{ __type(name: "Query") { ${nested(depth - 2)} } }`;
  const many = (count: number, field: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => field(i)).join(" ");
  /** Each fragment doubles the fields of the response. */
  const spread = (count: number) =>
    `query { ...f0 } ${many(count, (i) => `fragment f${i} on __Type { ofType { ...f${i + 1} } b${i}: ofType { ...f${i + 1} } }`)} fragment f${count} on __Type { name }`;
  /** Every field of the response merges the same many fragments. */
  const wide = (count: number) =>
    `{ a { ${many(count, (i) => `...f${i}`)} } } ${many(count, (i) => `fragment f${i} on A { x${i} { ${many(count, (at) => `...f${at}`)} } }`)}`;

  test.each([
    ["depth", deep(25), "goes 25 levels deep; at most 24 are allowed"],
    [
      "aliases",
      `{ __schema { ${many(101, (i) => `a${i}: __typename`)} } }`,
      "has 101 aliases; at most 100 are allowed",
    ],
    [
      "aliased mutations",
      `mutation { ${many(21, (i) => `a${i}: revokeAccessToken(tokenId: "${i}")`)} }`,
      "has 21 root fields",
    ],
    [
      "fields",
      `{ __schema { ${many(3000, (i) => `f${i}`)} } }`,
      "has 3001 fields; at most 3000 are allowed",
    ],
    [
      "fields of one name",
      `{ __schema { ${many(700, () => "__typename")} } }`,
      "comparisons of fields of the same name; at most 400000 are allowed",
    ],
    [
      "aliased fragments within fragments",
      spread(16),
      "fields in its response; at most 10000 are allowed",
    ],
    ["fragments on many paths", wide(60), "selections; at most 200000 are allowed"],
    [
      "lists within lists",
      `{ a(b: ${"[".repeat(2_500)}`,
      "goes 2502 brackets deep; at most 200 are allowed",
    ],
    [
      "lists within lists that end",
      `{ a(b: ${"[".repeat(2_400)}${"]".repeat(2_400)}) }`,
      "goes 2402 brackets deep",
    ],
    ["objects within objects", `{ a(b: ${"{c:".repeat(1_000)}`, "goes 1002 brackets deep"],
    ["selections that do not end", "{a".repeat(20_000), "goes 20000 brackets deep"],
    ["fragments inline", `{ ${"...{".repeat(201)}`, "goes 202 brackets deep"],
    [
      "brackets behind strings",
      `{ a(b: "\\"", c: """ \\""" " """, d: "") # "\n ${"[".repeat(300)}`,
      "goes 301 brackets deep",
    ],
    ["characters", `# ${"x".repeat(100_000)}`, "has 100002 characters; at most 100000 are allowed"],
  ])("in %s: 400", async (_, query, message) => {
    const reply = await ask(service.client, query);
    expect({ status: reply.status, code: reply.body.code }).toEqual({
      status: 400,
      code: "malformed",
    });
    expect(reply.body.message).toContain(message);
  });

  test("in tokens, and cycles of fragments are rejected", async () => {
    const wide = await ask(service.client, `{ ${many(15_001, () => "a")} }`);
    expect(faultOf(wide).extensions.classification).toBe("InvalidSyntax");
    const cycle = "{ ...a } fragment a on Query { ...b } fragment b on Query { ...a __typename }";
    expect(faultOf(await ask(service.client, cycle)).extensions.classification).toBe(
      "ValidationError",
    );
  });

  test("with limits that the largest queries of DataHub's web application meet", async () => {
    expect((await ask(service.client, deep(24))).body.errors).toBeUndefined();
    const text = "[".repeat(2_000);
    const quoted = `{ __type(name: "${text}") { name } } # ${text}`;
    expect((await ask(service.client, quoted)).body).toMatchObject({ data: { __type: null } });
    const block = `{ __type(name: """\\"""${text}"" \\ """) { name } }`;
    expect((await ask(service.client, block)).body).toMatchObject({ data: { __type: null } });
    const inline = `{ ${"...{".repeat(199)} __typename ${"}".repeat(199)} }`;
    expect((await ask(service.client, inline)).body.data).toEqual({ __typename: "Query" });
    const { body } = await ask(service.client, `{ ${many(20, (i) => `a${i}: __typename`)} }`);
    expect(Object.keys(body.data)).toHaveLength(20);
  });

  test("and queries of their characters, fields and depth are answered", async () => {
    const own = "name kind description specifiedByURL isOneOf";
    const values = "name description isDeprecated deprecationReason";
    const all = `${own} interfaces { ${own} } possibleTypes { ${own} } enumValues { ${values} } inputFields { name }
      fields { ${values} type { ${own} } args { name description defaultValue type { ${own} } } }`;
    const levels = 18;
    const fragment = (
      i: number,
    ) => `fragment f${i} on __Type { ...g${i} ...h${i} ofType { ...f${i + 1} } }
      fragment g${i} on __Type { ${all} } fragment h${i} on __Type { ${all} }`;
    const query = `{ __type(name: "Query") { ...f0 } }
      ${many(levels, fragment)} fragment f${levels} on __Type { ${own} }`;
    const written = parse(query);
    let fields = 0;
    visit(written, { Field: () => void fields++ });
    // Comments make up for the names, which are longer in DataHub's schema.
    const large = query.padEnd(46_918, "\n# about the field");
    expect(fields).toBeGreaterThan(1_608);
    expect((await ask(service.client, large)).body).toMatchObject({ data: { __type: {} } });
  });
});

describe("the explorer", () => {
  test("is a page that can only run its own script and only call its own service", async () => {
    const reply = await service.client.get("/api/graphql");
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toContain("text/html");
    const policy = reply.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self';/,
    );
    expect(policy).not.toContain("unsafe");
    expect(reply.headers.get("x-frame-options")).toBe("DENY");
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
    const { createHash } = await import("node:crypto");
    const [, script = ""] = /<script>([\s\S]*)<\/script>/.exec(reply.body) ?? [];
    expect(policy).toContain(createHash("sha256").update(script).digest("base64"));
    expect(reply.body).not.toMatch(/https?:\/\//);
  });
});

test("the explorer is off by default", async () => {
  await using plain = await runningService({ logLevel: "silent" });
  for (const path of ["/api/graphql", "/api/v2/graphql"]) {
    const reply = await plain.client.get(path);
    expect(reply.status, path).toBe(405);
    expect(reply.headers.get("content-type"), path).toContain("application/json");
    expect(reply.headers.get("allow"), path).toBe("POST");
  }
});

describe("other sites", () => {
  const query = { query: "{ __typename }" };
  const call = (headers: Record<string, string>) =>
    service.client.call("POST", "/api/graphql", query, headers);

  test("get no permission to read responses", async () => {
    const reply = await call({});
    const permissions = ({ headers }: typeof reply) =>
      [...headers.keys()].filter((name) => name.startsWith("access-control"));
    expect(permissions(reply)).toEqual([]);
    const preflight = await service.client.call("OPTIONS", "/api/graphql", undefined, {
      Origin: "https://evil.example",
      "Access-Control-Request-Method": "POST",
    });
    expect(preflight.headers.get("allow")).toContain("POST");
    expect(permissions(preflight)).toEqual([]);
  });

  test("cannot write, nor by DNS rebinding", async () => {
    expect((await call({ "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect(
      (await call({ Origin: "http://rebound.example:8080", "Sec-Fetch-Site": "same-origin" }))
        .status,
    ).toBe(403);
    expect((await call({ Origin: "http://localhost.evil.example" })).status).toBe(403);
    expect((await call({ Origin: "null" })).status).toBe(403);
    expect((await call({ Origin: service.address, "Sec-Fetch-Site": "same-origin" })).status).toBe(
      200,
    );
  });
});
