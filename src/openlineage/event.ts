/** The types of validated OpenLineage events. Facets are objects of their schema (facets/). */
import type { JsonObject } from "../lib/json.ts";

export interface JobName {
  readonly namespace: string;
  readonly name: string;
}

export interface DatasetName extends JobName {
  readonly facets?: { readonly symlinks?: Symlinks } | undefined;
}

export interface Symlinks {
  readonly identifiers?: readonly (JobName & { readonly type: string })[];
}

export type Facets = Readonly<Record<string, JsonObject>>;

export interface LineageJob extends JobName {
  readonly facets?: Facets;
}

export interface LineageRun {
  readonly runId: string;
  readonly facets?: Facets;
}

export interface Dataset extends JobName {
  readonly facets?: Facets & { readonly symlinks?: Symlinks };
  readonly inputFacets?: Facets;
  readonly outputFacets?: Facets;
}

export type EventType = "START" | "RUNNING" | "COMPLETE" | "ABORT" | "FAIL" | "OTHER";

/** A run event has `run` and `job`, a job event `job`, a dataset event `dataset`. */
export interface OpenLineageEvent {
  readonly eventTime: string;
  readonly producer: string;
  readonly eventType?: EventType;
  readonly run?: LineageRun;
  readonly job?: LineageJob;
  readonly dataset?: Dataset;
  readonly inputs?: readonly Dataset[];
  readonly outputs?: readonly Dataset[];
}
