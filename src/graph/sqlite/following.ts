/**
 * Steps from many nodes at once: one query for all of a slice and a side. Where a hub makes that
 * too much for one go, its edges are read page by page.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Followed, Step, Steps } from "../graph.ts";
import type { GraphNumbers } from "./graph-numbers.ts";
import { splitUrn, typeOf } from "./schema.ts";

/** Edges read before others get their turn: some ten milliseconds. */
const EDGES_PER_GO_MAX = 4_000;

/** Where a page ended. */
export type Place = readonly [position: number, ordinal: number];

export interface Following {
  /** The edges of some urns; undefined when they are too many for one go. */
  batch(urns: readonly string[], steps: Steps): readonly Followed[] | undefined;
  /** Edges of one urn and step that come after a place; `last` when there may be more. */
  page(
    urn: string,
    step: Step,
    after: Place,
  ): { readonly edges: readonly Followed[]; readonly last: Place | undefined };
}

export const FIRST_PLACE: Place = [-1, -1];

export const stepsOf = (urn: string, steps: Steps): readonly Step[] =>
  steps.get(typeOf(splitUrn(urn).prefix)) ?? [];

type Side = Step["direction"];

const columns = ["key", "type", "position", "ordinal", "id", "kind", "rest", "via"] as const;

type Row = readonly [
  key: number,
  type: number,
  position: number,
  ordinal: number,
  id: number,
  kind: number,
  rest: string,
  via: number | null,
  createdOn: number,
  createdActor: number,
  updatedOn: number,
  updatedActor: number,
  properties: string | null,
];
