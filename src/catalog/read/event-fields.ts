/** Checks the fields of timeseries filters: paths into the aspect's record. */
import { CatalogError } from "../../core/errors.ts";
import { type Filter, fieldPath, readFilter } from "../../core/query/filter.ts";
import { nearest } from "../../lib/did-you-mean.ts";
import type { Aspect, Field, FieldType, Model } from "../../model/model.ts";

/** Field of every event beside its own. */
const URN = "urn";

/** Throws `malformed` for a field that no event of the aspect can have. */
export function checkEventFields(
  filter: Filter | undefined,
  aspect: Aspect,
  types: Model["types"],
): void {
  if (filter === undefined || filter === null) return;
  for (const { field } of readFilter(filter).flat()) {
    const path = fieldPath(field);
    const fields = fieldsOf({ kind: "named", name: aspect.record }, types);
    if ((path.length === 1 && path[0] === URN) || leadsInto(fields, path, types)) continue;
    const names = [URN, ...fields.map(({ name }) => name)];
    throw new CatalogError("malformed", `events of "${aspect.name}" have no field "${field}"`, {
      hint: nearest(path[0] ?? "", names) ?? `Use one of ${names.join(", ")}`,
    });
  }
}

function leadsInto(
  fields: readonly Field[],
  [first, ...rest]: readonly string[],
  types: Model["types"],
): boolean {
  const field = fields.find(({ name }) => name === first);
  return field !== undefined && leads(field.type, rest, types);
}

/** Keys of maps and members of unions are not checked, dots included. */
function leads(type: FieldType, path: readonly string[], types: Model["types"]): boolean {
  if (path.length === 0 || type.kind === "map" || type.kind === "union") return true;
  if (type.kind === "array") return leads(type.items, path, types);
  return leadsInto(fieldsOf(type, types), path, types);
}

function fieldsOf(type: FieldType, types: Model["types"]): readonly Field[] {
  const named = type.kind === "named" ? types.get(type.name) : undefined;
  return named?.kind === "record" ? named.fields : [];
}
