/** Keeps names unique among the entities below one parent, and among those without a parent. */
import { CatalogError } from "../../core/errors.ts";
import type { Viewer } from "../context.ts";

interface Kind {
  readonly entityType: string;
  readonly shown: string;
  readonly aspect: string;
  /** Absent: names are unique among all entities of the type. */
  readonly parentField?: string;
  /** Code of the error, as in DataHub: GraphQL answers 409 or 400. */
  readonly code: "conflict" | "invalid";
}

export const domainNames: Kind = {
  entityType: "domain",
  shown: "domain",
  aspect: "domainProperties",
  parentField: "parentDomain",
  code: "conflict",
};

export const termNames: Kind = {
  entityType: "glossaryTerm",
  shown: "glossary term",
  aspect: "glossaryTermInfo",
  parentField: "parentNode",
  code: "invalid",
};

export const attributeNames: Kind = {
  entityType: "businessAttribute",
  shown: "business attribute",
  aspect: "businessAttributeInfo",
  code: "conflict",
};

interface Wanted {
  readonly name: string;
  readonly parent: string | undefined;
  /** The entity that gets the name; absent for a new one. */
  readonly urn?: string | undefined;
}

/** Maximum number of search hits that are compared. */
const candidatesMax = 1_000;

/**
 * Throws if another entity below the same parent has exactly the name. Callers check and write within
 * `viewer.moving`, so that two requests to one node cannot both take the name.
 */
export async function rejectTakenName(
  { entityType, shown, aspect, parentField, code }: Kind,
  { name, parent, urn }: Wanted,
  { catalog, loader }: Viewer,
): Promise<void> {
  await catalog.reach("search", catalog.positionOf("entities"));
  const and: { field: string; condition: string; values?: string[] }[] = [
    { field: "name", condition: "EQUAL", values: [name] },
  ];
  if (parentField !== undefined) {
    const condition = parent === undefined ? "IS_NULL" : "EQUAL";
    and.push({ field: parentField, condition, ...(parent !== undefined && { values: [parent] }) });
  }
  const request = { entities: [entityType], input: "*", filter: { or: [{ and }] } };
  const { hits } = await catalog.search(request, { start: 0, count: candidatesMax });
  for (const hit of hits) {
    if (hit.urn === urn) continue;
    const properties = (await loader.load(hit.urn)).aspect(aspect);
    const below = parentField && (properties?.[parentField] ?? undefined);
    if (properties?.name !== name || below !== parent) continue;
    const where = parent === undefined ? "without a parent" : `below "${parent}"`;
    throw new CatalogError(code, `name "${name}" is taken by the ${shown} "${hit.urn}" ${where}`, {
      hint: "Choose another name",
    });
  }
}
