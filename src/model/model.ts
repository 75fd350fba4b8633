/**
 * The metadata model as the rest of the service sees it: entities, aspects, their types and
 * annotations. load-model.ts makes one from directories of Avro schemas (avro/ by default).
 */
import { CatalogError } from "../core/errors.ts";
import type { KeyPart } from "../core/urn.ts";
import { nearest } from "../lib/did-you-mean.ts";

/** Annotations as the schemas hold them (avro/README.md): options, or path overrides. */
export type Annotation = Readonly<Record<string, unknown>>;

export type FieldType =
  | { readonly kind: "primitive"; readonly name: PrimitiveName }
  | { readonly kind: "urn"; readonly urnType: string }
  | { readonly kind: "array"; readonly items: FieldType }
  | { readonly kind: "map"; readonly values: FieldType }
  | { readonly kind: "union"; readonly members: readonly UnionMember[] }
  /** A record, enum or fixed of Model.types, by full name. */
  | { readonly kind: "named"; readonly name: string };

export type PrimitiveName = "string" | "int" | "long" | "float" | "double" | "boolean" | "bytes";

/** In JSON a union value is an object with one member: {<key>: value}. */
export interface UnionMember {
  readonly key: string;
  readonly type: FieldType;
}

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly optional: boolean;
  readonly default?: unknown;
  readonly searchable?: Annotation | undefined;
  readonly relationship?: Annotation | undefined;
  readonly timeseriesField?: Annotation | undefined;
  readonly timeseriesFieldCollection?: Annotation | undefined;
  /** Every other custom property of the field (deprecated, UrnValidation, …). */
  readonly properties: Annotation;
}

export type NamedType =
  | { readonly kind: "record"; readonly name: string; readonly fields: readonly Field[] }
  | { readonly kind: "enum"; readonly name: string; readonly symbols: readonly string[] }
  | { readonly kind: "fixed"; readonly name: string; readonly size: number };

export interface Aspect {
  readonly name: string;
  /** Full name of its record, with the configured prefix. */
  readonly record: string;
  readonly timeseries: boolean;
  /** 1 unless the schema says otherwise. */
  readonly schemaVersion: number;
}

/** How one field of a key is read from a urn, and what may stand there. */
export interface EntityKeyPart extends KeyPart {
  /** Empty in the urn when it is absent. */
  readonly optional: boolean;
  /** Of an enum. */
  readonly symbols: readonly string[];
}

export interface Entity {
  readonly name: string;
  readonly keyAspect: string;
  /** Names of the other aspects, in registry order. */
  readonly aspects: readonly string[];
  readonly category?: string | undefined;
  readonly searchGroup?: string | undefined;
  /** Fields of the key record, in urn order. */
  readonly keyFields: readonly Field[];
  /** Their properties for entity-key.ts, in the same order. */
  readonly keyParts: readonly EntityKeyPart[];
}

/** A legacy snapshot record and the aspect records that it takes. */
export interface Snapshot {
  readonly record: string;
  readonly entity: string;
  /** Full names of aspect records. */
  readonly aspects: readonly string[];
}

/** Where a value does not fit its schema. */
export interface ValidationError {
  /** Slash path from the aspect's root: `/owners/0/owner`; the root is ``. */
  readonly path: string;
  /**
   * The message with the found and the expected value, without the path: `"maybe" cannot be coerced to
   * Boolean: expected true or false`.
   */
  readonly message: string;
}

/** A urn in a value; `path` as of ValidationError. */
export interface UrnInValue {
  readonly urn: string;
  readonly path: string;
}

/** A urn that the model does not allow at its location: of another entity type, or with a wrong key. */
export interface WrongUrn extends UrnInValue {
  readonly fault: string;
  /** The urns that the location allows: "a urn of entity type dataset". */
  readonly expected: string;
}

export type Checked =
  | {
      readonly ok: true;
      readonly value: Record<string, unknown>;
      /** The value may be written only if the aspect already has these urns. */
      readonly wrongUrns?: readonly WrongUrn[];
      /** Urns of entities that must exist (`UrnValidation`). */
      readonly requiredUrns?: readonly UrnInValue[];
    }
  | { readonly ok: false; readonly validationErrors: readonly ValidationError[] };

export interface Model {
  /** Changes when anything in the model changes; views carry it. */
  readonly fingerprint: string;
  readonly types: ReadonlyMap<string, NamedType>;
  readonly entities: ReadonlyMap<string, Entity>;
  readonly aspects: ReadonlyMap<string, Aspect>;
  readonly snapshots: ReadonlyMap<string, Snapshot>;

  /** The entity type of that name, ignoring letter case. */
  findEntity(name: string): Entity | undefined;
  /** The aspect if the entity type has it (key aspect included); names are case-sensitive. */
  findAspectOf(entity: Entity, aspect: string): Aspect | undefined;
  /** By full record name under any prefix: `com.linkedin.pegasus2avro.common.Status` too. */
  findAspectByRecord(record: string): Aspect | undefined;
  /** By full record name under any prefix, likewise. */
  findSnapshotByRecord(record: string): Snapshot | undefined;
  /** The legacy snapshot of an entity type; newer types have none. */
  findSnapshotOf(entity: string): Snapshot | undefined;

  /**
   * Checks a parsed JSON value against the aspect's schema and normalises it IN PLACE: unknown
   * fields dropped, nulls of optional fields dropped, defaults filled, union keys and urns given
   * the configured prefix and namespace. The value must come from JSON.parse.
   */
  check(aspect: Aspect, value: unknown): Checked;
  /** True if values of the aspect may have `requiredUrns`. */
  requiresEntities(aspect: Aspect): boolean;
  /**
   * The fault of a urn of the configured namespace that no new entity may have: an unknown type, or an
   * id that does not fit the type's key, nested urns included. Undefined for a valid urn.
   */
  faultOfUrn(urn: string): string | undefined;
}

/** "unknown entity type", with similar names as the hint. */
export function unknownEntityType(
  model: Pick<Model, "entities">,
  name: string,
  code: "invalid" | "not_found",
): CatalogError {
  return new CatalogError(code, `unknown entity type "${name}"`, {
    hint: nearest(name, model.entities.keys()),
  });
}
