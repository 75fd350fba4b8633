/**
 * Names of a view's indices, `<name>.<view>.g<generation>.<partition>`, and of the aliases for readers of
 * the live generation, `<name>.<view>.live.<partition>`. A partition is a part of the view with an index of its
 * own, such as an entity type and an aspect. Different partitions have different names.
 */
import { createHash } from "node:crypto";

/** Characters of a part; a longer one is replaced by its hash. Names may have 255 bytes. */
const PART_MAX = 80;

/** Encodes the parts as a partition in the names of indices. */
export const partitionOf = (...parts: readonly string[]): string => parts.map(encoded).join(".");

export interface ViewNames {
  index(generation: number, partition: string): string;
  /** Alias for writes: a write to a dropped index fails instead of creating the index. */
  writing(generation: number, partition: string): string;
  /** Alias for reads; `*` as partition matches all. */
  live(partition: string): string;
  /** A pattern of all indices of a generation; without one: of all generations. */
  indices(generation?: number): string;
  /** Parses the name of an index; undefined for an index of another view. */
  parse(index: string): { readonly generation: number; readonly partition: string } | undefined;
}

export function namesOf(name: string, view: string): ViewNames {
  const prefix = `${name}.${view}.`;
  const own = new RegExp(`^${RegExp.escape(prefix)}g(\\d+)\\.(.+)$`);
  return {
    index: (generation, partition) => `${prefix}g${generation}.${partition}`,
    writing: (generation, partition) => `${prefix}g${generation}w.${partition}`,
    live: (partition) => `${prefix}live.${partition}`,
    indices: (generation) => `${prefix}g${generation === undefined ? "*" : `${generation}.*`}`,
    parse(index) {
      const [, generation, partition] = own.exec(index) ?? [];
      return partition === undefined ? undefined : { generation: Number(generation), partition };
    },
  };
}

/** Names have lower-case letters: dataProfile → data_profile; other characters as -hh, in UTF-8. */
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
