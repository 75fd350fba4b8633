/** The rules that authorize root fields. root-fields.ts gives each field of Query and Mutation its rule. */
import { privileges, toGenerateTokens, toManageTokens } from "../../auth/policies/privileges.ts";
import { withNamespace } from "../../core/urn.ts";
import type { TokenDuration } from "../../lib/token-durations.ts";
import type { Viewer } from "../context.ts";
import { type FacetFilter, ownValuesOf } from "../queries/token-filter.ts";
import type { Rule } from "./rule.ts";

const manage = privileges.MANAGE_ACCESS_TOKENS;
const generate = privileges.GENERATE_PERSONAL_ACCESS_TOKENS;

const mayManage = ({ authority, actor }: Viewer): Promise<boolean> =>
  authority.allows(actor, toManageTokens, { entityType: "dataHubAccessToken" });

/** True when the caller may create tokens of this duration; of any when absent. */
const mayGenerate = ({ authority, actor }: Viewer, duration?: TokenDuration): Promise<boolean> =>
  authority.allows(actor, toGenerateTokens(duration));

export const me: Rule = {
  needs: "an authenticated caller: a bearer token or an actor header",
  allows: async (_, { actor }) => actor !== undefined,
};

/** As for any read: every admitted caller may ask and gets the visible entities. */
export const letIn: Rule = { needs: "admission to the service", allows: async () => true };

/** The catalog authorizes writes, as for every API (auth/access/privileged-writes.ts). */
export const writes: Rule = {
  needs: "the privileges of the same write over REST",
  allows: async () => true,
};

const listAccessTokens: Rule = {
  audited: true,
  needs: `the privilege ${manage}, or ${generate} for a list that is filtered by the caller's own urn`,
  async allows(args, viewer) {
    const { filters } = args.input as { filters?: readonly FacetFilter[] | null };
    const own = (filters ?? []).some((filter) => {
      const [value, ...others] = ownValuesOf(filter, viewer.namespace);
      return value !== undefined && value === viewer.actor && others.length === 0;
    });
    return (own && (await mayGenerate(viewer))) || mayManage(viewer);
  },
};

const getAccessTokenMetadata: Rule = {
  audited: true,
  needs: `the privilege ${manage}`,
  allows: (_, viewer) => mayManage(viewer),
};

interface TokenInput {
  readonly type: string;
  readonly actorUrn: string;
  readonly duration: TokenDuration;
}

const createAccessToken: Rule = {
  audited: true,
  needs: `the privilege ${generate} (for as long as asked) for oneself, ${manage} for others, ${privileges.MANAGE_SERVICE_ACCOUNTS} for service accounts`,
  async allows(args, viewer) {
    const { type, actorUrn, duration } = args.input as TokenInput;
    if (type === "SERVICE_ACCOUNT") {
      return viewer.authority.allows(viewer.actor, [["MANAGE_SERVICE_ACCOUNTS"]]);
    }
    const own = withNamespace(actorUrn, viewer.namespace) === viewer.actor;
    return (own && (await mayGenerate(viewer, duration))) || mayManage(viewer);
  },
};

/** The deprecated query creates only personal tokens of the caller, whatever privileges the caller has. */
const getAccessToken: Rule = {
  audited: true,
  needs: `the privilege ${generate} (for the requested duration), and the caller's own urn as actorUrn`,
  async allows(args, viewer) {
    const { type, actorUrn, duration } = args.input as TokenInput;
    const own = withNamespace(actorUrn, viewer.namespace) === viewer.actor;
    return type === "PERSONAL" && own && mayGenerate(viewer, duration);
  },
};

const revokeAccessToken: Rule = {
  audited: true,
  needs: `to own the token, or the privilege ${manage}`,
  async allows({ tokenId }, viewer) {
    const owner = (await viewer.tokens.find(String(tokenId)))?.ownerUrn;
    return (owner !== undefined && owner === viewer.actor) || mayManage(viewer);
  },
};

/** Each field of tokens has a rule of its own. */
export const tokenRules: Readonly<Record<string, Rule>> = {
  listAccessTokens,
  getAccessTokenMetadata,
  getAccessToken,
  createAccessToken,
  revokeAccessToken,
};
