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

type Ends = Pick<Catalog, "ingest" | "delete" | "rollbackRun" | "filterExisting">;

export function endTokensWithUsers<C extends Ends>(
  catalog: C,
  { tokens, urnOf, namespace, systemActor }: Dependencies,
): C {
  const users = `urn:${namespace}:corpuser:`;

  async function endTokens(gone: ReadonlySet<string>, { actor }: Caller): Promise<void> {
    if (gone.size === 0) return;
    for (const { id, actorUrn } of await tokens.list()) {
      if (gone.has(actorUrn)) await tokens.revoke(id, actor ?? systemActor);
    }
  }

  const ends = ({ changeType, aspectName }: Proposal): boolean =>
    changeType === "DELETE" && aspectName === KEY;

  async function ingestEnding(...[proposals, caller]: Parameters<Catalog["ingest"]>) {
    const written = await catalog.ingest(proposals, caller);
    const ended = proposals.filter(ends);
    await endTokens(new Set(ended.flatMap((proposal) => urnOf(proposal) ?? [])), caller);
    return written;
  }

  const ingest: Catalog["ingest"] = (proposals, caller) =>
    proposals.some(ends) ? ingestEnding(proposals, caller) : catalog.ingest(proposals, caller);

  const remove: Catalog["delete"] = async (request, caller) => {
    const answer = await catalog.delete(request, caller);
    const urn = withNamespace(request.urn, namespace);
    const whole = request.aspectName === undefined || request.aspectName === KEY;
    await endTokens(new Set(urn.startsWith(users) && whole ? [urn] : []), caller);
    return answer;
  };

  /** Users that this rollback deleted, and those that an interrupted attempt had deleted before. */
  const rollbackRun: Catalog["rollbackRun"] = async (request, caller, admit, onDeleted) => {
    const affected = new Set<string>();
    const gone = new Set<string>();
    const among = (urns: readonly string[]) => urns.filter((urn) => urn.startsWith(users));
    async function noting(urns: readonly string[]): Promise<void> {
      await admit?.(urns);
      for (const user of among(urns)) affected.add(user);
    }
    function ended(urn: string): void {
      onDeleted?.(urn);
      for (const user of among([urn])) gone.add(user);
    }
    try {
      return await catalog.rollbackRun(request, caller, noting, ended);
    } finally {
      if (request.hardDelete && !request.dryRun) {
        const options = { includeSoftDelete: true };
        const left = new Set(await catalog.filterExisting([...affected], options));
        await endTokens(gone.union(affected.difference(left)), caller);
      }
    }
  };

  return { ...catalog, ingest, delete: remove, rollbackRun };
}
