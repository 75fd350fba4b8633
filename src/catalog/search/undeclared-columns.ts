/**
 * Columns in lineage. Most columns are not entities of their own: they have edges, but no document
 * in the search view. A search finds such a column if a document without values would match.
 */
import { entityTypeOf } from "../../core/urn.ts";
import { slicesOf } from "../../lib/lists.ts";
import { holds } from "../../views/search/evaluate.ts";
import type { SearchDocument, SearchReader } from "../../views/search/search.ts";
import type { Reached } from "../graph/lineage.ts";
import type { SearchPlan } from "./search.ts";

const COLUMN = "schemaField";
const chunkMax = 1_000;

/**
 * Documents of the reached columns that have none in the search view, by urn, as far as they match.
 */
export async function undeclaredColumns(
  reader: Pick<SearchReader, "documents">,
  plan: SearchPlan,
  reached: readonly Reached[],
): Promise<ReadonlyMap<string, SearchDocument>> {
  const { condition, entityTypes } = plan.scope;
  const found = new Map<string, SearchDocument>();
  if (!entityTypes.includes(COLUMN)) return found;
  const columns = reached.map(({ urn }) => urn).filter((urn) => entityTypeOf(urn) === COLUMN);
  for (const chunk of slicesOf(columns, chunkMax)) {
    const documents = await reader.documents(chunk);
    for (const [i, urn] of chunk.entries()) {
      if (documents[i] !== undefined) continue;
      const values = { urn: [urn], _entityType: [COLUMN], removed: [false] };
      if (condition === undefined || holds(condition, { values })) {
        found.set(urn, { urn, entityType: COLUMN, values, texts: [] });
      }
    }
  }
  return found;
}
