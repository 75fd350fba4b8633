/**
 * Policies on large hierarchies: containers inside are looked up in pages and cached, and policies
 * over the limit are dropped.
 */
import { describe, expect, test } from "vitest";
import type { Policy } from "../../src/auth/policies/policy.ts";
import {
  createPolicyExpansion,
  type HierarchyLookup,
} from "../../src/auth/policies/policy-expansion.ts";
import { createHierarchyLookup } from "../../src/catalog/search/filter/hierarchy.ts";
import { CatalogError } from "../../src/core/errors.ts";
import type { Condition, SearchQuery, SearchReader } from "../../src/views/search/search.ts";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { encoded, proposal } from "../support/client.ts";
import { guardedService, writeAsOperator } from "./guarded-service.ts";

const container = (n: number) => `urn:li:container:c${n}`;
const TOP = container(0);

/**
 * A tree of containers with `children` each, with the parts of a search reader that lookups need.
 */
function treeOf(count: number, children: number) {
  const asked: SearchQuery[] = [];
  const parents = new Map<string, string[]>();
  for (let n = 1; n < count; n++) {
    const parent = container(Math.floor((n - 1) / children));
    const own = parents.get(parent);
    if (own === undefined) parents.set(parent, [container(n)]);
    else own.push(container(n));
  }
  function matching(condition: Condition | undefined): readonly string[] {
    if (condition?.kind === "equal") {
      return condition.values.flatMap((value) => parents.get(String(value)) ?? []);
    }
    return Array.from({ length: count }, (_, n) => container(n));
  }
  const reader = {
    async search(query: SearchQuery) {
      asked.push(query);
      const found = matching(query.condition);
      const start = Number(query.after?.[0] ?? 0);
      const hits = found.slice(start, start + query.count).map((urn, i) => ({
        ...{ document: { urn }, score: 1, cursor: [start + i + 1] },
      }));
      return { hits, total: hits.length } as unknown as Awaited<ReturnType<SearchReader["search"]>>;
    },
    documents: async () => [],
  };
  return { asked, lookup: createHierarchyLookup(reader) };
}

const reading = (values: readonly string[], condition = "EQUALS"): Policy => ({
  ...{ type: "METADATA", state: "ACTIVE", privileges: ["VIEW_ENTITY_PAGE"] },
  actors: { allUsers: true },
  resources: { filter: { criteria: [{ field: "CONTAINER", values, condition }] } },
});
const ofTypes: Policy = {
  ...reading([]),
  resources: { filter: { criteria: [{ field: "TYPE", values: ["dataset"] }] } },
};
const belowOf = (policy: Policy | undefined) => policy?.resources?.filter?.criteria[0]?.below;

function policyExpansion(lookup: HierarchyLookup) {
  const warnings: string[] = [];
  let time = 0;
  const options = {
    now: () => time,
    logger: { warn: (_: object, message: string) => void warnings.push(message) },
  };
  const pass = (ms: number): void => {
    time += ms;
  };
  return { ...createPolicyExpansion(lookup, options), warnings, pass };
}

describe("policy expansion", () => {
  test.each([
    ["one container has many children", 25_000, 24_999],
    ["many containers have children", 60_000, 10],
    ["their number reaches the limit", 100_000, 400],
  ])("finds all containers where %s", async (_, count, children) => {
    const { lookup } = treeOf(count, children);
    const { expand, warnings } = policyExpansion(lookup);
    for (const policy of [reading([TOP]), reading(["urn:li:container:"], "STARTS_WITH")]) {
      const [found] = await expand([policy]);
      expect(belowOf(found)?.size).toBe(count);
    }
    expect(warnings).toEqual([]);
  });

  test("drops a policy on too many containers, and keeps others", async () => {
    const { lookup } = treeOf(100_002, 50_000);
    const { expand, warnings, pass } = policyExpansion(lookup);
    const policies = [
      ...[reading([TOP]), reading([TOP], "NOT_EQUALS")],
      ...[reading(["urn:li:container:"], "STARTS_WITH"), ofTypes, reading([container(7)])],
    ];
    expect(await expand(policies)).toEqual([ofTypes, expect.anything()]);
    expect(warnings).toHaveLength(3);
    // The warning is not repeated.
    pass(60_000);
    expect(await expand(policies)).toHaveLength(2);
    expect(warnings).toHaveLength(3);
  });

  test("drops a policy on a hierarchy that is too deep", async () => {
    const { lookup } = treeOf(1_500, 1);
    const { expand, warnings } = policyExpansion(lookup);
    expect(await expand([reading([TOP], "NOT_EQUALS")])).toEqual([]);
    expect(warnings).toHaveLength(1);
    expect(belowOf((await expand([reading([container(600)])]))[0])?.size).toBe(900);
  });
});

describe("the cache of policy expansion", () => {
  test("shares one lookup among callers until the TTL ends or the entry is invalidated", async () => {
    const { lookup, asked } = treeOf(30, 3);
    const { expand, invalidate, pass } = policyExpansion(lookup);
    const both = await Promise.all([expand([reading([TOP])]), expand([reading([TOP])])]);
    const first = asked.length;
    expect(belowOf(both[0][0])).toBe(belowOf(both[1][0]));
    await expand([reading([TOP])]);
    expect(asked).toHaveLength(first);
    pass(1_000);
    const [again] = await expand([reading([TOP])]);
    expect(asked).toHaveLength(2 * first);
    // An equal set is the same object, so that nothing derived from it is built again.
    expect(belowOf(again)).toBe(belowOf(both[0][0]));
    invalidate();
    await expand([reading([TOP])]);
    expect(asked).toHaveLength(3 * first);
  });

  test("keeps no entry that was invalidated during its lookup", async () => {
    const answers: ((urns: readonly string[]) => void)[] = [];
    const { expand, invalidate } = policyExpansion({
      below: () => new Promise((answer) => answers.push(answer)),
      beginning: async () => [],
    });
    const before = expand([reading([TOP])]);
    invalidate();
    const after = expand([reading([TOP])]);
    answers[1]?.([TOP, container(2)]);
    answers[0]?.([TOP, container(1)]);
    expect(belowOf((await before)[0])).toEqual(new Set([TOP, container(1)]));
    const now = new Set([TOP, container(2)]);
    expect(belowOf((await after)[0])).toEqual(now);
    expect(belowOf((await expand([reading([TOP])]))[0])).toEqual(now);
  });

  test("retries a failed lookup, and rejects reads meanwhile", async () => {
    let fault: CatalogError | undefined = new CatalogError("unavailable", "the view is behind");
    const { expand } = policyExpansion({
      below: async (urns) => {
        if (fault !== undefined) throw fault;
        return urns;
      },
      beginning: async () => [],
    });
    await expect(expand([reading([TOP]), ofTypes])).rejects.toBe(fault);
    fault = undefined;
    expect(await expand([reading([TOP]), ofTypes])).toHaveLength(2);
  });
});

test("a policy on a tree of more than ten thousand containers permits reads inside, besides other policies", async () => {
  const MINA = "urn:li:corpuser:mina";
  const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
  const [inside, outside] = [dataset("inside"), dataset("outside")];
  await using service = await guardedService({ readAuthorization: "on", logLevel: "silent" });
  const { client, operator } = service;
  const { token } = await makeToken(client, { actorUrn: MINA }, operator);
  const count = 10_500;
  const batchSize = 1_500;
  for (let from = 1; from <= count; from += batchSize) {
    const proposals = Array.from({ length: batchSize }, (_, i) =>
      proposal(container(from + i), "container", { container: TOP }),
    );
    const sent = await client.call(
      ...(["POST", "/aspects?action=ingestProposalBatch"] as const),
      ...[{ proposals }, operator],
    );
    expect(sent.status).toBe(200);
  }
  await writeAsOperator(service, inside, "container", { container: container(count) });
  await writeAsOperator(service, outside, "container", { container: container(count + 1) });
  const policies = [
    ["view-entity-page-all", { ...ofTypes, state: "INACTIVE" }],
    ["mina", { ...reading([TOP]), actors: { users: [MINA] } }],
    ["tags", { ...reading([]), resources: { type: "tag", allResources: true } }],
  ] as const;
  await writeAsOperator(service, "urn:li:tag:a", "tagProperties", { name: "a" });
  for (const [id, policy] of policies) {
    const info = { displayName: id, description: "", ...policy };
    await writeAsOperator(service, `urn:li:dataHubPolicy:${id}`, "dataHubPolicyInfo", info);
  }
  const sees = async (urn: string) => {
    const path = `/entitiesV2/${encoded(urn)}`;
    const { status, body } = await client.call("GET", path, undefined, asBearer(token));
    expect(status).toBe(200);
    return Object.keys(body.aspects).length > 1;
  };
  expect(await sees("urn:li:tag:a")).toBe(true);
  expect(await sees(inside)).toBe(true);
  expect(await sees(outside)).toBe(false);
  expect(await sees(container(1))).toBe(true);
});
