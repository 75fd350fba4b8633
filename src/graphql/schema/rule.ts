/** The rule that authorizes one field of Query or Mutation. */
import { alternativesText, type PrivilegeAlternatives } from "../../auth/policies/privileges.ts";
import type { Viewer } from "../context.ts";

export interface Rule {
  /** The required privilege, for the audit trail. */
  readonly needs: string;
  /** Also audits successful requests; rejected ones are always audited. */
  readonly audited?: boolean;
  allows(args: Readonly<Record<string, unknown>>, viewer: Viewer): Promise<boolean>;
}

/** Requires any of these privileges. */
export const needing = (alternatives: PrivilegeAlternatives): Rule => ({
  audited: true,
  needs: `the privilege ${alternativesText(alternatives)}`,
  allows: (_, { authority, actor }) => authority.allows(actor, alternatives),
});
