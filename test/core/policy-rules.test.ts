/** Names in policies that are not checked by the schema. */
import { describe, expect, test } from "vitest";
import { policyRule } from "../../src/core/rules/policy-rules.ts";

const policy = { type: "PLATFORM", state: "ACTIVE" };

describe("the type and the state of a policy", () => {
  test.each([
    ["state", "INACTVE", "Use ACTIVE or INACTIVE"],
    ["state", "inactive", "Use ACTIVE or INACTIVE"],
    ["type", "METADTA", "Use PLATFORM or METADATA"],
  ])("the %s %s is rejected", (name, text, hint) => {
    const rejection = policyRule.rejection({ ...policy, [name]: text }, {});
    expect(rejection).toMatchObject({ code: "invalid", hint });
    expect(rejection?.message).toBe(
      `aspect "dataHubPolicyInfo", /${name}: unknown ${name} "${text}"`,
    );
  });

  test("known ones are accepted, and an unknown one that is stored stays", () => {
    expect(policyRule.rejection(policy, {})).toBeUndefined();
    const older = { ...policy, state: "DRAFT" };
    expect(policyRule.rejection(older, { previous: older })).toBeUndefined();
    expect(policyRule.rejection(older, { previous: policy })).toBeDefined();
  });
});
