/** The resources of label mutations: entities, and columns of datasets. */
import { CatalogError } from "../../core/errors.ts";
import type { Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";

export interface LabelResource {
  readonly resourceUrn: string;
  readonly subResource?: Maybe<string>;
  readonly subResourceType?: Maybe<string>;
}

/** A column of a dataset. */
export const columnResource = (dataset: string, fieldPath: string): LabelResource => ({
  ...{ resourceUrn: dataset, subResource: fieldPath, subResourceType: "DATASET_FIELD" },
});

/** Maximum number of labels that one mutation adds or removes, over all its entities. */
const operationsMax = 50_000;

/** Throws `malformed` for more labels than one mutation changes. */
export function rejectTooMany(labels: readonly unknown[], resources: readonly unknown[]): void {
  const count = labels.length * resources.length;
  if (count <= operationsMax) return;
  const given = `${labels.length} for each of ${resources.length} entities`;
  throw new CatalogError(
    "malformed",
    `too many labels: ${given}, at most ${operationsMax} in all`,
    {
      hint: "Send them in several requests",
    },
  );
}

/**
 * Throws `malformed` for a column that the schema of its dataset lacks. With `edited`, a column that has
 * labels or a description is accepted, too, so that they can be removed after it left the schema.
 */
export async function rejectUnknownColumns(
  resources: readonly LabelResource[],
  viewer: Viewer,
  { edited = false }: { readonly edited?: boolean } = {},
): Promise<void> {
  const columns = new Map<string, Set<string>>();
  for (const { resourceUrn, subResource, subResourceType } of resources) {
    if (!subResource !== !subResourceType) throw halfNamed(resourceUrn, subResource);
    if (!subResource) continue;
    const known = columns.get(resourceUrn) ?? (await columnsOf(resourceUrn, viewer, edited));
    columns.set(resourceUrn, known);
    if (known.has(subResource)) continue;
    const column = `column "${subResource.slice(0, 500)}" does not exist`;
    const why = known.size === 0 ? "the dataset has no schema" : "the schema lacks it";
    throw new CatalogError("malformed", `${column} in "${resourceUrn}": ${why}`, {
      hint: "Send a fieldPath of the aspect schemaMetadata",
    });
  }
}

async function columnsOf(urn: string, viewer: Viewer, edited: boolean): Promise<Set<string>> {
  const { aspect } = await viewer.loader.load(urn);
  const lists = [
    aspect("schemaMetadata")?.fields,
    edited ? aspect("editableSchemaMetadata")?.editableSchemaFieldInfo : undefined,
  ];
  return new Set(
    lists.flatMap((list) => (Array.isArray(list) ? list : [])).map(({ fieldPath }) => fieldPath),
  );
}

function halfNamed(urn: string, subResource: Maybe<string>): CatalogError {
  const [has, lacks] = subResource
    ? ["subResource", "subResourceType"]
    : ["subResourceType", "subResource"];
  return new CatalogError("malformed", `resource "${urn}" has ${has} but no ${lacks}`, {
    hint: "A column needs both: subResourceType DATASET_FIELD and its fieldPath as subResource",
  });
}
