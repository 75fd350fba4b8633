/**
 * The catalog for interfaces. Only sign-in writes passwords and invites, so that an ordinary write cannot set
 * the password of another user, or create an invite for a role. A suspended user stays suspended, because
 * DataHub's web container writes the status ACTIVE at each single sign-on.
 */
import type { Catalog, Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { jsonObject, parsedValue } from "../../lib/json.ts";
import { isSealed } from "../access/restricted-entities.ts";
import { standingOf } from "../policies/principals.ts";
import type { StoredEntities } from "../stored-entities.ts";

interface Dependencies {
  readonly entities: Pick<StoredEntities, "find">;
  /** The urn of a proposal's entity. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  readonly systemActor: string;
}

const STATUS = "corpUserStatus";

export function sealWrites<C extends Catalog>(catalog: C, dependencies: Dependencies): C {
  const { entities, urnOf, systemActor } = dependencies;

  /** True for a proposal that would reactivate a suspended user. */
  async function reactivates(proposal: Proposal): Promise<boolean> {
    if (proposal.aspectName !== STATUS || proposal.changeType === "PATCH") return false;
    const value = parsedValue(proposal.aspect?.value);
    const urn = urnOf(proposal);
    if (urn === undefined || !jsonObject(value) || value.status !== "ACTIVE") return false;
    return standingOf(await entities.find(urn)) === "suspended";
  }

  async function withoutReactivations(proposals: readonly Proposal[]) {
    const kept: Proposal[] = [];
    for (const one of proposals) if (!(await reactivates(one))) kept.push(one);
    return kept;
  }

  const ingest: Catalog["ingest"] = (proposals, caller) => {
    const sealed = proposals.find(isSealed);
    if (sealed !== undefined) return Promise.reject(sealedWrite(sealed));
    if (caller.actor !== systemActor || !proposals.some(({ aspectName }) => aspectName === STATUS))
      return catalog.ingest(proposals, caller);
    return withoutReactivations(proposals).then((kept) => catalog.ingest(kept, caller));
  };

  return {
    ...catalog,
    ingest,
  };
}

const sealedWrite = ({ entityType, aspectName = "" }: Proposal): CatalogError =>
  new CatalogError(
    "forbidden",
    `only sign-in writes the aspect "${aspectName}" of "${entityType}"`,
    {
      hint: "Users sign up with an invite, and reset their password with a reset token",
    },
  );
