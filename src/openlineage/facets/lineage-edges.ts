/** Edges between datasets, jobs and runs. */
import type { Contribution, LineageEdge, SetMember } from "../contribution.ts";
import type { DatasetName, JobName } from "../event.ts";
import type { EventContext } from "./facet-table.ts";

const edge = (
  urn: string,
  field: string,
  destinationUrn: string,
  { stamp }: EventContext,
  properties?: Readonly<Record<string, string>>,
): LineageEdge => ({
  kind: "edge",
  urn,
  aspect: "dataJobInputOutput",
  field,
  keyField: "destinationUrn",
  stampField: "created",
  item: { destinationUrn, created: stamp, ...(properties && { properties }) },
});

/** Edges for a dataset that the job and the run of the event read or write. */
export function datasetEdges(
  dataset: DatasetName,
  direction: "input" | "output",
  context: EventContext,
): readonly Contribution[] {
  const { job, run, urns } = context;
  const urn = urns.dataset(dataset);
  const field = direction === "input" ? "inputDatasetEdges" : "outputDatasetEdges";
  return [
    ...(job === undefined ? [] : [edge(job.urn, field, urn, context)]),
    ...(run === undefined ? [] : [runMember(run.urn, direction, urn)]),
  ];
}

const runMember = (urn: string, direction: "input" | "output", value: string): SetMember =>
  direction === "input"
    ? { kind: "member", urn, aspect: "dataProcessInstanceInput", field: "inputs", value }
    : { kind: "member", urn, aspect: "dataProcessInstanceOutput", field: "outputs", value };

/** The edge from the event's job to a job that it depends on. */
export function jobEdge(
  context: EventContext,
  upstream: JobName,
  properties?: Readonly<Record<string, string>>,
): readonly Contribution[] {
  const { job, urns } = context;
  const urn = urns.job(upstream);
  if (job === undefined || urn === job.urn) return [];
  return [edge(job.urn, "inputDatajobEdges", urn, context, properties)];
}

/** The edge from another job to a dataset that it writes. */
export const producedBy = (job: JobName, dataset: string, context: EventContext): LineageEdge =>
  edge(context.urns.job(job), "outputDatasetEdges", dataset, context);

export const upstreamRun = ({ urns }: EventContext, urn: string, runId: string): SetMember => ({
  kind: "member",
  urn,
  aspect: "dataProcessInstanceRelationships",
  field: "upstreamInstances",
  value: urns.run(runId),
});

/** The edge between two datasets, for an event without a job. */
export const upstreamDataset = (
  urn: string,
  dataset: string,
  { stamp }: EventContext,
): LineageEdge => ({
  kind: "edge",
  urn,
  aspect: "upstreamLineage",
  field: "upstreams",
  keyField: "dataset",
  stampField: "auditStamp",
  item: { auditStamp: stamp, dataset, type: "TRANSFORMED" },
});
