/** Facets of runs. Most become custom properties of the run: a run has no aspects for them. */
import type { JsonObject } from "../../lib/json.ts";
import { type Contribution, latest } from "../contribution.ts";
import type { JobName } from "../event.ts";
import { isSecretName, REDACTED } from "../redact.ts";
import {
  type EventContext,
  type FacetOwner,
  type FacetSchema,
  type FacetTable,
  facet,
  integer,
  listOf,
  nonEmptyText,
  object,
  text,
  type ValueOf,
} from "./facet-table.ts";
import { jobEdge, upstreamRun } from "./lineage-edges.ts";
import { flattened, properties } from "./properties.ts";

const runId: FacetSchema<string> = {
  type: "string",
  pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
};
export const runSchema = object({ runId });
export const jobSchema = object({ namespace: text, name: nonEmptyText });

const runOfJob = { run: runSchema, job: jobSchema };
const nameOf = ({ namespace, name }: JobName): string => `${namespace}/${name}`;

const dependency = object({
  ...{ job: jobSchema, "run?": runSchema, "dependency_type?": text },
  ...{ "sequence_trigger_rule?": text, "status_trigger_rule?": text },
});

/** Custom properties of the flow and the job, which both have those of their engine, as in DataHub. */
const onFlowAndJob = ({ job }: EventContext, members: JsonObject): readonly Contribution[] =>
  job === undefined
    ? []
    : [
        ...properties({ urn: job.flowUrn, properties: "dataFlowInfo" }, members),
        ...properties({ urn: job.urn, properties: "dataJobInfo" }, members),
      ];

function upstreamOf(one: ValueOf<typeof dependency>, { urn }: FacetOwner, context: EventContext) {
  const { job, run, dependency_type, sequence_trigger_rule, status_trigger_rule } = one;
  const rules = Object.entries({ dependency_type, sequence_trigger_rule, status_trigger_rule });
  const stated = rules.flatMap(([name, rule]) => (rule === undefined ? [] : [[name, rule]]));
  return [
    ...jobEdge(context, job, stated.length > 0 ? Object.fromEntries(stated) : undefined),
    ...(run === undefined ? [] : [upstreamRun(context, urn, run.runId)]),
  ];
}

export const runFacets: FacetTable = new Map([
  facet(
    "processing_engine",
    object({ version: text, "name?": text, "openlineageAdapterVersion?": text }),
    ({ version, name, openlineageAdapterVersion }, _, context) =>
      onFlowAndJob(context, {
        processingEngine: name,
        processingEngineVersion: version,
        openlineageAdapterVersion,
      }),
  ),
  facet(
    "parent",
    object({ ...runOfJob, "root?": object(runOfJob) }),
    ({ run, job, root }, owner, { urns }) => [
      latest(owner.urn, "dataProcessInstanceRelationships", "parentInstance", urns.run(run.runId)),
      ...properties(owner, {
        parentJob: nameOf(job),
        rootRun: root?.run.runId,
        rootJob: root && nameOf(root.job),
      }),
    ],
  ),
  facet(
    "nominalTime",
    object({ nominalStartTime: text, "nominalEndTime?": text }),
    ({ nominalStartTime, nominalEndTime }, owner) =>
      properties(owner, { nominalStartTime, nominalEndTime }),
  ),
  facet(
    "errorMessage",
    object({ message: text, programmingLanguage: text, "stackTrace?": text }),
    ({ message, programmingLanguage, stackTrace }, owner) =>
      properties(owner, { errorMessage: message, programmingLanguage, stackTrace }),
  ),
  facet(
    "environmentVariables",
    object({ environmentVariables: listOf(object({ name: text, value: text })) }),
    ({ environmentVariables }, owner) =>
      environmentVariables.flatMap(({ name, value }) =>
        properties(owner, { [`env.${name}`]: isSecretName(name) ? REDACTED : value }),
      ),
  ),
  facet(
    "jobDependencies",
    object({
      "upstream?": listOf(dependency),
      "downstream?": listOf(dependency),
      "trigger_rule?": text,
    }),
    ({ upstream = [], downstream = [], trigger_rule }, owner, context) => [
      ...upstream.flatMap((one) => upstreamOf(one, owner, context)),
      ...properties(owner, {
        triggerRule: trigger_rule,
        downstreamJobs:
          downstream.length > 0 ? downstream.map(({ job }) => nameOf(job)) : undefined,
      }),
    ],
  ),
  facet(
    "externalQuery",
    object({ externalQueryId: text, source: text }),
    ({ externalQueryId, source }, owner) =>
      properties(owner, { externalQueryId, externalQuerySource: source }),
  ),
  facet(
    "extractionError",
    object({
      totalTasks: integer,
      failedTasks: integer,
      errors: listOf(object({ errorMessage: text })),
    }),
    (value, owner) => flattened(owner, "extractionError", value),
  ),
  facet(
    "executionParameters",
    object({ "parameters?": listOf(object({ key: text, "value?": text })) }),
    ({ parameters = [] }, owner) =>
      parameters.flatMap(({ key, value }) => properties(owner, { [`parameter.${key}`]: value })),
  ),
  facet(
    "tags",
    object({ "tags?": listOf(object({ key: text, value: text })) }),
    ({ tags = [] }, owner) =>
      tags.flatMap(({ key, value }) => properties(owner, { [`tag.${key}`]: value })),
  ),
  facet(
    "test",
    object({ tests: listOf(object({ name: text, status: text })) }),
    ({ tests }, owner) =>
      tests.flatMap(({ name, ...result }) => flattened(owner, `test.${name}`, result)),
  ),
]);
