/**
 * What a view's indices and aliases are called: `<name>.<view>.g<generation>.<place>`, and for
 * readers of the generation that counts `<name>.<view>.live.<place>`. A place is what the view has
 * an index for, as an entity type and an aspect. Two places never share a name, whatever is in them.
 */
import { createHash } from "node:crypto";

/** Characters of a part; a longer one is told by its hash. Names may have 255 bytes. */
const PART_MAX = 80;

/** The place of these parts, as the names hold it. */
export const placeOf = (...parts: readonly string[]): string => parts.map(encoded).join(".");

export interface ViewNames {
  index(generation: number, place: string): string;
  /** Writes go through this alias, so that none brings back an index that was dropped. */
  writing(generation: number, place: string): string;
  /** Readers ask this alias; `*` in the place stands for any. */
  live(place: string): string;
  /** A pattern of all indices of a generation; without one: of all generations. */
  indices(generation?: number): string;
  /** What an index's name tells; undefined when it is none of the view's. */
  parse(index: string): { readonly generation: number; readonly place: string } | undefined;
}

export function namesOf(name: string, view: string): ViewNames {
  const prefix = `${name}.${view}.`;
  const own = new RegExp(`^${RegExp.escape(prefix)}g(\\d+)\\.(.+)$`);
  return {
    index: (generation, place) => `${prefix}g${generation}.${place}`,
    writing: (generation, place) => `${prefix}g${generation}w.${place}`,
    live: (place) => `${prefix}live.${place}`,
    indices: (generation) => `${prefix}g${generation === undefined ? "*" : `${generation}.*`}`,
    parse(index) {
      const [, generation, place] = own.exec(index) ?? [];
      return place === undefined ? undefined : { generation: Number(generation), place };
    },
  };
}

/** Names hold lower-case letters: dataProfile → data_profile; other characters as -hh, in UTF-8. */
function encoded(part: string): string {
  if (part === "") return "-";
  const text = part.replace(/[^a-z0-9]/gu, (character) =>
    /[A-Z]/.test(character)
      ? `_${character.toLowerCase()}`
      : Buffer.from(character).toString("hex").replace(/../g, "-$&"),
  );
  if (text.length <= PART_MAX) return text;
  return `-h${createHash("sha256").update(part).digest("hex").slice(0, 40)}`;
}
