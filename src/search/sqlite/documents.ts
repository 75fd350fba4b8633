/** Documents by number and by urn. */
import type { DatabaseSync } from "node:sqlite";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
import type { Glance } from "../glance.ts";
import type { SearchDocument } from "../search.ts";
import { decodeDocument, decodeValues } from "../stored-document.ts";
import { hash32 } from "./tokens.ts";

/** A document as it is stored; decodeDocument makes it whole. */
export interface StoredDocument {
  readonly urn: string;
  readonly json: string;
}

export interface Documents {
  /** Undefined when there is none any more. */
  stored(doc: number): StoredDocument | undefined;
  storedByUrn(urn: string): StoredDocument | undefined;
  /**
   * Remembered, as far as they are few, until `forget`. With a glance also undefined when that tells
   * that it is not wanted.
   */
  get(doc: number, glance?: Glance): SearchDocument | undefined;
  /** Type and values alone; undefined when there is none any more. */
  values(doc: number): ReturnType<typeof decodeValues> | undefined;
  forget(): void;
}

/** Maximum length of the JSON of all cached documents together: that of a wide table has megabytes. */
const rememberedCharactersMax = 4_000_000;

export function createDocuments(db: DatabaseSync): Documents {
  const byNumber = db.prepare(`
    SELECT urn, json FROM entity JOIN document USING (id) WHERE id = ?`);
  const byUrn = db.prepare(`
    SELECT urn, json FROM entity JOIN document USING (id) WHERE hash = ? AND urn = ?`);
  const text = preparingOn(db).arrays<readonly [json: string]>(
    "SELECT json FROM document WHERE id = ?",
  );
  const remembered = new Map<number, SearchDocument>();
  let characters = 0;
  const stored = (doc: number) => byNumber.get(doc) as StoredDocument | undefined;
  return {
    stored,
    storedByUrn(given) {
      const urn = given.toWellFormed();
      return byUrn.get(hash32(urn), urn) as StoredDocument | undefined;
    },
    get(doc, glance) {
      const known = remembered.get(doc);
      if (known !== undefined) return known;
      const told = glance === undefined ? undefined : text.get(doc);
      if (told !== undefined && !glance?.(told[0])) return undefined;
      const found = stored(doc);
      if (found === undefined) return undefined;
      const document = decodeDocument(found.urn, found.json);
      if (characters + found.json.length <= rememberedCharactersMax) {
        remembered.set(doc, document);
        characters += found.json.length;
      }
      return document;
    },
    values(doc) {
      const known = remembered.get(doc);
      if (known !== undefined) return known;
      const found = text.get(doc);
      return found && decodeValues(found[0]);
    },
    forget() {
      remembered.clear();
      characters = 0;
    },
  };
}
