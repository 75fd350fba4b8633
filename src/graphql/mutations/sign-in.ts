/**
 * Invites, reset tokens of passwords, and the status of users. sign-in-rules.ts authorizes each field
 * before.
 */
import type { InputArgs, Viewer } from "../context.ts";
import { deleting } from "./declared.ts";
import { proposalOf, rejectMissing, urnOf, writeProposals } from "./writing.ts";

export const signInQueries = { getInviteToken: createInviteToken };
export const signInMutations = {
  createInviteToken,
  createNativeUserResetToken,
  acceptRole,
  updateUserStatus,
  removeUser: deleting(["corpuser"]),
};

interface InviteInput {
  readonly roleUrn?: string | null;
}

async function createInviteToken({ input }: InputArgs<InviteInput>, viewer: Viewer) {
  const { signIn, actor = "", wrote } = viewer;
  const role = input.roleUrn ? urnOf(input.roleUrn, ["dataHubRole"], viewer) : undefined;
  const { token, position } = await signIn.invites.create(role, actor);
  wrote(position);
  return { inviteToken: token };
}

async function createNativeUserResetToken(
  { input }: InputArgs<{ readonly userUrn: string }>,
  viewer: Viewer,
) {
  const { signIn, actor = "", wrote } = viewer;
  const user = urnOf(input.userUrn, ["corpuser"], viewer);
  const { token, position } = await signIn.users.createResetToken(user, actor);
  wrote(position);
  return { resetToken: token };
}

async function acceptRole(
  { input }: InputArgs<{ readonly inviteToken: string }>,
  { signIn, actor = "", wrote }: Viewer,
): Promise<true> {
  wrote(await signIn.acceptRole(input.inviteToken, actor));
  return true;
}

async function updateUserStatus(
  { urn, status }: { readonly urn: string; readonly status: "ACTIVE" | "SUSPENDED" },
  viewer: Viewer,
): Promise<string> {
  const user = urnOf(urn, ["corpuser"], viewer);
  await rejectMissing([user], viewer);
  const lastModified = { time: viewer.now(), actor: viewer.actor ?? user };
  await writeProposals([proposalOf(user, "corpUserStatus", { status, lastModified })], viewer);
  return user;
}
