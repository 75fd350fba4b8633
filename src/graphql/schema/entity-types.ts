/**
 * Entity types: their names in the schema, and the aspects that fields of several types read. Clients of
 * DataHub derive most members of the enum EntityType from the model's names; some types have another
 * one for historical reasons.
 */
import { ownValue } from "../../lib/own-value.ts";
import rows from "./entity-types.json" with { type: "json" };

interface EntityTypeRow {
  /** Its own type in the schema; all others are a CatalogEntity. */
  readonly typename?: string;
  /** Its member of the enum, where that does not derive from the model's name. */
  readonly member?: string;
  /** The aspect with its properties. */
  readonly properties?: string;
  /** `aspect/field` of the description that users edit. */
  readonly description?: string;
  /** The field of Query that returns an entity of this type. */
  readonly query?: string;
  /** True: that field returns an entity that does not exist, too, with `exists` false. */
  readonly returnsMissing?: boolean;
}

export const entityTypeRows: Readonly<Record<string, EntityTypeRow>> = rows;

/** By entity type. */
export const typenames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(entityTypeRows).flatMap(([name, { typename }]) =>
    typename ? [[name, typename]] : [],
  ),
);

/** The aspect with the properties of an entity type; empty for a type without one. */
export const propertiesAspectOf = (entityType: string): string =>
  ownValue(entityTypeRows, entityType)?.properties ?? "";

/** The aspect and the field with the description that users edit; empty for a type without one. */
export const descriptionPathOf = (entityType: string): readonly string[] =>
  ownValue(entityTypeRows, entityType)?.description?.split("/") ?? [];

/** `glossaryTerm` → GLOSSARY_TERM, `dataHubPolicy` → POLICY */
export const shownType = (entityType: string): string =>
  ownValue(entityTypeRows, entityType)?.member ?? derivedType(entityType);

const derivedType = (entityType: string): string =>
  entityType
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()
    .replace(/^_/, "")
    .replace(/^DATA_HUB_/, "");

/** Alternative names, for clients that derive names by another rule. */
const alsoShownAs = (entityType: string): readonly string[] => {
  const derived = derivedType(entityType);
  return entityType.startsWith("dataHub") ? [derived, `DATAHUB_${derived}`] : [derived];
};

/** Members of the enum that are no entity type of the model. */
const withoutEntities = ["ACCESS_TOKEN", "CORP_USER", "RESTRICTED", "OTHER"];

export interface EntityTypes {
  /** The model's names. */
  readonly names: ReadonlySet<string>;
  /** Members of the enum. */
  readonly members: readonly string[];
  /** The model's name; undefined for a member without an entity type. */
  find(member: string): string | undefined;
}

export function entityTypesOf(entityNames: Iterable<string>): EntityTypes {
  const names = new Set(entityNames);
  const found = new Map<string, string>();
  for (const name of names) {
    for (const member of [shownType(name), ...alsoShownAs(name)]) {
      if (!found.has(member)) found.set(member, name);
    }
  }
  const members = new Set([...found.keys(), ...withoutEntities]);
  return { names, members: [...members], find: (member) => found.get(member) };
}
