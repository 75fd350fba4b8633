/** Invites and password resets of users who sign in with a password. */

import { mutateGraphql } from "./http.ts";
import { keyOf } from "./urn.ts";

interface Token {
  readonly token: string;
}

/** Creates a link that signs up one user within seven days. */
export async function createInviteLink(roleUrn: string | undefined): Promise<string> {
  const { created } = await mutateGraphql<{ readonly created: Token }>(
    "mutation ($input: CreateInviteTokenInput!) { created: createInviteToken(input: $input) { token: inviteToken } }",
    { input: { roleUrn } },
  );
  // The browser does not send the fragment of a link, so no log of a server contains the token.
  return `${location.origin}/ui/signup#${created.token}`;
}

/** Creates a link that sets a new password once, within a day. */
export async function createResetLink(userUrn: string): Promise<string> {
  const { created } = await mutateGraphql<{ readonly created: Token }>(
    "mutation ($input: CreateNativeUserResetTokenInput!) { created: createNativeUserResetToken(input: $input) { token: resetToken } }",
    { input: { userUrn } },
  );
  const user = keyOf(userUrn);
  return `${location.origin}/ui/reset?${new URLSearchParams({ user })}#${created.token}`;
}
