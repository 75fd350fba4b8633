/** The fields of aspects that hold links (core/rules/link-rules.ts). */
import { type LinkPath, linkKindOf } from "../../../core/rules/link-rules.ts";
import type { FieldType, Model } from "../../../model/model.ts";

/** By the full name of an aspect's record. */
export function createLinkPaths({
  types,
}: Pick<Model, "types">): (record: string) => readonly LinkPath[] {
  const cache = new Map<string, readonly LinkPath[]>();

  /** `open`: the records around the type. A record inside itself is not searched again. */
  function pathsIn(type: FieldType, open: readonly string[]): readonly LinkPath[] {
    if (type.kind === "array") return below("*", pathsIn(type.items, open));
    if (type.kind === "map") return below("*", pathsIn(type.values, open));
    if (type.kind === "union") {
      return type.members.flatMap((member) => below(member.key, pathsIn(member.type, open)));
    }
    const named = type.kind === "named" ? types.get(type.name) : undefined;
    if (named?.kind !== "record" || open.includes(named.name)) return [];
    const record = named.name.slice(named.name.lastIndexOf(".") + 1);
    return named.fields.flatMap((field) => {
      const items = field.type.kind === "array" ? field.type.items : undefined;
      const kind = isText(items ?? field.type) ? linkKindOf(record, field.name) : undefined;
      if (kind !== undefined) return [{ path: items ? [field.name, "*"] : [field.name], kind }];
      return below(field.name, pathsIn(field.type, [...open, named.name]));
    });
  }

  return (record) => {
    const paths = cache.get(record) ?? pathsIn({ kind: "named", name: record }, []);
    cache.set(record, paths);
    return paths;
  };
}

const isText = (type: FieldType): boolean => type.kind === "primitive" && type.name === "string";

const below = (name: string, paths: readonly LinkPath[]): readonly LinkPath[] =>
  paths.map(({ path, kind }) => ({ path: [name, ...path], kind }));
