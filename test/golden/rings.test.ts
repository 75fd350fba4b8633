/**
 * Cycles of parents: ingestion accepts them, because several writers can create one together.
 * Queries of ancestors or descendants end, and return every entity once.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GuardedService, guardedService, writeAsOperator } from "../auth/guarded-service.ts";
import { asBearer, ask, makeToken } from "../graphql/graphql-client.ts";
import { encoded, type Reply } from "../support/client.ts";

interface Kind {
  readonly type: string;
  readonly aspect: string;
  /** The aspect of a member of the cycle that names its parent. */
  readonly below: (parent: string) => object;
  /** The aspect of a dataset inside a member. */
  readonly within: readonly [aspect: string, value: (urn: string) => object];
  /** Search fields: of datasets inside, and of members. */
  readonly fields: readonly [string, string];
  /** The criterion of policies. */
  readonly criterion: string;
  /** An entity between a member and a dataset, whose parent is the member. */
  readonly between?: (urn: string) => readonly [urn: string, aspect: string, value: object];
}

let names = 0;
const stamp = { time: 1, actor: "urn:li:corpuser:mina" };
const kinds: readonly Kind[] = [
  {
    ...{ type: "container", aspect: "container", criterion: "CONTAINER" },
    below: (container) => ({ container }),
    within: ["container", (container) => ({ container })],
    fields: ["container", "container"],
  },
  {
    ...{ type: "domain", aspect: "domainProperties", criterion: "DOMAIN" },
    // Two domains of one level cannot have the same name.
    below: (parentDomain) => ({ name: `ring ${++names}`, parentDomain }),
    within: ["domains", (urn) => ({ domains: [urn] })],
    fields: ["domains", "parentDomain"],
  },
  {
    ...{ type: "glossaryNode", aspect: "glossaryNodeInfo", criterion: "GLOSSARY" },
    below: (parentNode) => ({ definition: "ring", parentNode }),
    within: ["glossaryTerms", (urn) => ({ terms: [{ urn: termIn(urn) }], auditStamp: stamp })],
    fields: ["glossaryTerms", "parentNode"],
    between: (urn) => [
      termIn(urn),
      "glossaryTermInfo",
      { definition: "in a ring", termSource: "INTERNAL", parentNode: urn },
    ],
  },
];
/** A dataset has terms, which are in glossary nodes. */
const termIn = (node: string): string => node.replace("glossaryNode:", "glossaryTerm:in-");
const sizes = [1, 2, 3];
const cases = kinds.flatMap((kind) => sizes.map((size) => ({ ...kind, size })));

const MINA = "urn:li:corpuser:mina";
const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,rings.${name},PROD)`;

let service: GuardedService;
let mina: Record<string, string>;
let position = 0;

async function write(urn: string, aspect: string, value: unknown): Promise<void> {
  position = await writeAsOperator(service, urn, aspect, value);
}

async function answered(
  method: string,
  path: string,
  body?: unknown,
  headers = service.operator,
): Promise<Reply["body"]> {
  const shown = { ...headers, "X-Annals-Min-Position": String(position) };
  const reply = await service.client.call(method, path, body, shown);
  expect(reply.status, `${path}: ${JSON.stringify(reply.body)}`).toBe(200);
  return reply.body;
}

/** The urns that a search returns, with repeats. */
async function found(
  entities: readonly string[],
  filter: object,
  headers?: Record<string, string>,
) {
  const body = { entities, input: "*", start: 0, count: 100, filter: { or: [{ and: [filter] }] } };
  const { value } = await answered("POST", "/entities?action=searchAcrossEntities", body, headers);
  return value.entities.toSorted();
}

beforeAll(async () => {
  service = await guardedService({ readAuthorization: "on" });
  const { token } = await makeToken(service.client, { actorUrn: MINA }, service.operator);
  mina = asBearer(token);
  for (const id of ["view-entity-page-all", "asset-owners-metadata-policy"]) {
    const { body } = await service.client.call(
      "GET",
      `/aspects/${encoded(`urn:li:dataHubPolicy:${id}`)}?aspect=dataHubPolicyInfo&version=0`,
      undefined,
      service.operator,
    );
    const [info] = Object.values(body.aspect);
    await write(`urn:li:dataHubPolicy:${id}`, "dataHubPolicyInfo", {
      ...(info as object),
      state: "INACTIVE",
    });
  }
});
afterAll(() => service?.[Symbol.asyncDispose]());

describe.each(cases)("in a cycle of $size, $type below $type,", (kind) => {
  const { type, size } = kind;
  const members = Array.from({ length: size }, (_, n) => `urn:li:${type}:r${size}-${n}`);
  const [first = ""] = members;
  const inside = members.map((_, n) => dataset(`${type}-${size}-${n}`));
  const outside = dataset(`${type}-${size}-outside`);

  beforeAll(async () => {
    for (const [n, urn] of members.entries()) {
      await write(urn, kind.aspect, kind.below(members[(n + 1) % size] ?? ""));
      if (kind.between !== undefined) await write(...kind.between(urn));
      const [aspect, value] = kind.within;
      await write(inside[n] ?? "", aspect, value(urn));
      await write(inside[n] ?? "", "browsePathsV2", {
        path: [...members, ...members].map((one) => ({ id: one, urn: one })),
      });
      const next = inside[(n + 1) % size] ?? "";
      await write(inside[n] ?? "", "upstreamLineage", {
        upstreams: [{ dataset: next, type: "COPY", auditStamp: stamp }],
      });
    }
    await write(outside, "status", { removed: false });
  });

  test.each(["DESCENDANTS_INCL", "ANCESTORS_INCL", "RELATED_INCL"])(
    "%s returns every entity inside, once",
    async (condition) => {
      const [ofDatasets, ofMembers] = kind.fields;
      const asked = { values: [first], condition };
      // An entity between a member and a dataset is not an ancestor of the member.
      const reached = kind.between !== undefined && condition === "ANCESTORS_INCL" ? [] : inside;
      expect(await found(["dataset"], { field: ofDatasets, ...asked })).toEqual(
        [...reached].sort(),
      );
      expect(await found([type], { field: ofMembers, ...asked })).toEqual([...members].sort());
    },
  );

  test("a policy on one member permits reading every entity inside the cycle, and no other", async () => {
    await write(`urn:li:dataHubPolicy:ring`, "dataHubPolicyInfo", {
      ...{ displayName: "ring", description: "", type: "METADATA", state: "ACTIVE" },
      ...{ privileges: ["VIEW_ENTITY_PAGE"], actors: { users: [MINA] } },
      resources: {
        filter: { criteria: [{ field: kind.criterion, values: [first], condition: "EQUALS" }] },
      },
    });
    const readable = async (urn: string) => {
      const shown = { ...mina, "X-Annals-Min-Position": String(position) };
      const { body } = await service.client.call(
        "GET",
        `/entitiesV2/${encoded(urn)}`,
        undefined,
        shown,
      );
      return body.aspects?.browsePathsV2 !== undefined;
    };
    await expect.poll(() => readable(inside.at(-1) ?? "")).toBe(true);
    for (const urn of inside) expect(await readable(urn)).toBe(true);
    const all = { field: "urn", condition: "EXISTS" };
    await expect.poll(() => found(["dataset"], all, mina)).toEqual([...inside].sort());
  });

  test("lineage and relationships end, and return every entity once", async () => {
    const others = inside.slice(1).sort();
    for (const direction of ["UPSTREAM", "DOWNSTREAM"]) {
      const { value } = await answered("POST", "/relationships?action=getLineage", {
        ...{ urn: inside[0], direction, maxHops: 20 },
      });
      expect(value.partial).toBe(false);
      const reached = value.relationships.map(({ entity }: { entity: string }) => entity);
      expect(reached.sort()).toEqual(others);
      const impact = await answered("POST", "/entities?action=searchAcrossLineage", {
        ...{ urn: inside[0], direction, input: "*", start: 0, count: 100, entities: [] },
      });
      const hits = impact.value.entities.map(({ entity }: { entity: string }) => entity);
      expect(hits.toSorted()).toEqual(others);
      const incoming = direction === "UPSTREAM" ? "INCOMING" : "OUTGOING";
      const related = await answered(
        "GET",
        `/relationships?urn=${encoded(first)}&direction=${incoming}&types=IsPartOf`,
      );
      const urns = related.relationships.map((one: { entity: string }) => one.entity);
      expect(new Set(urns).size).toBe(urns.length);
    }
  });

  test("browsing returns the folders as they were written", async () => {
    const path = members.map((urn) => `␟${urn}`).join("");
    const asked = { entity: "dataset", path, start: 0, count: 10, limit: 10 };
    const { value } = await answered("POST", "/entities?action=browseV2", asked);
    expect(value.groups).toHaveLength(1);
    await answered("POST", "/entities?action=browse", { ...asked, path: "" });
    await answered("POST", "/entities?action=getBrowsePaths", { urn: inside[0] });
  });

  test("GraphQL returns parents to the requested depth, and can move a member out of the cycle", async () => {
    if (type === "container") return;
    const [field, query, move] =
      type === "domain"
        ? ["parentDomain", "domain", "moveDomain(input: {resourceUrn: $urn, parentDomain: $to})"]
        : [
            "parentNode",
            "glossaryNode",
            "updateParentNode(input: {resourceUrn: $urn, parentNode: $to})",
          ];
    const above = `${field} { urn `.repeat(5) + "} ".repeat(5);
    const reply = await ask(
      service.client,
      `{ ${query}(urn: "${first}") { urn ${above} } }`,
      {},
      service.operator,
    );
    expect(reply.body.errors).toBeUndefined();
    expect(JSON.stringify(reply.body).split('"urn"')).toHaveLength(7);
    const mutate = (urn: string, to: string | null) =>
      ask(
        service.client,
        `mutation($urn: String!, $to: String) { ${move} }`,
        { urn, to },
        service.operator,
      );
    const onTop = `urn:li:${type}:on-top-of-${size}`;
    await write(onTop, kind.aspect, kind.below(first));
    // An entity outside may move below the cycle. A member may not move below its descendant.
    expect((await mutate(onTop, members.at(-1) ?? "")).body.errors).toBeUndefined();
    expect((await mutate(first, onTop)).body.errors[0].extensions.code).toBe(400);
    expect((await mutate(first, null)).body.errors).toBeUndefined();
  });

  test("references to a member are deleted, and the member is deleted", async () => {
    await answered("POST", "/entities?action=deleteReferences", { urn: first, dryRun: false });
    await answered("POST", "/entities?action=delete", { urn: first });
    const { value } = await answered("POST", "/entities?action=exists", { urn: first });
    expect(value).toBe(false);
  });
});
