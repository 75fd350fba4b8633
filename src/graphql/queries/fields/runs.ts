/** Runs of jobs and flows, runs that read or write a dataset, and the states of a run. */
import { jsonObject } from "../../../lib/json.ts";
import type { Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { eventsOf, type TimeRange } from "../assertions.ts";
import { type EntitySource, namedAs } from "../entity-source.ts";
import { jobRuns } from "../job-runs.ts";
import { type PageInput, pageIn } from "../pages.ts";
import { existingRelated, relatedEntities } from "../related.ts";

interface RunsInput extends PageInput {
  readonly direction?: Maybe<string>;
}

const reading = ["Consumes", "DataProcessInstanceConsumes"];
const writing = ["Produces", "DataProcessInstanceProduces"];

/** INCOMING: the runs that read the dataset; OUTGOING: those that write it. Newest first. */
async function datasetRuns({ urn }: EntitySource, asked: RunsInput, viewer: Viewer) {
  const types = asked.direction === "OUTGOING" ? writing : reading;
  const found = await Promise.all(types.map((type) => existingRelated(urn, type, viewer)));
  const urns = new Set(found.flat().filter((one) => namedAs("DataProcessInstance", one) !== null));
  const runs = await Promise.all([...urns].map((one) => viewer.loader.load(one)));
  const created = new Map(
    runs.map((run) => {
      const time = memberAt(run.aspect("dataProcessInstanceProperties"), ["created", "time"]);
      return [run.urn, Number(time ?? 0)];
    }),
  );
  const all = [...created.keys()].sort((a, b) => (created.get(b) ?? 0) - (created.get(a) ?? 0));
  const { page, ...counts } = pageIn(all, asked);
  return { ...counts, runs: page };
}

/** The states of a run, newest first. */
async function state({ urn }: EntitySource, range: TimeRange, viewer: Viewer) {
  const of = { urn, entity: "dataProcessInstance", aspect: "dataProcessInstanceRunEvent" };
  const events = await eventsOf(of, range, viewer);
  return events.map(({ result, ...event }) => ({
    ...event,
    result: jsonObject(result)
      ? { resultType: result.type, nativeResultType: result.nativeResultType }
      : null,
  }));
}

/** A job belongs to its flow since its first write, because its key names the flow. */
async function dataJobs({ urn }: EntitySource, _: never, viewer: Viewer) {
  const jobs = { urn, relationship: "IsPartOf", typename: "DataJob" };
  const createdOf = async (job: string) => {
    const [key] = (await viewer.loader.load(job)).found?.aspects ?? [];
    return key && { time: key.time, actor: key.actor };
  };
  return {
    entities: (await relatedEntities(jobs, viewer)).map((entity) => ({
      ...{ entity, created: () => createdOf(entity.urn) },
    })),
  };
}

export const runFields = {
  Dataset: { runs: datasetRuns },
  DataFlow: { runs: jobRuns, dataJobs },
  DataProcessInstance: { state },
};
