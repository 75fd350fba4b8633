/** The rules of the fields of sign-in: invites, reset tokens, roles and the status of users. */
import { privileges, toManageUsers } from "../../auth/policies/privileges.ts";
import { needing, type Rule } from "./rule.ts";
import { me } from "./rules.ts";

/** An invite to a role grants the role, so it also needs the privilege to assign roles. */
const invites: Rule = {
  audited: true,
  needs: `the privilege ${privileges.MANAGE_USER_CREDENTIALS}, and ${privileges.MANAGE_POLICIES} with a role`,
  async allows(args, { authority, actor }) {
    const { roleUrn } = args.input as { readonly roleUrn?: string | null };
    return authority.allows(actor, [
      roleUrn ? ["MANAGE_USER_CREDENTIALS", "MANAGE_POLICIES"] : ["MANAGE_USER_CREDENTIALS"],
    ]);
  },
};

const managesUsers = needing(toManageUsers);

const authenticated: Rule = { ...me, audited: true };

export const signInRules: Readonly<Record<string, Rule>> = {
  getInviteToken: invites,
  createInviteToken: invites,
  createNativeUserResetToken: needing([["MANAGE_USER_CREDENTIALS"]]),
  acceptRole: authenticated,
  updateUserStatus: managesUsers,
  removeUser: managesUsers,
};
