/** Users as fields show them, and the viewer's privileges on the platform. */
import type { Viewer } from "../context.ts";
import { platformPrivileges } from "./access/platform-privileges.ts";
import { privilegesOn } from "./access/privilege-checks.ts";
import { entityOf } from "./entity-source.ts";

export function userOf(urn: string, { entities }: Viewer) {
  return {
    ...entityOf(urn),
    properties: async () => (await entities.find(urn))?.corpUserInfo,
  };
}

export async function me(_: never, viewer: Viewer) {
  const { actor = "" } = viewer;
  const allows = await privilegesOn(undefined, viewer);
  return {
    corpUser: userOf(actor, viewer),
    platformPrivileges: Object.fromEntries(
      Object.entries(platformPrivileges).map(([name, alternatives]) => [
        name,
        allows(alternatives),
      ]),
    ),
  };
}
