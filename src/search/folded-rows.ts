/** The row that an entity's changes make in the search view, in memory: its document, as it is stored. */
import type { EntityState } from "../core/entity-state.ts";
import { foldEntity } from "../core/fold-entity.ts";
import type { FoldedRows, RowShape } from "../projector/verify/view-rows.ts";
import type { SearchDocument } from "./search.ts";
import { encodeDocument } from "./stored-document.ts";

/** `indexed`: whether the index has it, where the store can tell. */
export const searchRowShape: RowShape = {
  names: ["aspect", "indexed", "document"],
  keys: 1,
  order: [],
};

export const foldSearchRows =
  (
    project: (state: EntityState, entityType: string) => SearchDocument | undefined,
    keyAspectOf: (entityType: string) => string | undefined,
  ) =>
  (urn: string): FoldedRows => {
    const entity = foldEntity(urn, keyAspectOf);
    let type: string | undefined;
    let document: { readonly json: string | undefined } | undefined;

    function json(): string | undefined {
      if (document === undefined) {
        const projected = type === undefined ? undefined : project(entity.state(), type);
        document = { json: projected && encodeDocument(projected) };
      }
      return document.json;
    }

    return {
      add(change) {
        if (change.timeseries) return;
        entity.add(change);
        type = change.entityType;
        document = undefined;
      },
      size: () => (json() === undefined ? 0 : 1),
      rows() {
        const text = json();
        return text === undefined ? [] : [["", 1, text]];
      },
    };
  };
