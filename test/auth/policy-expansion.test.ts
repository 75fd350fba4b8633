/**
 * Policies on a domain, container or glossary node apply to everything inside. Policies on a domain
 * apply to entities in the domain, not to its subdomains.
 */
import { array, assert, asyncProperty, constantFrom, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { meets, type Policy, type Principal } from "../../src/auth/policies/policy.ts";
import { createPolicyExpansion } from "../../src/auth/policies/policy-expansion.ts";
import { accessFilterOf, filterFields } from "../../src/auth/policies/policy-filter.ts";
import { findResource } from "../../src/auth/policies/principals.ts";
import { toRead } from "../../src/auth/policies/privileges.ts";
import type { Stored } from "../../src/auth/stored-entities.ts";
import { createHierarchyLookup } from "../../src/catalog/search/filter/hierarchy.ts";
import { entityTypeOf } from "../../src/core/urn.ts";
import { holds } from "../../src/views/search/evaluate.ts";
import type { SearchReader } from "../../src/views/search/search.ts";
import { defaultModel } from "../model/default-model.ts";
import { documentOf, rules, stateOf } from "../projections/search-state.ts";

const MINA = "urn:li:corpuser:mina";
const mina: Principal = { urn: MINA, groups: [], roles: [] };
const fields = filterFields(rules.rules, defaultModel);
const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;

/** Trees: seeds > beds > rows; store > shelf > box; plants > herbs > (term) mint. */
const tree: Readonly<Record<string, Stored>> = {
  "urn:li:domain:seeds": { domainProperties: { name: "Seeds" } },
  "urn:li:domain:beds": {
    domainProperties: { name: "Beds", parentDomain: "urn:li:domain:seeds" },
  },
  "urn:li:domain:rows": { domainProperties: { name: "Rows", parentDomain: "urn:li:domain:beds" } },
  "urn:li:container:store": { status: { removed: false } },
  "urn:li:container:shelf": { container: { container: "urn:li:container:store" } },
  "urn:li:container:box": {
    container: { container: "urn:li:container:shelf" },
    domains: { domains: ["urn:li:domain:rows"] },
  },
  "urn:li:glossaryNode:plants": { glossaryNodeInfo: { definition: "" } },
  "urn:li:glossaryNode:herbs": {
    glossaryNodeInfo: { definition: "", parentNode: "urn:li:glossaryNode:plants" },
  },
  "urn:li:glossaryTerm:mint": {
    glossaryTermInfo: {
      ...{ definition: "", termSource: "INTERNAL" },
      parentNode: "urn:li:glossaryNode:herbs",
    },
    domains: { domains: ["urn:li:domain:seeds"] },
  },
  [dataset("a")]: { domains: { domains: ["urn:li:domain:rows"] } },
  [dataset("b")]: { container: { container: "urn:li:container:box" } },
  [dataset("c")]: {
    glossaryTerms: {
      terms: [{ urn: "urn:li:glossaryTerm:mint" }],
      auditStamp: { time: 1, actor: MINA },
    },
  },
  [dataset("d")]: {
    domains: { domains: ["urn:li:domain:lost"] },
    dataPlatformInstance: {
      platform: "urn:li:dataPlatform:hive",
      instance: "urn:li:dataPlatformInstance:(urn:li:dataPlatform:hive,west)",
    },
  },
  [dataset("e")]: { status: { removed: false } },
  "urn:li:dataPlatformInstance:(urn:li:dataPlatform:hive,west)": { status: { removed: false } },
};
const urns = Object.keys(tree);
const entities = { find: async (urn: string) => tree[urn] };
const documents = new Map(urns.map((urn) => [urn, documentOf(urn, { ...tree[urn] })]));

/** The parts of a search reader that hierarchy lookups need. */
const reader = {
  async search({ condition, entityTypes }) {
    const found = [...documents.values()].filter(
      (one) =>
        entityTypes.includes(one.entityType) && (condition === undefined || holds(condition, one)),
    );
    const hits = found.map((document) => ({ document }));
    return { hits, total: hits.length } as unknown as Awaited<ReturnType<SearchReader["search"]>>;
  },
  async documents(asked: readonly string[]) {
    return asked.map((urn) => documents.get(urn));
  },
} as Pick<SearchReader, "search" | "documents">;
const logger = { warn: () => {} };
const { expand } = createPolicyExpansion(createHierarchyLookup(reader), { now: Date.now, logger });

const reading = (field: string, values: readonly string[], condition = "EQUALS"): Policy => ({
  ...{ type: "METADATA", state: "ACTIVE", privileges: ["VIEW_ENTITY_PAGE"] },
  actors: { users: [MINA] },
  resources: { filter: { criteria: [{ field, values, condition }] } },
});

/**
 * The urns that policies permit, by evaluation of each entity, by access filter on states, and by
 * condition on documents.
 */
async function shown(policies: readonly Policy[]) {
  const accessFilter = accessFilterOf(await expand(policies), mina, fields);
  const evaluated: string[] = [];
  const visible: string[] = [];
  const found: string[] = [];
  for (const urn of urns) {
    const document = documents.get(urn);
    const resource = await findResource(entities, urn, entityTypeOf(urn));
    if (meets(policies, mina, toRead, resource)) evaluated.push(urn);
    if (accessFilter.isVisible(stateOf(urn, { ...tree[urn] }))) visible.push(urn);
    if (document !== undefined && holds(accessFilter.condition, document)) found.push(urn);
  }
  expect(accessFilter.toCheck).toBeUndefined();
  return { evaluated, visible, found };
}

describe("a policy criterion", () => {
  test.each<[string, string, string[]]>([
    ["DOMAIN", "domain:seeds", ["seeds", "box", "mint", "a"]],
    ["DOMAIN", "domain:beds", ["beds", "box", "a"]],
    ["DOMAIN", "domain:lost", ["d"]],
    ["CONTAINER", "container:store", ["store", "shelf", "box", "b"]],
    ["CONTAINER", "container:box", ["box", "b"]],
    ["GLOSSARY", "glossaryNode:plants", ["plants", "herbs", "mint", "c"]],
    ["GLOSSARY", "glossaryTerm:mint", ["mint", "c"]],
    [
      "DATA_PLATFORM_INSTANCE",
      "dataPlatformInstance:(urn:li:dataPlatform:hive,west)",
      ["d", "hive,west)"],
    ],
  ])("on %s for %s applies to everything inside: %j", async (field, value, names) => {
    const { evaluated, visible, found } = await shown([reading(field, [`urn:li:${value}`])]);
    const last = (urn: string) =>
      urn.startsWith("urn:li:dataset:") ? urn.at(-7) : /(?:west\)|[^:]+)$/.exec(urn)?.[0];
    expect(evaluated.map(last)).toEqual(names);
    expect(visible).toEqual(evaluated);
    expect(found).toEqual(evaluated);
  });

  test("gives the same result by evaluation, on states and on documents", async () => {
    const criterion = constantFrom("DOMAIN", "CONTAINER", "GLOSSARY", "TYPE").chain((field) =>
      record({
        field: constantFrom(field),
        condition: constantFrom("EQUALS", "NOT_EQUALS", "STARTS_WITH"),
        values: array(
          constantFrom(...urns, "urn:li:domain:", "urn:li:container:s", "dataset", "urn:li:x:y"),
          { minLength: 1, maxLength: 2 },
        ),
      }),
    );
    const policies = array(array(criterion, { minLength: 1, maxLength: 2 }), {
      minLength: 1,
      maxLength: 2,
    });
    await assert(
      asyncProperty(policies, async (all) => {
        const { evaluated, visible, found } = await shown(
          all.map((criteria) => ({
            ...reading("TYPE", []),
            resources: { filter: { criteria } },
          })),
        );
        expect(visible).toEqual(evaluated);
        expect(found).toEqual(evaluated);
      }),
      { numRuns: 300 },
    );
  });

  test("of a cyclic hierarchy is evaluated completely", async () => {
    const round: Readonly<Record<string, Stored>> = {
      "urn:li:domain:a": { domainProperties: { name: "a", parentDomain: "urn:li:domain:b" } },
      "urn:li:domain:b": { domainProperties: { name: "b", parentDomain: "urn:li:domain:a" } },
      [dataset("a")]: { domains: { domains: ["urn:li:domain:a"] } },
    };
    const { fields } = await findResource(
      { find: async (urn) => round[urn] },
      dataset("a"),
      "dataset",
    );
    expect(fields.DOMAIN).toEqual(["urn:li:domain:a", "urn:li:domain:b"]);
  });
});
