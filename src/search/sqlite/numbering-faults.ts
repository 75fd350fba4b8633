/**
 * Whether the numbers of fields and kinds of texts still mean what they meant when the index was made:
 * each that the index has is looked up, and held against a document that the index has under it.
 */
import type { DatabaseSync } from "node:sqlite";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
import type { SearchDocument } from "../search.ts";
import { decodeDocument } from "../stored-document.ts";
import { openVocabulary } from "./postings.ts";
import { fieldOfToken, firstOfKind, kindOfToken, TYPE_FIELD, valueRange } from "./tokens.ts";

/** Sentences without a full stop. */
export function numberingFaults(db: DatabaseSync): readonly string[] {
  openVocabulary(db);
  const { arrays, objects } = preparingOn(db);
  const tokenFrom = arrays<readonly [string]>(
    "SELECT term FROM temp.token WHERE term >= ? ORDER BY term LIMIT 1",
  );
  const holder = arrays<readonly [string]>(`
    SELECT json FROM temp.posting JOIN document ON document.id = doc WHERE term = ? LIMIT 1`);
  const fields = objects<{ readonly name: string }>("SELECT name FROM field WHERE id = ?");
  const kinds = objects<{ readonly boost: number; readonly suggested: number }>(
    "SELECT boost, suggested FROM kind WHERE id = ?",
  );

  const documentWith = (token: string): SearchDocument | undefined => {
    const json = holder.get(token)?.[0];
    return json === undefined ? undefined : decodeDocument("", json);
  };

  /** The first token of each field, and of each kind. */
  function* firsts(): Generator<string> {
    let token = tokenFrom.get("")?.[0];
    while (token !== undefined) {
      yield token;
      const kind = kindOfToken(token);
      const next = kind === undefined ? valueRange(fieldOfToken(token))[1] : firstOfKind(kind + 1);
      // A token that is none of ours leads nowhere.
      token = next > token ? tokenFrom.get(next)?.[0] : undefined;
    }
  }

  function isWhole(token: string): boolean {
    const document = documentWith(token);
    // Of a document that is not there the counts tell.
    if (document === undefined) return true;
    const kind = kindOfToken(token);
    if (kind !== undefined) {
      const meant = kinds.get(kind);
      return document.texts.some(
        ({ boost, suggested }) => boost === meant?.boost && suggested === (meant.suggested === 1),
      );
    }
    const field = fieldOfToken(token);
    if (field === TYPE_FIELD) return true;
    const name = fields.get(field)?.name;
    return name !== undefined && Object.hasOwn(document.values, name);
  }

  const faults = new Set<string>();
  for (const token of firsts()) {
    if (isWhole(token)) continue;
    const what = kindOfToken(token) === undefined ? "fields" : "kinds of texts";
    faults.add(`the numbers of ${what} are not those of the index`);
  }
  return [...faults];
}
