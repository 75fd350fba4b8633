// Finds the values of an aspect that annotations of one kind apply to, with their paths from the
// root of the aspect.
//
// An annotation is at the value itself, or at an enclosing value with the relative path as its name
// (/*/tag). The outermost annotation of a value replaces the others. In a path * is each item of an
// array or each value of a map, $key is each key of a map, and a union member is its key in JSON.

import { CatalogError } from "../src/core/errors.ts";
import type { Annotation, Field, FieldType, Model } from "../src/model/model.ts";

export interface AnnotatedPlace {
  readonly path: readonly string[];
  readonly annotation: Annotation;
  /** A primitive, a urn or a named type of the model; a map if `wholeMaps` is set. */
  readonly type: FieldType;
}

interface PlaceOptions {
  /** Returns the annotation of the wanted kind. */
  readonly annotationOf: (field: Field) => Annotation | undefined;
  /** True: an annotation of the keys (/$key) or values (/*) of a map applies to the map. */
  readonly wholeMaps: boolean;
}

/** In the order of the record's fields. Annotations with a path that does not exist are skipped. */
export function annotatedPlaces(
  model: Model,
  record: string,
  options: PlaceOptions,
): readonly AnnotatedPlace[] {
  const found: AnnotatedPlace[] = [];
  const visit = { ...options, model, found, within: new Set<string>() };
  walk({ kind: "named", name: record }, [], [], visit);
  return found;
}

/** An annotation of an enclosing value, with the rest of its path. Lists have the outermost first. */
interface Pending {
  readonly rest: readonly string[];
  readonly annotation: Annotation;
}

interface Visit extends PlaceOptions {
  readonly model: Model;
  readonly found: AnnotatedPlace[];
  /** The enclosing records: a recursive record is not followed. */
  readonly within: Set<string>;
}

function walk(
  type: FieldType,
  path: readonly string[],
  pending: readonly Pending[],
  visit: Visit,
): void {
  const step = (component: string, to: FieldType) =>
    walk(to, [...path, component], stepped(pending, component), visit);
  switch (type.kind) {
    case "primitive":
    case "urn":
      place(type, path, pending, visit);
      break;
    case "array":
      rejectAt("a list", path, pending);
      step("*", type.items);
      break;
    case "map":
      if (visit.wholeMaps) placeMap(type, path, pending, visit);
      else {
        step("$key", { kind: "primitive", name: "string" });
        step("*", type.values);
      }
      break;
    case "union":
      for (const { key, type: member } of type.members) step(key, member);
      break;
    case "named":
      if (visit.model.types.get(type.name)?.kind === "record") {
        rejectAt("a record", path, pending);
        walkRecord(type.name, path, pending, visit);
      } else place(type, path, pending, visit);
      break;
  }
}

function walkRecord(
  name: string,
  path: readonly string[],
  pending: readonly Pending[],
  visit: Visit,
): void {
  const type = visit.model.types.get(name);
  if (type?.kind !== "record" || visit.within.has(name)) return;
  visit.within.add(name);
  for (const field of type.fields) {
    const inherited = stepped(pending, field.name);
    const own = pendingOf(visit.annotationOf(field));
    walk(field.type, [...path, field.name], [...inherited, ...own], visit);
  }
  visit.within.delete(name);
}

function place(
  type: FieldType,
  path: readonly string[],
  pending: readonly Pending[],
  { found }: Visit,
): void {
  const own = pending.find(({ rest }) => rest.length === 0);
  if (own !== undefined) found.push({ path, annotation: own.annotation, type });
}

function placeMap(
  type: FieldType,
  path: readonly string[],
  pending: readonly Pending[],
  { found }: Visit,
): void {
  const own = pending.find(({ rest: [component, ...more] }) => {
    return more.length === 0 && (component === undefined || /^(\*|\$key)$/.test(component));
  });
  if (own !== undefined) found.push({ path, annotation: own.annotation, type });
}

function rejectAt(kind: string, path: readonly string[], pending: readonly Pending[]): void {
  if (pending.every(({ rest }) => rest.length > 0)) return;
  throw new CatalogError("invalid", `the annotation at "/${path.join("/")}" is on ${kind}`, {
    hint: 'Give the relative path to the annotated values: { "/*": … }, { "/time": … }',
  });
}

const stepped = (pending: readonly Pending[], component: string): readonly Pending[] =>
  pending
    .filter(({ rest }) => rest[0] === component)
    .map(({ rest, annotation }) => ({ rest: rest.slice(1), annotation }));

function pendingOf(annotation: Annotation | undefined): readonly Pending[] {
  if (annotation === undefined) return [];
  const entries = Object.entries(annotation);
  // {} applies to the field itself, with defaults.
  const direct = entries.length === 0 || !entries.every(([key]) => key.startsWith("/"));
  if (direct) return [{ rest: [], annotation }];
  return entries.map(([key, inner]) => ({
    rest: key.slice(1).split("/"),
    annotation: inner as Annotation,
  }));
}
