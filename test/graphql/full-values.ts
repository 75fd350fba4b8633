/** Values of aspects that have every member of their records, for tests that look for missing fields. */

import { memberOf } from "../../src/graphql/mapping/mapping.ts";
import { stringsIn } from "../../src/lib/json.ts";
import { ownValue } from "../../src/lib/own-value.ts";
import type { Field, FieldType, Model } from "../../src/model/model.ts";

type Types = Pick<Model, "types" | "entities" | "findEntity">;

/** A urn of the entity type, in the form that its key has. */
export function urnOf(model: Types, entityType: string): string {
  const parts = (model.entities.get(entityType)?.keyFields ?? []).map(({ name, type }) => {
    if (name === "origin") return "PROD";
    if (name === "parent") return "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)";
    if (name === "flow") return "urn:li:dataFlow:(airflow,a,PROD)";
    return type.kind === "urn" ? "urn:li:dataPlatform:hive" : "a";
  });
  const id = parts.length === 1 ? parts[0] : `(${parts.join(",")})`;
  return `urn:li:${entityType}:${id}`;
}

/**
 * A record with all its members. `variant` selects the member of each union, the symbol of each enum and the
 * entity type of each urn; lists have one item for each member of a union, and for each type of
 * entity.
 */
export const fullRecord = (model: Types, name: string, variant: number): Record<string, unknown> =>
  recordAt(model, name, variant, { within: [], urnTypes: [], below: new Map() });

interface At {
  /** Records around the value; a record within itself ends there. */
  readonly within: readonly string[];
  /** Entity types that urns of the field name. */
  readonly urnTypes: readonly string[];
  /** The same for members of the records below, by name. */
  readonly below: ReadonlyMap<string, readonly string[]>;
}

function recordAt(model: Types, name: string, variant: number, at: At): Record<string, unknown> {
  const type = model.types.get(name);
  if (type?.kind !== "record") throw new Error(`${name} is no record`);
  const within = [...at.within, name];
  const members = type.fields.map((field) => {
    const found = urnTypesOf(field);
    const urnTypes = found.get("") ?? at.below.get(field.name) ?? typeNamed(model, field.name);
    return [field.name, fullValue(model, field.type, variant, { within, urnTypes, below: found })];
  });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

function fullValue(model: Types, type: FieldType, variant: number, at: At): unknown {
  switch (type.kind) {
    case "primitive":
      if (type.name === "boolean") return true;
      if (type.name === "bytes") return "b";
      return type.name === "string" ? textOf(model, variant, at) : 1;
    case "urn":
      return urnOf(model, typeAt(at, variant) ?? typeOfUrns(model, type.urnType, variant));
    case "array": {
      const { items } = type;
      const members = items.kind === "union" ? items.members.length : 1;
      const count = Math.max(members, at.urnTypes.length);
      const values = Array.from({ length: count }, (_, n) =>
        fullValue(model, items, variant + n, at),
      );
      return values.filter((value) => value !== undefined);
    }
    case "map": {
      const value = fullValue(model, type.values, variant, at);
      return value === undefined ? {} : { allowedTypes: value };
    }
    case "union": {
      const member = type.members[variant % type.members.length];
      const value = member && fullValue(model, member.type, variant, at);
      return value === undefined ? undefined : { [member?.key ?? ""]: value };
    }
    case "named": {
      const named = model.types.get(type.name);
      if (named?.kind === "enum") return named.symbols[variant % named.symbols.length];
      if (named?.kind === "fixed") return "b".repeat(named.size);
      if (at.within.includes(type.name)) return undefined;
      return recordAt(model, type.name, variant, at);
    }
  }
}

const typeAt = ({ urnTypes }: At, variant: number) => urnTypes[variant % urnTypes.length];

/** A urn where the field has a relationship, else texts of several meanings. */
function textOf(model: Types, variant: number, at: At): string {
  const entityType = typeAt(at, variant);
  const texts = ["text", "ACTIVE", urnOf(model, anyType[variant % anyType.length] ?? "")];
  return entityType === undefined
    ? (texts[variant % texts.length] ?? "")
    : urnOf(model, entityType);
}

/** Entity types for members that may have the urn of any. */
export const anyType = [
  ...["corpuser", "dataset", "domain", "structuredProperty", "form", "schemaField", "dataPlatform"],
  ...["test", "assertion", "dataContract", "dataHubPageModule", "dataHubPageTemplate", "post"],
  ...["dataPlatformInstance", "corpGroup", "ownershipType", "dataHubView", "entityType", "tag"],
  "lifecycleStageType",
];

/** The entity type that a member is named by, such as `domain` and `propertyUrn`. */
function typeNamed(model: Types, member: string): readonly string[] {
  const name = member.replace(/Urn$/, "");
  const entity = model.findEntity(name === "property" ? "structuredProperty" : name);
  return entity === undefined ? [] : [entity.name];
}

/** `CorpuserUrn` → corpuser */
const typeOfUrns = (model: Types, urnType: string, variant: number): string =>
  model.findEntity(urnType.split(".").at(-1)?.replace(/Urn$/, "") ?? "")?.name ??
  anyType[variant % anyType.length] ??
  "";

/**
 * From the annotations of relationships and of validated urns: by the last member of their paths, such as
 * `destinationUrn`; empty for the field's own values.
 */
function urnTypesOf({ relationship, properties }: Field): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const annotation of [relationship, ownValue(properties, "UrnValidation")]) {
    const paths =
      memberOf(annotation, "entityTypes") === undefined ? annotation : { "": annotation };
    for (const [path, one] of Object.entries(paths ?? {})) {
      const name = path.split("/").findLast((part) => !isItem(part)) ?? "";
      found.set(name, stringsIn(memberOf(one, "entityTypes")));
    }
  }
  return found;
}

/** A part of a path that is no member of a record: items, values, and the string of a union. */
const isItem = (part: string) => ["", "*", "$key", "string"].includes(part);
