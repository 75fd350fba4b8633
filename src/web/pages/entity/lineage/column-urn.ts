/** Columns as urns of the type `schemaField` name them. */
import { partsOf, typeOf } from "../../../api/urn.ts";

export interface ColumnRef {
  readonly urn: string;
  readonly path: string;
}

/** The column that the urn of a `schemaField` names. */
export function columnOf(urn: string): ColumnRef | undefined {
  if (typeOf(urn) !== "schemaField") return undefined;
  const [entity = "", ...path] = partsOf(urn);
  if (path.length === 0) return undefined;
  // Producers encode brackets and commas of a path, and nothing else.
  const readable = path.join(",").replaceAll(/%(28|29|2C)/gi, decodeURIComponent);
  return { urn: entity, path: readable };
}
