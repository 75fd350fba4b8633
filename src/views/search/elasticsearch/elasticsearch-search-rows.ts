/**
 * The rows of the search view in Elasticsearch and OpenSearch, for verification: the stored
 * documents, and whether each is indexed. The check looks up one term, the urn. That is enough: the
 * source has no terms, so an update by another program removes all terms of a document.
 */
import type { Staged } from "../../../projector/sink.ts";
import type { ViewRows } from "../../../projector/verify/view-rows.ts";
import { openElasticsearchViewRows } from "../../../storage/elasticsearch/elasticsearch-view-rows.ts";
import type { StoredViewState } from "../../../storage/elasticsearch/view-metadata.ts";
import type { ServerAddress } from "../../../storage/view-origin.ts";
import { encoded } from "./fields.ts";
import {
  idOf,
  partitionOfUrn,
  type SearchKept,
  type StoredSource,
  searchAsker,
  searchShape,
} from "./search-shape.ts";
import { fromUnitOrder, inUnitOrder, storedText } from "./stored-text.ts";

const INDEXED = "indexed";
/** Every document has the field `urn`. */
const URN_TEXT = `text.${encoded("urn")}`;

/** Connects lazily. `staged`: reads a staging generation. */
export async function openElasticsearchSearchRows(
  address: ServerAddress,
  staged?: Staged,
): Promise<ViewRows> {
  return openElasticsearchViewRows<StoredSource, SearchKept>(
    {
      shape: searchShape,
      address,
      asker: searchAsker,
      staged: staged as StoredViewState<SearchKept> | undefined,
    },
    {
      term: (urn) => inUnitOrder(urn.toWellFormed()),
      urn: fromUnitOrder,
      sort: [],
      fields: ["document"],
      marks: (urns) => [{ terms: { [URN_TEXT]: urns.map(storedText), _name: INDEXED } }],
      row({ id, partition: at, source, marks }) {
        const urn = fromUnitOrder(String(source.urn));
        // Readers do not find a document under another id or in another partition.
        const misplaced = id !== idOf(urn) || at !== partitionOfUrn(urn);
        const { document } = source;
        const text = typeof document === "string" ? document : JSON.stringify(document ?? null);
        return [misplaced ? `${at}/${id}` : "", marks.includes(INDEXED) ? 1 : 0, text];
      },
    },
  );
}
