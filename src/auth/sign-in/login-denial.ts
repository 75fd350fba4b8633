/** Why a user may not sign in, by the names that DataHub's frontend shows. */

import { standingOf } from "../policies/principals.ts";
import type { Stored } from "../stored-entities.ts";

export type LoginDenial =
  | "HARD_DELETED"
  | "SOFT_DELETED"
  | "SUSPENDED"
  | "NOT_PROVISIONED"
  | "INVALID_CREDENTIALS";

/** Undefined when the user may sign in. */
export function denialOf(user: Stored | undefined): LoginDenial | undefined {
  const standing = standingOf(user);
  if (standing === "unknown") return "HARD_DELETED";
  if (standing === "removed") return "SOFT_DELETED";
  if (standing === "suspended") return "SUSPENDED";
  const provisioned = user?.corpUserInfo !== undefined || user?.corpUserStatus !== undefined;
  return provisioned ? undefined : "NOT_PROVISIONED";
}
