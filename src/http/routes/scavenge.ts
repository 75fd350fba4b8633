/** The route that has what was truncated taken out of the log. */
import type { ScavengeRequest } from "../../ops/operations.ts";
import { type Endpoint, valueAnswer, valueReply } from "../endpoint.ts";
import {
  action,
  flag,
  malformed,
  text,
  tooManyJobs,
  unauthenticated,
  unavailable,
} from "./operation-forms.ts";

export const scavengeLog: Endpoint = {
  ...action,
  name: "scavengeLog",
  writes: true,
  summary: "Take what truncations took from timeseries out of the log, too",
  about:
    "A dry run, unless `dryRun` is false, reads the log, counts, and changes nothing. Otherwise the answer is the id of a job, for getJob: `total` are the records to read, `updated` those that were, `deleted` the events whose values are gone from the log. That cannot be undone: no read of a past moment has them any more. Of each the log keeps its position, who told it, when, and in which run. Events that no truncation covers, deletes included, stay as they are. A log in EventStoreDB hides events that its streams begin with; its server's own scavenging frees the disk.",
  body: {
    type: "object",
    properties: { dryRun: flag("True when absent") },
  },
  reply: valueReply(text("What a dry run found, or the id of the job")),
  errors: [unauthenticated, malformed, tooManyJobs, unavailable],
  async handle({ body, caller }, { operations }) {
    const { text, position } = await operations.scavengeLog(body as ScavengeRequest, caller);
    return { ...valueAnswer(text), position };
  },
};
