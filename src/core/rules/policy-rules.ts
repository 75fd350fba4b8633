/** Rules for policies (aspect dataHubPolicyInfo): misspelt names would change access without an error. */
import { type JsonObject, objectOf, objectsIn } from "../../lib/json.ts";
import { ownValue } from "../../lib/own-value.ts";
import { CatalogError } from "../errors.ts";

/** Fields of a resource filter in a policy; the first two are the older names of TYPE and URN. */
const policyFields: readonly string[] = [
  ...["RESOURCE_TYPE", "RESOURCE_URN", "TYPE", "URN", "OWNER", "DOMAIN", "CONTAINER"],
  ...["TAG", "GLOSSARY", "DATA_PLATFORM_INSTANCE", "GROUP_MEMBERSHIP", "STRUCTURED_PROPERTY"],
];

/** DataHub stores both as text. A policy is in effect unless its state is INACTIVE. */
const allowedTexts: ReadonlyMap<string, readonly string[]> = new Map([
  ["type", ["PLATFORM", "METADATA"]],
  ["state", ["ACTIVE", "INACTIVE"]],
]);

interface PolicyContext {
  readonly previous?: JsonObject | undefined;
}

export const policyRule = {
  apply(value: JsonObject): JsonObject {
    rejectUnknownFields(value);
    return value;
  },

  rejection(value: JsonObject, { previous }: PolicyContext): CatalogError | undefined {
    for (const [name, allowed] of allowedTexts) {
      const text = String(ownValue(value, name));
      if (allowed.includes(text) || text === ownValue(previous ?? {}, name)) continue;
      const shown = text.slice(0, 120);
      const message = `aspect "dataHubPolicyInfo", /${name}: unknown ${name} "${shown}"`;
      return new CatalogError("invalid", message, { hint: `Use ${allowed.join(" or ")}` });
    }
    return undefined;
  },
};

/** A criterion on an unknown field would never match. */
function rejectUnknownFields(value: JsonObject): void {
  const resources = objectOf(value.resources);
  for (const name of ["filter", "privilegeConstraints"]) {
    // Safe lookup: the loop is over a closed list.
    const { criteria } = objectOf(resources[name]);
    for (const criterion of objectsIn(criteria)) {
      const field = String(criterion.field);
      if (policyFields.includes(field.toUpperCase())) continue;
      const shown = field.slice(0, 120);
      throw new CatalogError("invalid", `a criterion of the policy's ${name} is on "${shown}"`, {
        hint: `Use ${policyFields.slice(2).join(", ")}`,
      });
    }
  }
}
