/**
 * Privileges for the children of a glossary node. They allow creating, changing, moving and deleting terms and
 * nodes: Manage Direct Glossary Children those directly in the node, Manage All Glossary Children those at any
 * depth. Terms and nodes without a parent need Manage Glossaries.
 */
import { jsonObject } from "../../lib/json.ts";
import type { AuthContext } from "../policies/authority.ts";
import { meets } from "../policies/policy.ts";
import { findResource } from "../policies/principals.ts";
import type { PrivilegeAlternatives } from "../policies/privileges.ts";
import type { Stored, StoredEntities } from "../stored-entities.ts";

/** The aspect that names the parent, by entity type. */
const infoAspects: ReadonlyMap<string, string> = new Map([
  ["glossaryTerm", "glossaryTermInfo"],
  ["glossaryNode", "glossaryNodeInfo"],
]);

/** The aspects that these privileges allow writing. */
const managed: ReadonlySet<string> = new Set([
  ...["glossaryTermInfo", "glossaryNodeInfo", "glossaryRelatedTerms", "institutionalMemory"],
  ...["ownership", "domains", "displayProperties"],
]);

const levelsMax = 50;
const ofParent: PrivilegeAlternatives = [
  ["MANAGE_GLOSSARY_CHILDREN"],
  ["MANAGE_ALL_GLOSSARY_CHILDREN"],
];
const ofAncestor: PrivilegeAlternatives = [["MANAGE_ALL_GLOSSARY_CHILDREN"]];

/** Undefined for entity types that are not part of the glossary. */
export const glossaryInfoOf = (entityType: string): string | undefined =>
  infoAspects.get(entityType);

/** True if the privilege covers writes of the aspect; without an aspect, of the whole entity. */
export const coversAspect = (aspectName: string | undefined): boolean =>
  aspectName === undefined || managed.has(aspectName);

const parentIn = (info: unknown): string | undefined =>
  jsonObject(info) && typeof info.parentNode === "string" ? info.parentNode : undefined;

/** True if the caller manages the children of the parents that all these values name. */
export async function managesChildren(
  infos: readonly (Stored | undefined)[],
  { principal, policies }: AuthContext,
  entities: Pick<StoredEntities, "find">,
): Promise<boolean> {
  const manages = async (parent: string | undefined): Promise<boolean> => {
    let at = parent;
    for (let level = 0; at !== undefined && level < levelsMax; level++) {
      const resource = await findResource(entities, at, "glossaryNode");
      if (meets(policies, principal, level === 0 ? ofParent : ofAncestor, resource)) return true;
      at = parentIn((await entities.find(at))?.glossaryNodeInfo);
    }
    return false;
  };
  for (const info of infos) if (!(await manages(parentIn(info)))) return false;
  return infos.length > 0;
}
