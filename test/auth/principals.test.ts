/**
 * Groups and roles of users, and the fields that policy criteria read from entities: one row for
 * each rule.
 */
import { describe, expect, test } from "vitest";
import { findPrincipal, findResource } from "../../src/auth/policies/principals.ts";
import type { Stored } from "../../src/auth/stored-entities.ts";
import { entityTypeOf } from "../../src/core/urn.ts";

const MINA = "urn:li:corpuser:mina";
const DATASET = "urn:li:dataset:(urn:li:dataPlatform:hive,beds,PROD)";
const INSTANCE = "urn:li:dataPlatformInstance:(urn:li:dataPlatform:hive,west)";
const group = (name: string) => `urn:li:corpGroup:${name}`;
const role = (name: string) => `urn:li:dataHubRole:${name}`;
const roles = (...names: readonly string[]) => ({ roleMembership: { roles: names.map(role) } });

const storing = (entities: Readonly<Record<string, Stored>>) => ({
  find: async (urn: string) => entities[urn],
  list: async () => new Map<string, Stored>(),
});

const surroundings: Readonly<Record<string, Stored>> = {
  "urn:li:domain:seeds": { domainProperties: { name: "Seeds" } },
  "urn:li:domain:beds": { domainProperties: { parentDomain: "urn:li:domain:seeds" } },
  "urn:li:container:store": {},
  "urn:li:container:shelf": { container: { container: "urn:li:container:store" } },
  "urn:li:glossaryNode:plants": {},
  "urn:li:glossaryNode:herbs": { glossaryNodeInfo: { parentNode: "urn:li:glossaryNode:plants" } },
  "urn:li:glossaryTerm:mint": { glossaryTermInfo: { parentNode: "urn:li:glossaryNode:herbs" } },
};

describe("the principal of a user", () => {
  test.each<[string, Stored, readonly string[], readonly string[]]>([
    ["has no groups or roles without memberships", {}, [], []],
    ["has groups from groupMembership", { groupMembership: { groups: [group("a")] } }, ["a"], []],
    [
      "has groups from nativeGroupMembership",
      { nativeGroupMembership: { nativeGroups: [group("a")] } },
      ["a"],
      [],
    ],
    [
      "has groups of both kinds, each once",
      {
        groupMembership: { groups: [group("a"), group("b")] },
        nativeGroupMembership: { nativeGroups: [group("a"), group("c")] },
      },
      ["a", "b", "c"],
      ["Editor"],
    ],
    ["has the roles of the user", roles("Reader"), [], ["Reader"]],
    [
      "also has the roles of the groups",
      { ...roles("Reader"), groupMembership: { groups: [group("c")] } },
      ["c"],
      ["Reader", "Editor"],
    ],
    ["has no roles of a removed group", { groupMembership: { groups: [group("gone")] } }, [], []],
  ])("%s", async (_, user, groups, heldRoles) => {
    const entities = storing({
      [MINA]: user,
      [group("c")]: roles("Editor"),
      [group("gone")]: { ...roles("Admin"), status: { removed: true } },
    });
    expect(await findPrincipal(entities, MINA)).toEqual({
      ...{ urn: MINA, groups: groups.map(group), roles: heldRoles.map(role) },
    });
  });

  test.each<[string, Stored]>([
    ["removed", { status: { removed: true } }],
    ["suspended", { corpUserStatus: { status: "SUSPENDED" } }],
  ])("does not exist for a user who is %s", async (_, user) => {
    expect(await findPrincipal(storing({ [MINA]: user }), MINA)).toBeUndefined();
  });
});

describe("a policy criterion reads", () => {
  test.each<[string, string, string, Stored, readonly string[]]>([
    ["the type", "TYPE", DATASET, {}, ["dataset"]],
    ["the urn", "URN", DATASET, {}, [DATASET]],
    [
      "owners of every kind",
      "OWNER",
      DATASET,
      { ownership: { owners: [{ owner: MINA, type: "NONE" }, { owner: group("a") }] } },
      [MINA, group("a")],
    ],
    [
      "domains and their ancestors",
      "DOMAIN",
      DATASET,
      { domains: { domains: ["urn:li:domain:beds", "urn:li:domain:lost"] } },
      ["urn:li:domain:beds", "urn:li:domain:lost", "urn:li:domain:seeds"],
    ],
    [
      "a domain itself without its ancestors",
      "DOMAIN",
      "urn:li:domain:rows",
      { domainProperties: { parentDomain: "urn:li:domain:beds" } },
      ["urn:li:domain:rows"],
    ],
    [
      "the container and its ancestors",
      "CONTAINER",
      DATASET,
      { container: { container: "urn:li:container:shelf" } },
      ["urn:li:container:shelf", "urn:li:container:store"],
    ],
    [
      "a container itself and its ancestors",
      "CONTAINER",
      "urn:li:container:box",
      { container: { container: "urn:li:container:shelf" } },
      ["urn:li:container:box", "urn:li:container:shelf", "urn:li:container:store"],
    ],
    [
      "terms and the nodes above them",
      "GLOSSARY",
      DATASET,
      { glossaryTerms: { terms: [{ urn: "urn:li:glossaryTerm:mint" }] } },
      ["urn:li:glossaryTerm:mint", "urn:li:glossaryNode:herbs", "urn:li:glossaryNode:plants"],
    ],
    [
      "a term itself and the nodes above it",
      "GLOSSARY",
      "urn:li:glossaryTerm:sage",
      { glossaryTermInfo: { parentNode: "urn:li:glossaryNode:herbs" } },
      ["urn:li:glossaryTerm:sage", "urn:li:glossaryNode:herbs", "urn:li:glossaryNode:plants"],
    ],
    [
      "a node itself and the nodes above it",
      "GLOSSARY",
      "urn:li:glossaryNode:leaves",
      { glossaryNodeInfo: { parentNode: "urn:li:glossaryNode:plants" } },
      ["urn:li:glossaryNode:leaves", "urn:li:glossaryNode:plants"],
    ],
    [
      "tags, without those of columns",
      "TAG",
      DATASET,
      {
        globalTags: { tags: [{ tag: "urn:li:tag:a" }] },
        schemaMetadata: { fields: [{ globalTags: { tags: [{ tag: "urn:li:tag:b" }] } }] },
      },
      ["urn:li:tag:a"],
    ],
    [
      "the platform instance",
      "DATA_PLATFORM_INSTANCE",
      DATASET,
      { dataPlatformInstance: { platform: "urn:li:dataPlatform:hive", instance: INSTANCE } },
      [INSTANCE],
    ],
    ["a platform instance itself", "DATA_PLATFORM_INSTANCE", INSTANCE, {}, [INSTANCE]],
    [
      "values of structured properties",
      "STRUCTURED_PROPERTY",
      DATASET,
      {
        structuredProperties: {
          properties: [
            {
              propertyUrn: "urn:li:structuredProperty:a",
              values: [{ string: "x y" }, { double: 5 }],
            },
          ],
        },
      },
      ["urn:li:structuredProperty:a x y", "urn:li:structuredProperty:a 5"],
    ],
    [
      "group memberships of both kinds",
      "GROUP_MEMBERSHIP",
      MINA,
      {
        groupMembership: { groups: [group("a")] },
        nativeGroupMembership: { nativeGroups: [group("b")] },
      },
      [group("a"), group("b")],
    ],
  ])("%s", async (_, field, urn, stored, values) => {
    const entities = storing({ ...surroundings, [urn]: stored });
    const { fields } = await findResource(entities, urn, entityTypeOf(urn));
    expect(fields[field]).toEqual(values);
  });

  test("only the type for a request about an entity type", async () => {
    const { fields, owners } = await findResource(storing({}), undefined, "chart");
    expect({ TYPE: fields.TYPE, URN: fields.URN, DOMAIN: fields.DOMAIN, owners }).toEqual({
      ...{ TYPE: ["chart"], URN: [], DOMAIN: [], owners: [] },
    });
  });
});
