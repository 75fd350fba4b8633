/** Authorizes writes to the schema registry: new schemas of subjects, and compatibility levels. */
import { CatalogError } from "../../core/errors.ts";
import type { Authority } from "../policies/authority.ts";
import { alternativesText, type PrivilegeAlternatives } from "../policies/privileges.ts";

const toWriteRegistry: PrivilegeAlternatives = [["MANAGE_SCHEMA_REGISTRY"]];

/** Throws `unauthenticated` without a user, `forbidden` for one who does not have the privilege. */
export async function admitRegistryWrite(
  authority: Pick<Authority, "allows">,
  actor: string | undefined,
): Promise<void> {
  if (actor === undefined) {
    throw new CatalogError(
      "unauthenticated",
      "writing to the schema registry requires a bearer token",
      {
        hint: "Send Authorization: Bearer <token>",
      },
    );
  }
  if (await authority.allows(actor, toWriteRegistry)) return;
  const needed = alternativesText(toWriteRegistry);
  throw new CatalogError(
    "forbidden",
    `User is unauthorized: "${actor}" may not write to the schema registry`,
    {
      hint: `Writing to the schema registry requires the privilege ${needed}`,
      actor,
    },
  );
}
