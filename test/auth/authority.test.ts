/** Built-in permissions are evaluated without reading stored policies. */
import { expect, test } from "vitest";
import { createAuthority } from "../../src/auth/policies/authority.ts";
import type { Stored } from "../../src/auth/stored-entities.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { fixedPolicies } from "../support/built-ins.ts";

const options = { namespace: "li", fixedPolicies };
const unavailable = () =>
  Promise.reject(new CatalogError("unavailable", "the aspect view stands still"));
const authority = createAuthority({ find: async () => undefined, list: unavailable }, options);
const anyOf = [["RESTORE_INDICES_PRIVILEGE"]] as const;

test("the root user may operate while the aspect view is unavailable", async () => {
  expect(await authority.allows("urn:li:corpuser:datahub", anyOf)).toBe(true);
});

test("the root user may operate while users cannot be read", async () => {
  const offline = createAuthority({ find: unavailable, list: unavailable }, options);
  expect(await offline.allows("urn:li:corpuser:datahub", anyOf)).toBe(true);
  await expect(offline.allows("urn:li:corpuser:ada", anyOf)).rejects.toThrow("stands still");
});

test("other users are rejected while the view is unavailable", async () => {
  await expect(authority.allows("urn:li:corpuser:ada", anyOf)).rejects.toThrow("stands still");
});

test("a removed group gives its members neither policies nor roles", async () => {
  const admins = "urn:li:corpGroup:admins";
  const stored = (removed: boolean): Readonly<Record<string, Stored>> => ({
    "urn:li:corpuser:ada": { groupMembership: { groups: [admins] } },
    [admins]: { status: { removed }, roleMembership: { roles: ["urn:li:dataHubRole:Admin"] } },
  });
  const members = { actors: { groups: [admins] }, privileges: ["MANAGE_POLICIES"] };
  const policy = {
    ...members,
    type: "PLATFORM",
    state: "ACTIVE",
    displayName: "",
    description: "",
  };
  for (const removed of [false, true]) {
    const of = createAuthority(
      {
        find: async (urn) => stored(removed)[urn],
        list: async () => new Map([["urn:li:dataHubPolicy:x", { dataHubPolicyInfo: policy }]]),
      },
      options,
    );
    // One by the role, the other by the policy.
    expect(await of.allows("urn:li:corpuser:ada", anyOf)).toBe(!removed);
    expect(await of.allows("urn:li:corpuser:ada", [["MANAGE_POLICIES"]])).toBe(!removed);
  }
});
