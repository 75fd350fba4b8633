/** Custom properties from facets: bounded in number and length, without secrets. */
import { jsonObject } from "../../lib/json.ts";
import { shortened } from "../../lib/shortened.ts";
import type { LatestField } from "../contribution.ts";
import { isSecretName, REDACTED, withoutCredentials } from "../redact.ts";
import type { FacetOwner } from "./facet-table.ts";

const valueCharactersMax = 2_000;
const nameCharactersMax = 200;
/** Maximum number of properties of one facet. */
const propertiesMax = 100;

type Named = Readonly<Record<string, unknown>>;

/** A property for each member with a value. */
export const properties = (
  { urn, properties: aspect }: Pick<FacetOwner, "urn" | "properties">,
  members: Named,
): readonly LatestField[] =>
  Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({
      kind: "latest",
      urn,
      aspect,
      field: "customProperties",
      member: shortened(name, nameCharactersMax),
      value: textOf(name, value),
    }));

/** A property for each leaf of a value, with the path as its name: `spark_properties.master`. */
export const flattened = (
  owner: FacetOwner,
  name: string,
  value: unknown,
): readonly LatestField[] =>
  properties(owner, Object.fromEntries([...leavesOf(name, value)].slice(0, propertiesMax)));

function* leavesOf(path: string, value: unknown): Iterable<readonly [string, unknown]> {
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== "object")) yield [path, value.join(", ")];
    else for (const [index, item] of value.entries()) yield* leavesOf(`${path}.${index}`, item);
    return;
  }
  if (!jsonObject(value)) {
    yield [path, value];
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    if (name === "_producer" || name === "_schemaURL" || name === "_deleted") continue;
    yield* leavesOf(`${path}.${name}`, member);
  }
}

function textOf(name: string, value: unknown): string {
  if (isSecretName(name)) return REDACTED;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return shortened(withoutCredentials(text), valueCharactersMax);
}
