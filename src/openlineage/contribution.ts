/**
 * Contributions: the parts of aspects that an event states. Their kinds have merge rules (merge.ts) whose
 * result does not depend on the order of events, so that a late event neither erases nor overwrites.
 */
import type { JsonObject } from "../lib/json.ts";

interface Target {
  readonly urn: string;
  readonly aspect: string;
}

/** A field, or a member of a map field. The value of the latest event time counts. */
export interface LatestField extends Target {
  readonly kind: "latest";
  readonly field: string;
  /** The member of the map. */
  readonly member?: string | undefined;
  readonly value: unknown;
}

export const latest = (
  urn: string,
  aspect: string,
  field: string,
  value: unknown,
): LatestField => ({ kind: "latest", urn, aspect, field, value });

/** A field with a stamp. The stamp of the earliest event time counts. */
export interface EarliestField extends Target {
  readonly kind: "earliest";
  readonly field: string;
  readonly value: Stamp;
}

export interface Stamp {
  readonly time: number;
  readonly actor: string;
}

/** A whole aspect. The value of the latest event time counts. */
export interface WholeAspect extends Target {
  readonly kind: "whole";
  readonly value: JsonObject;
  /** The part of a value that is compared, to find whether another source has replaced it. */
  readonly mark: (value: JsonObject) => unknown;
}

/** An item that events add to a list once. After a person removes it, events do not add it again. */
export interface ListItem extends Target {
  readonly kind: "item";
  readonly field: string;
  readonly item: unknown;
  readonly keyOf: (item: unknown) => string;
  /** The list is in the item of an outer list, such as the tags of a column. */
  readonly within?: {
    readonly list: string;
    readonly key: string;
    readonly keyField: string;
  };
}

/** An edge: one item for each key. The stamp is that of the earliest event with it. */
export interface LineageEdge extends Target {
  readonly kind: "edge";
  readonly field: string;
  readonly keyField: string;
  readonly stampField: string;
  readonly item: JsonObject;
}

/** A member of a set of texts. */
export interface SetMember extends Target {
  readonly kind: "member";
  readonly field: string;
  readonly value: string;
}

/** Column lineage: upstream columns and transformations of one downstream column. */
export interface ColumnEdge extends Target {
  readonly kind: "column";
  readonly downstream: string;
  readonly upstreams: readonly string[];
  readonly transformations: readonly string[];
}

/** An event of a timeseries aspect. */
export interface ContributedEvent extends Target {
  readonly kind: "event";
  readonly value: JsonObject;
}

/** The entity exists. */
interface Existence {
  readonly kind: "exists";
  readonly urn: string;
}

export type Contribution =
  | LatestField
  | EarliestField
  | WholeAspect
  | ListItem
  | LineageEdge
  | SetMember
  | ColumnEdge
  | ContributedEvent
  | Existence;
