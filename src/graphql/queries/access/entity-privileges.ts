/** The fields of EntityPrivileges: the edits that the caller may make to an entity. */
import type { Privilege, PrivilegeAlternatives } from "../../../auth/policies/privileges.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import type { Viewer } from "../../context.ts";
import type { EntitySource } from "../entity-source.ts";
import { may, privilegesOn } from "./privilege-checks.ts";

interface Field {
  readonly privilege: Privilege;
  /** Entity types with the field; all when absent. */
  readonly types?: readonly string[];
}

const dataset = ["dataset"];

const fields: Readonly<Record<string, Field>> = {
  canEditLineage: { privilege: "EDIT_LINEAGE" },
  canEditProperties: { privilege: "EDIT_ENTITY_PROPERTIES" },
  canEditAssertions: { privilege: "EDIT_ENTITY_ASSERTIONS" },
  canEditAssertionOwners: { privilege: "EDIT_ENTITY_ASSERTION_OWNERS" },
  canEditIncidents: { privilege: "EDIT_ENTITY_INCIDENTS" },
  canEditDataProducts: { privilege: "EDIT_ENTITY_DATA_PRODUCTS" },
  canEditDeprecation: { privilege: "EDIT_DEPRECATION_PRIVILEGE" },
  canEditGlossaryTerms: { privilege: "EDIT_ENTITY_GLOSSARY_TERMS" },
  canEditTags: { privilege: "EDIT_ENTITY_TAGS" },
  canEditOwners: { privilege: "EDIT_ENTITY_OWNERS" },
  canEditDomains: { privilege: "EDIT_DOMAINS_PRIVILEGE" },
  canEditDescription: { privilege: "EDIT_ENTITY_DOCS" },
  canEditLinks: { privilege: "EDIT_ENTITY_DOC_LINKS" },
  canManageAssetSummary: { privilege: "MANAGE_ASSET_SUMMARY" },
  canEditEmbed: { privilege: "EDIT_ENTITY_EMBED", types: ["dataset", "chart", "dashboard"] },
  canEditQueries: { privilege: "EDIT_ENTITY_QUERIES", types: dataset },
  canEditSchemaFieldTags: { privilege: "EDIT_DATASET_COL_TAGS", types: dataset },
  canEditSchemaFieldGlossaryTerms: { privilege: "EDIT_DATASET_COL_GLOSSARY_TERMS", types: dataset },
  canEditSchemaFieldDescription: { privilege: "EDIT_DATASET_COL_DESCRIPTION", types: dataset },
  canViewDatasetUsage: { privilege: "VIEW_DATASET_USAGE", types: dataset },
  canViewDatasetProfile: { privilege: "VIEW_DATASET_PROFILE", types: dataset },
  canViewDatasetOperations: { privilege: "VIEW_DATASET_OPERATIONS", types: dataset },
};

const ancestorsMax = 50;

/**
 * True if the caller may manage the children of this glossary node, or those of all nodes below an
 * ancestor.
 */
async function managesChildren(node: string, viewer: Viewer): Promise<boolean> {
  if (await may(viewer, [["MANAGE_GLOSSARIES"]])) return true;
  let above: unknown = node;
  for (let depth = 0; typeof above === "string" && depth < ancestorsMax; depth++) {
    const alternatives: PrivilegeAlternatives =
      depth === 0
        ? [["MANAGE_GLOSSARY_CHILDREN"], ["MANAGE_ALL_GLOSSARY_CHILDREN"]]
        : [["MANAGE_ALL_GLOSSARY_CHILDREN"]];
    if (await may(viewer, alternatives, above)) return true;
    above = (await viewer.loader.load(above)).aspect("glossaryNodeInfo")?.parentNode;
  }
  return false;
}

async function managesEntry(urn: string, aspect: string, viewer: Viewer): Promise<boolean> {
  if (await may(viewer, [["MANAGE_GLOSSARIES"]])) return true;
  const parent = (await viewer.loader.load(urn)).aspect(aspect)?.parentNode;
  return typeof parent === "string" && managesChildren(parent, viewer);
}

type Managed = (urn: string, viewer: Viewer) => Promise<object>;

/** Fields of types with a privilege for the whole entity. */
const managed: ReadonlyMap<string, Managed> = new Map<string, Managed>([
  [
    "glossaryTerm",
    async (urn, viewer) => ({
      canManageEntity: await managesEntry(urn, "glossaryTermInfo", viewer),
    }),
  ],
  [
    "glossaryNode",
    async (urn, viewer) => ({
      canManageEntity: await managesEntry(urn, "glossaryNodeInfo", viewer),
      canManageChildren: await managesChildren(urn, viewer),
    }),
  ],
  [
    "businessAttribute",
    async (_, viewer) => ({ canManageEntity: await may(viewer, [["MANAGE_BUSINESS_ATTRIBUTE"]]) }),
  ],
  [
    "document",
    async (urn, viewer) => ({
      canManageEntity: await may(viewer, [["EDIT_ENTITY"], ["MANAGE_DOCUMENTS"]], urn),
    }),
  ],
]);

async function privileges({ urn }: EntitySource, _: never, viewer: Viewer): Promise<object> {
  const allows = await privilegesOn(urn, viewer);
  const entityType = entityTypeOf(urn);
  const edits = Object.entries(fields)
    .filter(([, { types }]) => types === undefined || types.includes(entityType))
    .map(([name, { privilege }]) => [name, allows([["EDIT_ENTITY"], [privilege]])]);
  return { ...Object.fromEntries(edits), ...(await managed.get(entityType)?.(urn, viewer)) };
}

export const privilegeFields = { privileges };
