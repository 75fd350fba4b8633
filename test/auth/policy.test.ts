import { describe, expect, test } from "vitest";
import {
  meets,
  type Policy,
  type Principal,
  type Resource,
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
/** Who owns the dataset by a group alone. */
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
const everybody = { allUsers: true };
const dataset: Resource = {
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

describe("actors", () => {
  test.each<[string, Policy["actors"], boolean]>([
    ["nobody", {}, false],
    ["all users", { allUsers: true }, true],
    ["the user", { users: [mira.urn] }, true],
    ["another user", { users: ["urn:li:corpuser:mira2"] }, false],
    ["one of the user's groups", { groups: ["urn:li:corpGroup:growers"] }, true],
    ["another group", { groups: ["urn:li:corpGroup:sowers"] }, false],
    ["all groups", { allGroups: true }, true],
    ["the user's role", { roles: ["urn:li:dataHubRole:Editor"] }, true],
    ["another role", { roles: ["urn:li:dataHubRole:Admin"] }, false],
    ["owners, of nothing in particular", { resourceOwners: true }, false],
  ])("%s: %s", (_, actors, expected) => {
    expect(meets([policy(actors)], mira, alternatives)).toBe(expected);
  });

  test("in all groups are those alone who are in one", () => {
    expect(meets([policy({ allGroups: true })], { ...mira, groups: [] }, alternatives)).toBe(false);
  });

  test.each<[string, Policy["actors"], Principal, boolean]>([
    ["the owner", { resourceOwners: true }, mira, true],
    ["a stranger", { resourceOwners: true }, { ...mira, urn: "urn:li:corpuser:otto" }, false],
    ["by one of their groups", { resourceOwners: true }, inOwningGroup, true],
    ["an owner of that kind", ofKinds(KEEPER), mira, true],
    ["an owner of one of those kinds", ofKinds("urn:li:ownershipType:x", KEEPER), mira, true],
    ["an owner of another kind", ofKinds("urn:li:ownershipType:payer"), mira, false],
    ["an owner of none of no kinds", ofKinds(), mira, false],
    ["an owner whose kind is not told, by its name", ofKinds("DATAOWNER"), inOwningGroup, false],
    ["where owners are not meant", { resourceOwnersTypes: [KEEPER] }, mira, false],
  ])("who own it: %s", (_, actors, principal, expected) => {
    const metadata = policy(actors, { type: "METADATA" });
    expect(meets([metadata], principal, alternatives, dataset)).toBe(expected);
  });
});

function ofKinds(...kinds: readonly string[]): Policy["actors"] {
  return { resourceOwners: true, resourceOwnersTypes: kinds };
}

const charts = { resources: { type: "chart" } };

describe("policies", () => {
  test.each<[string, Partial<Policy>, boolean]>([
    ["that are inactive allow nothing", { state: "INACTIVE" }, false],
    ["of any other state count", { state: "inactive" }, true],
    ["without the privilege allow nothing", { privileges: ["EDIT_ENTITY"] }, false],
    ["of the platform do not look at resources", { resources: { type: "chart" } }, true],
    ["of metadata without resources hold what is asked about nothing", { type: "METADATA" }, true],
    [
      "of metadata with resources do not, be they all of them",
      { type: "METADATA", resources: { filter: { criteria: [] } } },
      false,
    ],
    ["of a type that there is not are as of metadata", { type: "platform", ...charts }, false],
    ["of that type without resources, too", { type: "platform" }, true],
  ])("%s", (_, over, expected) => {
    expect(meets([policy(everybody, over)], mira, alternatives)).toBe(expected);
  });

  test("privilege alternatives are met by any of its lists, each as a whole, from several policies", () => {
    const either: PrivilegeAlternatives = [["MANAGE_POLICIES"], ["EDIT_ENTITY", "DELETE_ENTITY"]];
    const edit = policy(everybody, { privileges: ["EDIT_ENTITY"] });
    const remove = policy(everybody, { privileges: ["DELETE_ENTITY"] });
    expect(meets([edit], mira, either)).toBe(false);
    expect(meets([edit, remove], mira, either)).toBe(true);
    expect(meets([edit, remove], mira, [])).toBe(false);
    expect(meets([edit, remove], mira, [[]])).toBe(false);
  });
});

describe("resources", () => {
  const criteria = (...all: [string, string[], string?][]): Policy["resources"] => ({
    filter: { criteria: all.map(([field, values, condition]) => ({ field, values, condition })) },
  });
  const neither = (...tags: string[]) => criteria(["TAG", tags, "NOT_EQUALS"]);
  test.each<[string, Policy["resources"], boolean]>([
    ["none: all", undefined, true],
    ["no criteria: all", criteria(), true],
    ["its type", criteria(["TYPE", ["chart", "dataset"]]), true],
    ["its type by the older name", criteria(["RESOURCE_TYPE", ["dataset"]]), true],
    ["another type", criteria(["TYPE", ["chart"]]), false],
    ["its type and another tag", criteria(["TYPE", ["dataset"]], ["TAG", ["x"]]), false],
    ["the beginning of its urn", criteria(["URN", ["urn:li:dataset:"], "STARTS_WITH"]), true],
    ["another beginning", criteria(["URN", ["urn:li:chart:"], "STARTS_WITH"]), false],
    ["not its tag", criteria(["TAG", ["urn:li:tag:Soil"], "NOT_EQUALS"]), false],
    ["not another tag", criteria(["TAG", ["urn:li:tag:Clay"], "NOT_EQUALS"]), true],
    ["a domain, which it has not", criteria(["DOMAIN", ["urn:li:domain:d"]]), false],
    ["a field that there is not", criteria(["__proto__", ["x"]], ["constructor", ["x"]]), false],
    ["not a field that there is not", criteria(["TAGS", ["x"], "NOT_EQUALS"]), false],
    ["its type in small letters", criteria(["type", ["dataset"]]), true],
    ["a condition that there is not", criteria(["TYPE", ["dataset"], "LIKE"]), false],
    ["its type, where the condition is said", criteria(["TYPE", ["dataset"], "EQUALS"]), true],
    ["neither of two tags, one of which it has", neither("urn:li:tag:x", SOIL), false],
    ["neither of two tags", neither("urn:li:tag:x", "urn:li:tag:y"), true],
    ["a tag of no tags", criteria(["TAG", []]), false],
    ["none of no tags", neither(), true],
    ["one of two beginnings", criteria(["TAG", ["urn:x", "urn:li:t"], "STARTS_WITH"]), true],
    ["its owner", criteria(["OWNER", [mira.urn]]), true],
    ["a field in small letters, by its older name", criteria(["resource_type", ["chart"]]), false],
    ["its type, as it was told once", { type: "dataset", allResources: true }, true],
    ["its urn, as it was told once", { resources: dataset.fields.URN }, true],
    ["no urn, as it was told once", { type: "dataset", resources: [] }, false],
    ["all urns, as it was told once", { resources: ["x"], allResources: true }, true],
    ["all, as it was told once", { allResources: true }, true],
    ["a filter before what was told once", { type: "chart", filter: { criteria: [] } }, true],
  ])("%s: %s", (_, resources, expected) => {
    const metadata = policy(everybody, { type: "METADATA", resources });
    expect(meets([metadata], mira, alternatives, dataset)).toBe(expected);
  });

  test("are not matched by a filter when nothing in particular is asked about", () => {
    const filtered = policy(everybody, {
      type: "METADATA",
      resources: criteria(["TYPE", ["a"], "NOT_EQUALS"]),
    });
    expect(meets([filtered], mira, alternatives)).toBe(false);
  });
});

describe("constraints", () => {
  const tag = (name: string): Resource => ({
    owners: [],
    fields: { TYPE: ["tag"], URN: [`urn:li:tag:${name}`] },
  });
  const constrained = (values: string[], condition: string, type = "METADATA"): Policy =>
    policy(everybody, {
      type,
      resources: {
        privilegeConstraints: { criteria: [{ field: "URN", values, condition }] },
      },
    });

  test.each<[string, Policy, Resource[], boolean]>([
    ["that one fulfils", constrained(["urn:li:tag:a"], "EQUALS"), [tag("a")], true],
    [
      "that one of two fulfils",
      constrained(["urn:li:tag:a"], "EQUALS"),
      [tag("a"), tag("b")],
      false,
    ],
    ["that none may be", constrained(["urn:li:tag:a"], "NOT_EQUALS"), [tag("a")], false],
    ["that others may be", constrained(["urn:li:tag:a"], "NOT_EQUALS"), [tag("b"), tag("c")], true],
    ["by the beginning", constrained(["urn:li:tag:pii."], "STARTS_WITH"), [tag("pii.x")], true],
    ["by another beginning", constrained(["urn:li:tag:pii."], "STARTS_WITH"), [tag("x")], false],
    ["on a field that there is not", constrained(["x"], "LIKE"), [tag("x")], false],
    ["where nothing changes", constrained(["urn:li:tag:a"], "EQUALS"), [], true],
    ["of the platform", constrained(["urn:li:tag:a"], "EQUALS", "PLATFORM"), [tag("b")], false],
  ])("%s", (_, one, parts, expected) => {
    expect(meets([one], mira, alternatives, dataset, parts)).toBe(expected);
  });

  test("bind nobody whom another policy allows it without them", () => {
    const one = constrained(["urn:li:tag:a"], "EQUALS");
    const free = policy(everybody, { type: "METADATA" });
    expect(meets([one, free], mira, alternatives, dataset, [tag("b")])).toBe(true);
  });
});

describe("the defaults", () => {
  const defaults = builtInPolicies;
  const root = { urn: "urn:li:corpuser:datahub", groups: [], roles: [] };

  test("allow everything to the root user and administrators, nothing to others", () => {
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

  test("have one that gives all users their own tokens, inactive", () => {
    const active = defaults.map((one) => ({ ...one, state: "ACTIVE" }));
    expect(meets(active, mira, [["GENERATE_PERSONAL_ACCESS_TOKENS"]])).toBe(true);
    expect(meets(active, mira, [["MANAGE_ACCESS_TOKENS"]])).toBe(false);
  });
});
