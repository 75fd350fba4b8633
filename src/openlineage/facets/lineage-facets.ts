/** Lineage that facets state: of columns (`columnLineage`), and between datasets and jobs (`lineage`). */
import type { Contribution } from "../contribution.ts";
import type { DatasetName, JobName } from "../event.ts";
import {
  type EventContext,
  type FacetOwner,
  facet,
  listOf,
  mapOf,
  object,
  text,
  type ValueOf,
} from "./facet-table.ts";
import {
  datasetEdges,
  jobEdge,
  producedBy,
  upstreamDataset,
  upstreamRun,
} from "./lineage-edges.ts";

const transformation = object({ type: text, "subtype?": text });
type Transformation = ValueOf<typeof transformation>;
const transformations = listOf(transformation);
const inputField = object({
  ...{ namespace: text, name: text, field: text },
  "transformations?": transformations,
});
type InputField = ValueOf<typeof inputField>;

/** Such as `DIRECT:IDENTITY`. */
const operationOf = ({ type, subtype }: Transformation): string =>
  subtype === undefined ? type : `${type}:${subtype}`;

/** The edge from columns to a column, in an aspect of the event's job; without a job, of the dataset. */
function columnEdge(
  { urn }: FacetOwner,
  downstream: string,
  inputs: readonly InputField[],
  { job, urns }: EventContext,
): readonly Contribution[] {
  if (inputs.length === 0) return [];
  return [
    {
      kind: "column",
      urn: job?.urn ?? urn,
      aspect: job === undefined ? "upstreamLineage" : "dataJobInputOutput",
      downstream,
      upstreams: inputs.map((input) => urns.column(input, input.field)),
      transformations: inputs.flatMap((input) => (input.transformations ?? []).map(operationOf)),
    },
  ];
}

const dependsOn = (
  owner: FacetOwner,
  inputs: readonly DatasetName[],
  context: EventContext,
): readonly Contribution[] =>
  inputs.flatMap((input) =>
    context.job === undefined
      ? [upstreamDataset(owner.urn, context.urns.dataset(input), context)]
      : datasetEdges(input, "input", context),
  );

export const columnLineage = facet(
  "columnLineage",
  object({
    "fields?": mapOf(object({ inputFields: listOf(inputField) })),
    "dataset?": listOf(inputField),
  }),
  ({ fields = {}, dataset = [] }, owner, context) => {
    const columns = Object.entries(fields);
    const inputs = [...columns.flatMap(([, { inputFields }]) => inputFields), ...dataset];
    return [
      ...columns.flatMap(([column, { inputFields }]) =>
        columnEdge(owner, columnUrn(owner, column, context), inputFields, context),
      ),
      ...dependsOn(owner, distinct(inputs), context),
    ];
  },
);

const columnUrn = ({ dataset }: FacetOwner, column: string, { urns }: EventContext): string =>
  urns.column(dataset ?? { namespace: "", name: "" }, column);

const distinct = (inputs: readonly DatasetName[]): readonly DatasetName[] => [
  ...new Map(
    inputs.map((input) => [JSON.stringify([input.namespace, input.name]), input]),
  ).values(),
];

type Input =
  | (DatasetName & {
      readonly type: "DATASET";
      readonly field?: string;
      readonly transformations?: readonly Transformation[];
    })
  | (Partial<JobName> & { readonly type: "JOB"; readonly runId?: string });

const input = {
  type: "object",
  required: ["type"],
  properties: {
    type: { enum: ["DATASET", "JOB"] },
    namespace: text,
    name: text,
    field: text,
    runId: text,
    transformations,
  },
  if: { properties: { type: { const: "DATASET" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ["namespace", "name"] },
};
const inputs = listOf<Input>(input);
const sources = object({ "inputs?": inputs, "fields?": mapOf(object({ inputs })) });
type Sources = ValueOf<typeof sources>;

/** The named job; undefined for a source that means the job of the event. */
const jobOf = ({ namespace, name }: Partial<JobName>): JobName | undefined =>
  namespace === undefined || name === undefined ? undefined : { namespace, name };

function fromSources(
  owner: FacetOwner,
  target: DatasetName,
  { inputs: own = [], fields = {} }: Sources,
  context: EventContext,
): readonly Contribution[] {
  const columns = Object.entries(fields);
  const all = [...own, ...columns.flatMap(([, column]) => column.inputs)];
  const dataset = context.urns.dataset(target);
  return [
    ...dependsOn(owner, distinct(all.filter((one) => one.type === "DATASET")), context),
    ...all.flatMap((one) => (one.type === "JOB" ? fromJob(one, dataset, context) : [])),
    ...columns.flatMap(([column, { inputs: ofColumn }]) => {
      const named = ofColumn.flatMap((one) =>
        one.type === "DATASET" && one.field !== undefined ? [{ ...one, field: one.field }] : [],
      );
      return columnEdge(owner, context.urns.column(target, column), named, context);
    }),
  ];
}

/** Edges for a job that is the source of a dataset, or of the event's job. */
function fromJob(
  source: Extract<Input, { type: "JOB" }>,
  dataset: string | undefined,
  context: EventContext,
): readonly Contribution[] {
  const { job, run } = context;
  const named = jobOf(source);
  const edges =
    named === undefined
      ? []
      : job === undefined && dataset !== undefined
        ? [producedBy(named, dataset, context)]
        : jobEdge(context, named);
  const other = source.runId !== undefined && source.runId !== run?.runId;
  if (run === undefined || !other) return edges;
  return [...edges, upstreamRun(context, run.urn, source.runId as string)];
}

/** The facet `lineage` of a dataset, which is the target. */
export const datasetLineage = facet("lineage", sources, (facet, owner, context) =>
  fromSources(owner, owner.dataset ?? { namespace: "", name: "" }, facet, context),
);

type Entry =
  | (DatasetName & Sources & { readonly type: "DATASET" })
  | (Partial<JobName> & { readonly type: "JOB"; readonly inputs?: readonly Input[] });

/** The facet `lineage` of a job; its entries are the targets. */
export const jobLineage = facet(
  "lineage",
  object({
    entries: listOf<Entry>({
      ...input,
      properties: { ...input.properties, ...(sources.properties as object) },
    }),
  }),
  ({ entries }, owner, context) =>
    entries.flatMap((entry) => {
      if (entry.type === "DATASET") {
        return [
          ...datasetEdges(entry, "output", context),
          ...fromSources(owner, entry, entry, context),
        ];
      }
      return (entry.inputs ?? []).flatMap((one) =>
        one.type === "DATASET"
          ? datasetEdges(one, "input", context)
          : fromJob(one, undefined, context),
      );
    }),
);
