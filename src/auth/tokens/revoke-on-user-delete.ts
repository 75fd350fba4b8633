/**
 * Deleting a user revokes their tokens, so that old tokens do not act for a user who is created again
 * under the same urn.
 */
import type { Caller, Catalog, Proposal } from "../../catalog/catalog.ts";
import { withNamespace } from "../../core/urn.ts";
import type { AccessTokens } from "./access-tokens.ts";

interface Dependencies {
  readonly tokens: Pick<AccessTokens, "list" | "revoke">;
  /** The urn of a proposal's entity. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  readonly namespace: string;
  /** The revoking actor of a request without an actor. */
  readonly systemActor: string;
}

const KEY = "corpUserKey";

type Deleting = Pick<Catalog, "ingest" | "delete" | "rollbackRun" | "filterExisting">;

export function revokeTokensOnUserDelete<C extends Deleting>(
  catalog: C,
  { tokens, urnOf, namespace, systemActor }: Dependencies,
): C {
  const users = `urn:${namespace}:corpuser:`;

  async function revokeTokens(deleted: ReadonlySet<string>, { actor }: Caller): Promise<void> {
    if (deleted.size === 0) return;
    for (const { id, actorUrn } of await tokens.list()) {
      if (deleted.has(actorUrn)) await tokens.revoke(id, actor ?? systemActor);
    }
  }

  const deletesUser = ({ changeType, aspectName }: Proposal): boolean =>
    changeType === "DELETE" && aspectName === KEY;

  async function ingestDeletes(...[proposals, caller]: Parameters<Catalog["ingest"]>) {
    const written = await catalog.ingest(proposals, caller);
    const deletes = proposals.filter(deletesUser);
    await revokeTokens(new Set(deletes.flatMap((proposal) => urnOf(proposal) ?? [])), caller);
    return written;
  }

  const ingest: Catalog["ingest"] = (proposals, caller) =>
    proposals.some(deletesUser)
      ? ingestDeletes(proposals, caller)
      : catalog.ingest(proposals, caller);

  const remove: Catalog["delete"] = async (request, caller) => {
    const response = await catalog.delete(request, caller);
    const urn = withNamespace(request.urn, namespace);
    const whole = request.aspectName === undefined || request.aspectName === KEY;
    await revokeTokens(new Set(urn.startsWith(users) && whole ? [urn] : []), caller);
    return response;
  };

  /** Revokes the tokens of users that this rollback or an interrupted earlier attempt deleted. */
  const rollbackRun: Catalog["rollbackRun"] = async (request, caller, admit, onDeleted) => {
    const affected = new Set<string>();
    const deleted = new Set<string>();
    const usersAmong = (urns: readonly string[]) => urns.filter((urn) => urn.startsWith(users));
    async function admitAndRecord(urns: readonly string[]): Promise<void> {
      await admit?.(urns);
      for (const user of usersAmong(urns)) affected.add(user);
    }
    function recordDeletion(urn: string): void {
      onDeleted?.(urn);
      for (const user of usersAmong([urn])) deleted.add(user);
    }
    try {
      return await catalog.rollbackRun(request, caller, admitAndRecord, recordDeletion);
    } finally {
      if (request.hardDelete && !request.dryRun) {
        const options = { includeSoftDelete: true };
        const left = new Set(await catalog.filterExisting([...affected], options));
        await revokeTokens(deleted.union(affected.difference(left)), caller);
      }
    }
  };

  return { ...catalog, ingest, delete: remove, rollbackRun };
}
