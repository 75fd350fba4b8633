/** What policies find in users, and in what they are asked about: a row for each rule. */
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

describe("a user", () => {
  test.each<[string, Stored, readonly string[], readonly string[]]>([
    ["in no group has none", {}, [], []],
    ["is in groups that others manage", { groupMembership: { groups: [group("a")] } }, ["a"], []],
    [
      "is in groups that are made here",
      { nativeGroupMembership: { nativeGroups: [group("a")] } },
      ["a"],
      [],
    ],
    [
      "is in both kinds, in each once",
      {
        groupMembership: { groups: [group("a"), group("b")] },
        nativeGroupMembership: { nativeGroups: [group("a"), group("c")] },
      },
      ["a", "b", "c"],
      ["Editor"],
    ],
    ["has roles of their own", roles("Reader"), [], ["Reader"]],
    [
      "has the roles of their groups, too",
      { ...roles("Reader"), groupMembership: { groups: [group("c")] } },
      ["c"],
      ["Reader", "Editor"],
    ],
    [
      "has nothing of a group that was removed",
      { groupMembership: { groups: [group("gone")] } },
      [],
      [],
    ],
  ])("%s", async (_, user, groups, held) => {
    const entities = storing({
      [MINA]: user,
      [group("c")]: roles("Editor"),
      [group("gone")]: { ...roles("Admin"), status: { removed: true } },
    });
    expect(await findPrincipal(entities, MINA)).toEqual({
      ...{ urn: MINA, groups: groups.map(group), roles: held.map(role) },
    });
  });

  test.each<[string, Stored]>([
    ["removed", { status: { removed: true } }],
    ["suspended", { corpUserStatus: { status: "SUSPENDED" } }],
  ])("who is %s may do nothing", async (_, user) => {
    expect(await findPrincipal(storing({ [MINA]: user }), MINA)).toBeUndefined();
  });
});

describe("of an entity a criterion finds", () => {
  test.each<[string, string, string, Stored, readonly string[]]>([
    ["its type", "TYPE", DATASET, {}, ["dataset"]],
    ["its urn", "URN", DATASET, {}, [DATASET]],
    [
      "its owners, of whatever kind",
      "OWNER",
      DATASET,
      { ownership: { owners: [{ owner: MINA, type: "NONE" }, { owner: group("a") }] } },
      [MINA, group("a")],
    ],
    [
      "its domains, and all that these are part of",
      "DOMAIN",
      DATASET,
      { domains: { domains: ["urn:li:domain:beds", "urn:li:domain:lost"] } },
      ["urn:li:domain:beds", "urn:li:domain:lost", "urn:li:domain:seeds"],
    ],
    [
      "of a domain itself alone",
      "DOMAIN",
      "urn:li:domain:rows",
      { domainProperties: { parentDomain: "urn:li:domain:beds" } },
      ["urn:li:domain:rows"],
    ],
    [
      "its container, and all that this is in",
      "CONTAINER",
      DATASET,
      { container: { container: "urn:li:container:shelf" } },
      ["urn:li:container:shelf", "urn:li:container:store"],
    ],
    [
      "of a container itself, and all that it is in",
      "CONTAINER",
      "urn:li:container:box",
      { container: { container: "urn:li:container:shelf" } },
      ["urn:li:container:box", "urn:li:container:shelf", "urn:li:container:store"],
    ],
    [
      "its terms, and the nodes above them",
      "GLOSSARY",
      DATASET,
      { glossaryTerms: { terms: [{ urn: "urn:li:glossaryTerm:mint" }] } },
      ["urn:li:glossaryTerm:mint", "urn:li:glossaryNode:herbs", "urn:li:glossaryNode:plants"],
    ],
    [
      "of a term itself, and the nodes above it",
      "GLOSSARY",
      "urn:li:glossaryTerm:sage",
      { glossaryTermInfo: { parentNode: "urn:li:glossaryNode:herbs" } },
      ["urn:li:glossaryTerm:sage", "urn:li:glossaryNode:herbs", "urn:li:glossaryNode:plants"],
    ],
    [
      "of a node itself, and the nodes above it",
      "GLOSSARY",
      "urn:li:glossaryNode:leaves",
      { glossaryNodeInfo: { parentNode: "urn:li:glossaryNode:plants" } },
      ["urn:li:glossaryNode:leaves", "urn:li:glossaryNode:plants"],
    ],
    [
      "its tags, not those of its columns",
      "TAG",
      DATASET,
      {
        globalTags: { tags: [{ tag: "urn:li:tag:a" }] },
        schemaMetadata: { fields: [{ globalTags: { tags: [{ tag: "urn:li:tag:b" }] } }] },
      },
      ["urn:li:tag:a"],
    ],
    [
      "its platform instance",
      "DATA_PLATFORM_INSTANCE",
      DATASET,
      { dataPlatformInstance: { platform: "urn:li:dataPlatform:hive", instance: INSTANCE } },
      [INSTANCE],
    ],
    ["of a platform instance itself", "DATA_PLATFORM_INSTANCE", INSTANCE, {}, [INSTANCE]],
    [
      "the groups that it is in, of both kinds",
      "GROUP_MEMBERSHIP",
      MINA,
      {
        groupMembership: { groups: [group("a")] },
        nativeGroupMembership: { nativeGroups: [group("b")] },
      },
      [group("a"), group("b")],
    ],
  ])("%s", async (_, field, urn, told, values) => {
    const entities = storing({ ...surroundings, [urn]: told });
    const { fields } = await findResource(entities, urn, entityTypeOf(urn));
    expect(fields[field]).toEqual(values);
  });

  test("its type alone, where one of a type is asked about", async () => {
    const { fields, owners } = await findResource(storing({}), undefined, "chart");
    expect({ TYPE: fields.TYPE, URN: fields.URN, DOMAIN: fields.DOMAIN, owners }).toEqual({
      ...{ TYPE: ["chart"], URN: [], DOMAIN: [], owners: [] },
    });
  });
});
