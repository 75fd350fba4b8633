/**
 * Access filters: the filter of entities, its condition on documents and the evaluation of the
 * policies give the same result.
 */
import { array, assert, constantFrom, oneof, option, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import {
  meets,
  type Policy,
  type PolicyCriterion,
  type Principal,
} from "../../src/auth/policies/policy.ts";
import { accessFilterOf, filterFields } from "../../src/auth/policies/policy-filter.ts";
import { resourceOf } from "../../src/auth/policies/principals.ts";
import { toRead } from "../../src/auth/policies/privileges.ts";
import type { EntityState } from "../../src/core/entity-state.ts";
import { revision } from "../../src/core/position.ts";
import { holds } from "../../src/views/search/evaluate.ts";
import { defaultModel } from "../model/default-model.ts";
import { documentOf, rules, stateOf } from "../projections/search-state.ts";

const MINA = "urn:li:corpuser:mina";
const GROUP = "urn:li:corpGroup:seed-keepers";
const KIND = "urn:li:ownershipType:steward";
const principal: Principal = { urn: MINA, groups: [GROUP], roles: [] };
const fields = filterFields(rules.rules, defaultModel);

const tags = ["urn:li:tag:a", "urn:li:tag:A", "urn:li:tag:ab"];
const domains = ["urn:li:domain:x", "urn:li:domain:y"];
const containers = ["urn:li:container:one", "urn:li:container:two"];
const urns = [
  "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)",
  "urn:li:dataset:(urn:li:dataPlatform:hive,ab,PROD)",
  "urn:li:chart:(looker,a)",
];
const instances = ["urn:li:dataPlatformInstance:(urn:li:dataPlatform:hive,west)"];
const values: Readonly<Record<string, readonly string[]>> = {
  TYPE: ["dataset", "chart", "corpuser"],
  URN: [...urns, "urn:li:dataset:(urn:li:dataPlatform:hive,a"],
  RESOURCE_URN: urns,
  OWNER: [MINA, GROUP, "urn:li:corpuser:otto"],
  DOMAIN: domains,
  TAG: [...tags, "urn:li:tag:"],
  GLOSSARY: ["urn:li:glossaryTerm:t"],
  CONTAINER: containers,
  DATA_PLATFORM_INSTANCE: instances,
  GROUP_MEMBERSHIP: [GROUP],
  NOTHING: ["x"],
};

const thing = record({
  urn: constantFrom(...urns),
  tags: array(constantFrom(...tags), { maxLength: 2 }),
  domains: array(constantFrom(...domains), { maxLength: 2 }),
  container: option(constantFrom(...containers), { nil: undefined }),
  owner: option(
    record({
      owner: constantFrom(MINA, GROUP, "urn:li:corpuser:otto"),
      typeUrn: option(constantFrom(KIND, `${KIND}2`), { nil: undefined }),
    }),
    { nil: undefined },
  ),
});
const OTTO = "urn:li:corpuser:otto";
const user = record({
  urn: constantFrom(OTTO),
  tags: array(constantFrom(...tags), { maxLength: 2 }),
  groups: array(constantFrom(GROUP, `${GROUP}2`), { maxLength: 2 }),
});
const entity = oneof({ arbitrary: thing, weight: 3 }, { arbitrary: user, weight: 1 });
const aspectsOf = ({ urn, ...aspects }: { urn: string } & Record<string, unknown>) =>
  [
    urn,
    urn === OTTO
      ? {
          globalTags: { tags: (aspects.tags as string[]).map((tag) => ({ tag })) },
          nativeGroupMembership: { nativeGroups: aspects.groups },
        }
      : {
          globalTags: { tags: (aspects.tags as string[]).map((tag) => ({ tag })) },
          domains: { domains: aspects.domains },
          ...(aspects.container !== undefined && { container: { container: aspects.container } }),
          ...(aspects.owner !== undefined && {
            ownership: {
              owners: [{ type: "CUSTOM", ...(aspects.owner as object) }],
              lastModified: { time: 1, actor: MINA },
            },
          }),
        },
  ] as const;

const criterion = constantFrom(...Object.keys(values)).chain((field) =>
  record({
    field: constantFrom(field),
    values: array(constantFrom(...(values[field] ?? [])), { minLength: 1, maxLength: 2 }),
    condition: constantFrom("EQUALS", "NOT_EQUALS", "STARTS_WITH", "UNHEARD_OF"),
  }),
);
const policy = record({
  type: constantFrom("METADATA", "METADATA", "METADATA", "PLATFORM", "OTHER"),
  state: constantFrom("ACTIVE", "ACTIVE", "INACTIVE"),
  privileges: constantFrom(["VIEW_ENTITY_PAGE"], ["EDIT_ENTITY"], ["MANAGE_POLICIES"]),
  actors: constantFrom(
    { users: [MINA] },
    { groups: [GROUP] },
    { allUsers: true },
    { users: ["urn:li:corpuser:otto"] },
    { resourceOwners: true },
    { resourceOwners: true, resourceOwnersTypes: [KIND] },
    { roles: ["urn:li:dataHubRole:Reader"] },
  ),
  resources: option(record({ filter: record({ criteria: array(criterion, { maxLength: 2 }) }) }), {
    nil: undefined,
  }),
});

describe("an access filter", () => {
  test("equals the policies, for every entity and every document", () => {
    let exact = 0;
    assert(
      property(
        array(policy, { maxLength: 3 }),
        array(entity, { minLength: 1, maxLength: 4 }),
        (policies, entities) => {
          const accessFilter = accessFilterOf(policies as readonly Policy[], principal, fields);
          for (const one of entities) {
            const state = stateOf(...aspectsOf(one));
            const stored = Object.fromEntries(
              [...state.aspects.values()].map(({ name, value }) => [name, JSON.parse(value)]),
            );
            const resource = resourceOf(stored, one.urn, one.urn.split(":")[2] ?? "");
            const expected = meets(policies as readonly Policy[], principal, toRead, resource);
            expect(accessFilter.isVisible(state)).toBe(expected);
            if (accessFilter.everything) {
              expect(expected).toBe(true);
              continue;
            }
            const document = documentOf(...aspectsOf(one));
            const certain = holds(accessFilter.condition, document);
            if (certain) expect(expected).toBe(true);
            const perhaps =
              accessFilter.toCheck !== undefined && holds(accessFilter.toCheck, document);
            if (expected) expect(certain || perhaps).toBe(true);
            if (accessFilter.toCheck === undefined) {
              expect(certain).toBe(expected);
              exact++;
            }
          }
        },
      ),
      { numRuns: 2_000 },
    );
    expect(exact).toBeGreaterThan(500);
  });

  test("has a condition for every criterion that documents of the model cover", () => {
    expect(fields.memberTypes).toEqual(["corpuser"]);
    expect(fields.ofCriteria).toEqual({
      TYPE: "_entityType",
      URN: "urn",
      OWNER: "owners",
      DOMAIN: "domains",
      TAG: "tags",
      GLOSSARY: "glossaryTerms",
      CONTAINER: "container",
      DATA_PLATFORM_INSTANCE: "platformInstance",
    });
    // When further fields are indexed under the name, entities are evaluated one by one.
    const also = { path: ["tag"], field: "tags", aliases: [] };
    expect(
      filterFields({ ...rules.rules, another: [also] }, defaultModel).ofCriteria.TAG,
    ).toBeUndefined();
  });

  test("on group membership evaluates possible members one by one", () => {
    const filterOf = (condition: string) =>
      accessFilterOf(
        [
          {
            ...{ type: "METADATA", state: "ACTIVE", privileges: ["VIEW_ENTITY_PAGE"] },
            actors: { users: [MINA] },
            resources: {
              filter: { criteria: [{ field: "GROUP_MEMBERSHIP", values: [GROUP], condition }] },
            },
          },
        ],
        principal,
        fields,
      );
    const [chart, otto] = [documentOf("urn:li:chart:(looker,a)"), documentOf(OTTO)];
    const asked = (condition: string) => {
      const { condition: certain, toCheck = certain } = filterOf(condition);
      return [chart, otto].map((one) => [holds(certain, one), holds(toCheck, one)]);
    };
    expect(asked("EQUALS")).toEqual([
      [false, false],
      [false, true],
    ]);
    expect(asked("NOT_EQUALS")).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  test("on structured properties evaluates entities one by one", () => {
    const propertyUrn = "urn:li:structuredProperty:level";
    const structuredPropertyValues = [{ propertyUrn, values: ["open"] }];
    const filter = {
      criteria: [{ field: "STRUCTURED_PROPERTY", values: [], structuredPropertyValues }],
    };
    const { condition, toCheck, isVisible } = accessFilterOf(
      [
        {
          ...{ type: "METADATA", state: "ACTIVE", privileges: ["VIEW_ENTITY_PAGE"] },
          ...{ actors: { users: [MINA] }, resources: { filter } },
        },
      ],
      principal,
      fields,
    );
    const chart = "urn:li:chart:(looker,a)";
    expect(holds(condition, documentOf(chart))).toBe(false);
    expect(holds(toCheck ?? condition, documentOf(chart))).toBe(true);
    const of = (value: string) =>
      stateOf(chart, {
        structuredProperties: { properties: [{ propertyUrn, values: [{ string: value }] }] },
      });
    expect([isVisible(of("open")), isVisible(of("secret")), isVisible(stateOf(chart))]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("always permits the own user, and nothing else without policies", () => {
    const accessFilter = accessFilterOf([], principal, fields);
    expect(accessFilter.isVisible(stateOf(MINA))).toBe(true);
    expect(accessFilter.isVisible(stateOf("urn:li:corpuser:otto"))).toBe(false);
    expect(holds(accessFilter.condition, documentOf(MINA))).toBe(true);
    expect(holds(accessFilter.condition, documentOf("urn:li:corpuser:otto"))).toBe(false);
  });

  test("does not read the aspects of an entity whose type decides", () => {
    const unreadable = (urn: string): EntityState => ({
      ...{ urn, revision: revision(0) },
      get aspects(): never {
        throw new Error("aspects were read");
      },
    });
    const allowed = (criteria: PolicyCriterion[]): Policy => ({
      ...{ type: "METADATA", state: "ACTIVE", privileges: ["VIEW_ENTITY_PAGE"] },
      ...{ actors: { allUsers: true }, resources: { filter: { criteria } } },
    });
    const ofType = { field: "TYPE", values: ["dataset"] };
    const tagged = { field: "TAG", values: tags };
    const accessFilter = accessFilterOf(
      [allowed([ofType]), allowed([{ field: "RESOURCE_TYPE", values: ["chart"] }, tagged])],
      principal,
      fields,
    );
    const [dataset = "", , chart = ""] = urns;
    expect(accessFilter.isVisible(unreadable(dataset))).toBe(true);
    expect(accessFilter.isVisible(unreadable("urn:li:dashboard:(looker,a)"))).toBe(false);
    expect(() => accessFilter.isVisible(unreadable(chart))).toThrow("aspects were read");
  });
});
