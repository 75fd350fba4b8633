/**
 * Maps an event to contributions: the entities that it names, their facets, its edges and the state of its
 * run. Pure, and independent of what is stored.
 */
import { CatalogError } from "../core/errors.ts";
import { parseTime } from "../lib/calendar.ts";
import type { JsonObject } from "../lib/json.ts";
import { shortened } from "../lib/shortened.ts";
import { type Contribution, latest } from "./contribution.ts";
import type { Dataset, EventType, Facets, OpenLineageEvent } from "./event.ts";
import { datasetFacets } from "./facets/dataset-facets.ts";
import type { EventContext, FacetOwner, FacetTable } from "./facets/facet-table.ts";
import { jobFacets } from "./facets/job-facets.ts";
import { datasetEdges } from "./facets/lineage-edges.ts";
import { flattened } from "./facets/properties.ts";
import { qualityFacets } from "./facets/quality-facets.ts";
import { runFacets } from "./facets/run-facets.ts";
import { eventName } from "./merge.ts";
import { createUrns, flowOf } from "./names.ts";
import { redacted } from "./redact.ts";

export interface MappedEvent {
  /** The run, job or dataset of the event. */
  readonly subject: string;
  /** Identifies the event among those of its subject. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly time: number;
  /** By urn. */
  readonly contributions: ReadonlyMap<string, readonly Contribution[]>;
}

/** Throws `too_large` for an event with too many columns, edges and properties. */
export function mapEvent(event: OpenLineageEvent, namespace: string): MappedEvent {
  const context = contextOf(event, namespace);
  const { time } = context;
  const subject = subjectOf(context);
  const text = JSON.stringify(redacted(event));
  const name = eventName(time, JSON.stringify(event));
  const contributions: readonly Contribution[] = [
    ...jobContributions(context),
    ...runContributions(context),
    ...datasetContributions(context),
    rawEvent(subject, { context, text, name }),
  ];
  rejectTooMany(contributions.length);
  return { subject, name, time, contributions: Map.groupBy(contributions, ({ urn }) => urn) };
}

/**
 * Maximum number of contributions (columns, edges, properties …) of one event, which is written as a
 * whole.
 */
const contributionsMax = 10_000;

function rejectTooMany(count: number): void {
  if (count <= contributionsMax) return;
  const message = `the event has ${count} columns, edges and properties; at most ${contributionsMax} are allowed`;
  throw new CatalogError("too_large", message, { hint: "Send its datasets in several events" });
}

function contextOf(event: OpenLineageEvent, namespace: string): EventContext {
  const urns = createUrns(namespace, event.producer);
  const time = parseTime(event.eventTime);
  const { job, run } = event;
  return {
    event,
    urns,
    time,
    stamp: { time, actor: urns.of("corpuser", "datahub") },
    ...(job && { job: { ...job, urn: urns.job(job), flowUrn: urns.flow(job) } }),
    ...(run && { run: { ...run, urn: urns.run(run.runId) } }),
  };
}

function subjectOf({ event, urns, job, run }: EventContext): string {
  if (run !== undefined) return run.urn;
  if (job !== undefined) return job.urn;
  return urns.dataset(event.dataset as Dataset);
}

const rawCharactersMax = 64 * 1024;

const rawEvent = (
  urn: string,
  { context, text, name }: { context: EventContext; text: string; name: string },
): Contribution => ({
  kind: "event",
  urn,
  aspect: "openLineageEvent",
  value: {
    timestampMillis: context.time,
    messageId: name,
    ...(context.event.eventType && { eventType: context.event.eventType }),
    producer: context.event.producer,
    event: shortened(text, rawCharactersMax),
    truncated: text.length > rawCharactersMax,
  },
});

/**
 * Contributions of the facets of an entity. Facets without an entry in the tables become custom
 * properties.
 */
function facetContributions(
  facets: Facets = {},
  tables: readonly FacetTable[],
  { owner, context, others = owner }: FacetsOf,
): readonly Contribution[] {
  return Object.entries(facets).flatMap(([key, facet]) => {
    // Events never remove values.
    if (facet._deleted === true) return [];
    const rule = tables.map((table) => table.get(key)).find((found) => found !== undefined);
    if (rule !== undefined) return rule.contributes(facet, owner, context);
    return flattened(others, owner === others ? key : `${owner.dataset?.name}.${key}`, facet);
  });
}

interface FacetsOf {
  readonly owner: FacetOwner;
  readonly context: EventContext;
  /** The entity whose custom properties hold the facets without an entry; by default the owner. */
  readonly others?: FacetOwner;
}

function jobContributions(context: EventContext): readonly Contribution[] {
  const { job, stamp } = context;
  if (job === undefined) return [];
  const { urn, flowUrn, name } = job;
  const flow = flowOf(name);
  const orchestrator = ORCHESTRATOR.exec(flowUrn)?.[1] ?? "";
  const display = name.length > flow.length + 1 ? name.slice(flow.length + 1) : name;
  return [
    latest(flowUrn, "dataFlowInfo", "name", flow),
    latest(urn, "dataJobInfo", "name", display),
    latest(urn, "dataJobInfo", "type", { string: orchestrator }),
    latest(urn, "dataJobInfo", "flowUrn", flowUrn),
    { kind: "earliest", urn, aspect: "dataJobInfo", field: "created", value: stamp },
    ...facetContributions(job.facets, [jobFacets], {
      owner: { urn, properties: "dataJobInfo" },
      context,
    }),
  ];
}

const ORCHESTRATOR = /\(([^,]*),/;

interface RunState {
  readonly status: string;
  readonly result?: string;
}

const runStates: ReadonlyMap<EventType, RunState> = new Map([
  ["START", { status: "STARTED" }],
  ["RUNNING", { status: "STARTED" }],
  ["COMPLETE", { status: "COMPLETE", result: "SUCCESS" }],
  ["FAIL", { status: "COMPLETE", result: "FAILURE" }],
  ["ABORT", { status: "COMPLETE", result: "FAILURE" }],
]);

function runContributions(context: EventContext): readonly Contribution[] {
  const { run, job, stamp, event, time } = context;
  if (run === undefined || job === undefined) return [];
  const { urn, runId } = run;
  const aspect = "dataProcessInstanceProperties";
  const { eventType } = event;
  const state = eventType && runStates.get(eventType);
  return [
    latest(urn, aspect, "name", runId),
    { kind: "earliest", urn, aspect, field: "created", value: stamp },
    latest(urn, "dataProcessInstanceRelationships", "parentTemplate", job.urn),
    ...(state === undefined
      ? []
      : [
          {
            kind: "event",
            urn,
            aspect: "dataProcessInstanceRunEvent",
            value: {
              timestampMillis: time,
              messageId: eventType,
              status: state.status,
              ...(state.result && {
                result: { type: state.result, nativeResultType: eventType },
              }),
            },
          } as const,
        ]),
    ...facetContributions(run.facets, [runFacets], {
      owner: { urn, properties: aspect },
      context,
    }),
  ];
}

function datasetContributions(context: EventContext): readonly Contribution[] {
  const { event, job } = context;
  const { dataset, inputs = [], outputs = [] } = event;
  if (dataset !== undefined) return oneDataset(dataset, context);
  // A lineage facet states which inputs and outputs belong together.
  const explicit = job?.facets?.lineage !== undefined;
  const connected = (list: readonly Dataset[], direction: "input" | "output") =>
    explicit ? [] : list.flatMap((one) => datasetEdges(one, direction, context));
  return [
    ...connected(inputs, "input"),
    ...connected(outputs, "output"),
    ...[...inputs, ...outputs].flatMap((one) => oneDataset(one, context)),
  ];
}

function oneDataset(dataset: Dataset, context: EventContext): readonly Contribution[] {
  const { urns, run, job } = context;
  const urn = urns.dataset(dataset);
  const owner: FacetOwner = { urn, properties: "datasetProperties", dataset };
  const tables = [datasetFacets, qualityFacets];
  const facets = hasLineage(dataset, context) ? omitted(dataset.facets) : dataset.facets;
  const of = (some: Facets | undefined, others: FacetOwner) =>
    facetContributions(some, tables, { owner, context, others });
  return [
    { kind: "exists", urn },
    ...of(facets, owner),
    // Facets of an input or output belong to the run.
    ...[dataset.inputFacets, dataset.outputFacets].flatMap((some) => {
      if (run !== undefined)
        return of(some, { urn: run.urn, properties: "dataProcessInstanceProperties" });
      return of(some, job === undefined ? owner : { urn: job.urn, properties: "dataJobInfo" });
    }),
  ];
}

/** True if a lineage facet describes the dataset; it replaces the dataset's columnLineage. */
function hasLineage(dataset: Dataset, { urns, job }: EventContext): boolean {
  if (dataset.facets?.lineage !== undefined) return true;
  const { entries = [] } = (job?.facets?.lineage ?? {}) as { entries?: readonly JsonObject[] };
  const urn = urns.dataset(dataset);
  return entries.some(
    ({ type, namespace, name }) =>
      type === "DATASET" &&
      urns.dataset({ namespace: String(namespace), name: String(name) }) === urn,
  );
}

const omitted = (facets: Facets = {}): Facets =>
  Object.fromEntries(Object.entries(facets).filter(([key]) => key !== "columnLineage"));
