import { describe, expect, test } from "vitest";
import {
  meets,
  type Policy,
  type PolicyResource,
  type Principal,
} from "../../src/auth/policies/policy.ts";
import type { PrivilegeAlternatives } from "../../src/auth/policies/privileges.ts";
import { builtInPolicies } from "../support/built-ins.ts";

const SOIL = "urn:li:tag:Soil";
const KEEPER = "urn:li:ownershipType:keeper";
const mira: Principal = {
  urn: "urn:li:corpuser:mira",
  groups: ["urn:li:corpGroup:growers"],
  roles: ["urn:li:dataHubRole:Editor"],
};
/** A user that owns the dataset only through a group. */
const inOwningGroup: Principal = {
  ...{ urn: "urn:li:corpuser:otto", groups: ["urn:li:corpGroup:waterers"], roles: [] },
};
const alternatives: PrivilegeAlternatives = [["MANAGE_POLICIES"]];
const policy = (actors: Policy["actors"], over: Partial<Policy> = {}): Policy => ({
  type: "PLATFORM",
  state: "ACTIVE",
  privileges: ["MANAGE_POLICIES"],
  actors,
  ...over,
});
const allUsersActor = { allUsers: true };
const dataset: PolicyResource = {
  owners: [
    { owner: mira.urn, kind: KEEPER },
    { owner: "urn:li:corpGroup:waterers", kind: undefined },
  ],
  fields: {
    TYPE: ["dataset"],
    URN: ["urn:li:dataset:(urn:li:dataPlatform:hive,beds.rows,PROD)"],
    TAG: [SOIL],
    OWNER: [mira.urn],
  },
};

describe("a criterion on structured properties", () => {
  const property = (id: string) => `urn:li:structuredProperty:${id}`;
  const resource = {
    owners: [],
    fields: { STRUCTURED_PROPERTY: [`${property("level")} secret`, `${property("days")} 30`] },
  };
  const criterion = (condition: string, ...named: readonly (readonly [string, string])[]) => ({
    ...{ field: "STRUCTURED_PROPERTY", values: [], condition },
    structuredPropertyValues: named.map(([id, value]) => ({
      ...{ propertyUrn: property(id), values: [value, "none"] },
    })),
  });
  test.each([
    ["one of the values", criterion("EQUALS", ["level", "secret"]), true],
    ["any of several properties", criterion("EQUALS", ["level", "open"], ["days", "30"]), true],
    ["a value of another property", criterion("EQUALS", ["days", "secret"]), false],
    ["the beginning of a value", criterion("STARTS_WITH", ["level", "sec"]), true],
    ["another value", criterion("NOT_EQUALS", ["level", "open"]), true],
    ["not its value", criterion("NOT_EQUALS", ["level", "secret"]), false],
    ["no property", criterion("EQUALS"), false],
    ["no property, negated", criterion("NOT_EQUALS"), false],
    ["values without a property", { field: "STRUCTURED_PROPERTY", values: ["secret"] }, false],
  ])("%s", (_, one, expected) => {
    const resources = { filter: { criteria: [one] } };
    const only = policy(allUsersActor, { type: "METADATA", resources });
    expect(meets([only], mira, alternatives, resource)).toBe(expected);
  });
});

describe("the actors of a policy", () => {
  test.each<[string, Policy["actors"], boolean]>([
    ["no actors", {}, false],
    ["all users", { allUsers: true }, true],
    ["the user", { users: [mira.urn] }, true],
    ["another user", { users: ["urn:li:corpuser:mira2"] }, false],
    ["one of the user's groups", { groups: ["urn:li:corpGroup:growers"] }, true],
    ["another group", { groups: ["urn:li:corpGroup:sowers"] }, false],
    ["all groups", { allGroups: true }, true],
    ["the user's role", { roles: ["urn:li:dataHubRole:Editor"] }, true],
    ["another role", { roles: ["urn:li:dataHubRole:Admin"] }, false],
    ["owners, without a resource", { resourceOwners: true }, false],
  ])("%s: %s", (_, actors, expected) => {
    expect(meets([policy(actors)], mira, alternatives)).toBe(expected);
  });

  test("allGroups matches only users that are in a group", () => {
    expect(meets([policy({ allGroups: true })], { ...mira, groups: [] }, alternatives)).toBe(false);
  });

  test.each<[string, Policy["actors"], Principal, boolean]>([
    ["the owner", { resourceOwners: true }, mira, true],
    ["another user", { resourceOwners: true }, { ...mira, urn: "urn:li:corpuser:otto" }, false],
    ["by one of their groups", { resourceOwners: true }, inOwningGroup, true],
    ["an owner of that kind", ofKinds(KEEPER), mira, true],
    ["an owner of one of those kinds", ofKinds("urn:li:ownershipType:x", KEEPER), mira, true],
    ["an owner of another kind", ofKinds("urn:li:ownershipType:payer"), mira, false],
    ["an owner, with an empty list of kinds", ofKinds(), mira, false],
    ["an owner without a kind", ofKinds("DATAOWNER"), inOwningGroup, false],
    ["kinds without resourceOwners", { resourceOwnersTypes: [KEEPER] }, mira, false],
  ])("of the owners of a resource match %s: %s", (_, actors, principal, expected) => {
    const metadata = policy(actors, { type: "METADATA" });
    expect(meets([metadata], principal, alternatives, dataset)).toBe(expected);
  });
});

function ofKinds(...kinds: readonly string[]): Policy["actors"] {
  return { resourceOwners: true, resourceOwnersTypes: kinds };
}

const charts = { resources: { type: "chart" } };

describe("the evaluation of policies", () => {
  test.each<[string, Partial<Policy>, boolean]>([
    ["an inactive policy allows nothing", { state: "INACTIVE" }, false],
    ["a policy with any other state is active", { state: "inactive" }, true],
    ["a policy without the privilege allows nothing", { privileges: ["EDIT_ENTITY"] }, false],
    ["a platform policy ignores resources", { resources: { type: "chart" } }, true],
    [
      "a metadata policy without resources allows requests without a resource",
      { type: "METADATA" },
      true,
    ],
    [
      "a metadata policy with resources does not allow requests without a resource",
      { type: "METADATA", resources: { filter: { criteria: [] } } },
      false,
    ],
    [
      "a policy of an unknown type is evaluated as a metadata policy",
      { type: "platform", ...charts },
      false,
    ],
    [
      "a policy of an unknown type without resources allows such requests",
      { type: "platform" },
      true,
    ],
  ])("%s", (_, over, expected) => {
    expect(meets([policy(allUsersActor, over)], mira, alternatives)).toBe(expected);
  });

  test("several policies together can grant all privileges of one alternative", () => {
    const either: PrivilegeAlternatives = [["MANAGE_POLICIES"], ["EDIT_ENTITY", "DELETE_ENTITY"]];
    const edit = policy(allUsersActor, { privileges: ["EDIT_ENTITY"] });
    const remove = policy(allUsersActor, { privileges: ["DELETE_ENTITY"] });
    expect(meets([edit], mira, either)).toBe(false);
    expect(meets([edit, remove], mira, either)).toBe(true);
    expect(meets([edit, remove], mira, [])).toBe(false);
    expect(meets([edit, remove], mira, [[]])).toBe(false);
  });
});

describe("the resource filter of a policy", () => {
  const criteria = (...all: [string, string[], string?][]): Policy["resources"] => ({
    filter: { criteria: all.map(([field, values, condition]) => ({ field, values, condition })) },
  });
  const noneOf = (...tags: string[]) => criteria(["TAG", tags, "NOT_EQUALS"]);
  test.each<[string, Policy["resources"], boolean]>([
    ["no filter", undefined, true],
    ["no criteria", criteria(), true],
    ["its type", criteria(["TYPE", ["chart", "dataset"]]), true],
    ["its type by the older name", criteria(["RESOURCE_TYPE", ["dataset"]]), true],
    ["another type", criteria(["TYPE", ["chart"]]), false],
    ["its type and another tag", criteria(["TYPE", ["dataset"]], ["TAG", ["x"]]), false],
    ["a prefix of its urn", criteria(["URN", ["urn:li:dataset:"], "STARTS_WITH"]), true],
    ["another prefix", criteria(["URN", ["urn:li:chart:"], "STARTS_WITH"]), false],
    ["not its tag", criteria(["TAG", ["urn:li:tag:Soil"], "NOT_EQUALS"]), false],
    ["not another tag", criteria(["TAG", ["urn:li:tag:Clay"], "NOT_EQUALS"]), true],
    ["a domain that it is not in", criteria(["DOMAIN", ["urn:li:domain:d"]]), false],
    ["an unknown field", criteria(["__proto__", ["x"]], ["constructor", ["x"]]), false],
    ["not a value of an unknown field", criteria(["TAGS", ["x"], "NOT_EQUALS"]), false],
    ["its type in small letters", criteria(["type", ["dataset"]]), true],
    ["an unknown condition", criteria(["TYPE", ["dataset"], "LIKE"]), false],
    ["its type, with an explicit condition", criteria(["TYPE", ["dataset"], "EQUALS"]), true],
    ["none of two tags, one of which it has", noneOf("urn:li:tag:x", SOIL), false],
    ["none of two tags", noneOf("urn:li:tag:x", "urn:li:tag:y"), true],
    ["a tag of an empty list", criteria(["TAG", []]), false],
    ["none of an empty list", noneOf(), true],
    ["one of two prefixes", criteria(["TAG", ["urn:x", "urn:li:t"], "STARTS_WITH"]), true],
    ["its owner", criteria(["OWNER", [mira.urn]]), true],
    [
      "another type, by the older name in small letters",
      criteria(["resource_type", ["chart"]]),
      false,
    ],
    ["its type, in the older form", { type: "dataset", allResources: true }, true],
    ["its urn, in the older form", { resources: dataset.fields.URN }, true],
    ["no urn, in the older form", { type: "dataset", resources: [] }, false],
    ["all urns, in the older form", { resources: ["x"], allResources: true }, true],
    ["all resources, in the older form", { allResources: true }, true],
    ["a filter, which overrides the older form", { type: "chart", filter: { criteria: [] } }, true],
  ])("%s: %s", (_, resources, expected) => {
    const metadata = policy(allUsersActor, { type: "METADATA", resources });
    expect(meets([metadata], mira, alternatives, dataset)).toBe(expected);
  });

  test("a filter matches no request without a resource", () => {
    const filtered = policy(allUsersActor, {
      type: "METADATA",
      resources: criteria(["TYPE", ["a"], "NOT_EQUALS"]),
    });
    expect(meets([filtered], mira, alternatives)).toBe(false);
  });
});

describe("the privilege constraints of a policy", () => {
  const tag = (name: string): PolicyResource => ({
    owners: [],
    fields: { TYPE: ["tag"], URN: [`urn:li:tag:${name}`] },
  });
  const constrained = (values: string[], condition: string, type = "METADATA"): Policy =>
    policy(allUsersActor, {
      type,
      resources: {
        privilegeConstraints: { criteria: [{ field: "URN", values, condition }] },
      },
    });

  test.each<[string, Policy, PolicyResource[], boolean]>([
    [
      "allow a change that satisfies them",
      constrained(["urn:li:tag:a"], "EQUALS"),
      [tag("a")],
      true,
    ],
    [
      "reject changes of which one violates them",
      constrained(["urn:li:tag:a"], "EQUALS"),
      [tag("a"), tag("b")],
      false,
    ],
    ["reject an excluded urn", constrained(["urn:li:tag:a"], "NOT_EQUALS"), [tag("a")], false],
    [
      "allow urns that are not excluded",
      constrained(["urn:li:tag:a"], "NOT_EQUALS"),
      [tag("b"), tag("c")],
      true,
    ],
    [
      "allow a urn with the prefix",
      constrained(["urn:li:tag:pii."], "STARTS_WITH"),
      [tag("pii.x")],
      true,
    ],
    [
      "reject a urn without the prefix",
      constrained(["urn:li:tag:pii."], "STARTS_WITH"),
      [tag("x")],
      false,
    ],
    ["reject every change for an unknown condition", constrained(["x"], "LIKE"), [tag("x")], false],
    ["allow a request without changes", constrained(["urn:li:tag:a"], "EQUALS"), [], true],
    [
      "apply to platform policies, too",
      constrained(["urn:li:tag:a"], "EQUALS", "PLATFORM"),
      [tag("b")],
      false,
    ],
  ])("%s", (_, one, parts, expected) => {
    expect(meets([one], mira, alternatives, dataset, parts)).toBe(expected);
  });

  test("do not apply where another policy allows the change without them", () => {
    const one = constrained(["urn:li:tag:a"], "EQUALS");
    const free = policy(allUsersActor, { type: "METADATA" });
    expect(meets([one, free], mira, alternatives, dataset, [tag("b")])).toBe(true);
  });
});

describe("the built-in policies", () => {
  const defaults = builtInPolicies;
  const root = { urn: "urn:li:corpuser:datahub", groups: [], roles: [] };

  test("allow everything to the root user and administrators, and nothing to others", () => {
    const admin = { ...mira, roles: ["urn:li:dataHubRole:Admin"] };
    for (const alternatives of [
      [["MANAGE_ACCESS_TOKENS"]],
      [["EDIT_ENTITY", "RESTORE_INDICES_PRIVILEGE"]],
    ] as PrivilegeAlternatives[]) {
      expect(meets(defaults, root, alternatives, dataset)).toBe(true);
      expect(meets(defaults, admin, alternatives, dataset)).toBe(true);
      expect(meets(defaults, mira, alternatives, dataset)).toBe(false);
    }
    expect(meets(defaults, mira, [["GENERATE_PERSONAL_ACCESS_TOKENS"]])).toBe(false);
  });

  test("include an inactive one that gives all users their own tokens", () => {
    const active = defaults.map((one) => ({ ...one, state: "ACTIVE" }));
    expect(meets(active, mira, [["GENERATE_PERSONAL_ACCESS_TOKENS"]])).toBe(true);
    expect(meets(active, mira, [["MANAGE_ACCESS_TOKENS"]])).toBe(false);
  });
});
