/** The built-in entities of the default model, in the namespace "li". */

import { configuredModel } from "../../src/app/load-model.ts";
import { fixedPoliciesOf } from "../../src/auth/policies/fixed-policies.ts";
import type { Policy } from "../../src/auth/policies/policy.ts";
import { readBuiltInEntities } from "../../src/catalog/access/built-in-entities.ts";
import { readConfig } from "../../src/config/config.ts";

const stamp = { time: 1, actor: "urn:li:corpuser:__datahub_system" };

export const builtInEntities = readBuiltInEntities(
  configuredModel(readConfig({}, {})).model,
  "li",
  stamp,
);

export const fixedPolicies = fixedPoliciesOf(builtInEntities);

export const builtInPolicies: readonly Policy[] = builtInEntities
  .filter(({ entityType }) => entityType === "dataHubPolicy")
  .map(({ value }) => value as Policy);
