/**
 * The policies of the root user and of administrators are fixed: no write changes or deletes them, so
 * that operators cannot be locked out. A write of the values that they have is accepted, so that an
 * export of one catalog can be ingested by another.
 */
import type { Catalog, Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { withNamespace } from "../../core/urn.ts";
import { sameJson } from "../../lib/same-json.ts";
import type { Policy } from "./policy.ts";

/** By urn. */
export type FixedPolicies = ReadonlyMap<string, Policy>;

interface EditablePolicy extends Policy {
  readonly editable?: boolean;
}

interface BuiltIn {
  readonly urn: string;
  readonly aspect: string;
  readonly value: object;
}

/** The built-in policies that are not editable. */
export const fixedPoliciesOf = (entities: readonly BuiltIn[]): FixedPolicies =>
  new Map(
    entities
      .filter(({ aspect }) => aspect === "dataHubPolicyInfo")
      .map(({ urn, value }) => [urn, value as EditablePolicy] as const)
      .filter(([, { editable }]) => editable === false),
  );

interface Dependencies {
  readonly fixedPolicies: FixedPolicies;
  /** Urn of the proposal's entity; undefined for a proposal without a valid one. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  readonly namespace: string;
}

type Writes = "ingest" | "delete" | "deleteReferences";

/** The catalog; a write to a fixed policy throws `invalid`. */
export function keepFixedPolicies<C extends Pick<Catalog, Writes>>(
  catalog: C,
  { fixedPolicies, urnOf, namespace }: Dependencies,
): C {
  function rejectFixed(urn: string | undefined): void {
    if (urn === undefined || !fixedPolicies.has(urn)) return;
    throw new CatalogError("invalid", `policy "${urn}" is built-in and read-only`, {
      hint: "Create another policy",
    });
  }
  /** Urns of the users and roles that fixed policies refer to. */
  const named = new Set(
    [...fixedPolicies.values()].flatMap(({ actors: { users = [], roles = [] } }) => [
      ...users,
      ...roles,
    ]),
  );
  const isPolicy = ({ entityType }: Proposal) => entityType.toLowerCase() === "datahubpolicy";

  const ingest: Catalog["ingest"] = async (proposals, caller) => {
    for (const proposal of proposals) {
      if (!isPolicy(proposal)) continue;
      const urn = urnOf(proposal);
      const policy = urn === undefined ? undefined : fixedPolicies.get(urn);
      if (policy === undefined || !repeats(proposal, policy)) rejectFixed(urn);
    }
    return catalog.ingest(proposals, caller);
  };

  return {
    ...catalog,
    ingest,
    async delete(request, caller) {
      rejectFixed(withNamespace(request.urn, namespace));
      return catalog.delete(request, caller);
    },
    async deleteReferences(request, caller) {
      const urn = withNamespace(request.urn, namespace);
      if (!named.has(urn)) return catalog.deleteReferences(request, caller);
      const why = `read-only policies refer to "${urn}"`;
      throw new CatalogError("invalid", why, { hint: "Change the entities that refer to it" });
    },
  };
}

const WHOLE_VALUES: ReadonlySet<string> = new Set(["UPSERT", "CREATE", "UPDATE"]);

/** True when the proposal writes the key or the value that the policy has. */
function repeats({ changeType, aspectName, aspect }: Proposal, policy: Policy): boolean {
  if (!WHOLE_VALUES.has(changeType)) return false;
  // The key has the id of the urn, or the proposal is rejected later.
  if (aspectName === "dataHubPolicyKey") return true;
  if (aspectName !== "dataHubPolicyInfo" || aspect === undefined) return false;
  const { value } = aspect;
  try {
    return sameJson(typeof value === "string" ? JSON.parse(value) : value, policy);
  } catch {
    return false;
  }
}
