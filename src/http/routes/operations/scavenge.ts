/** The route that removes truncated values from the log. */
import type { ScavengeRequest } from "../../../jobs/operations.ts";
import { type Endpoint, valueResponse, valueSchema } from "../../schemas/endpoint.ts";
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
  summary: "Remove truncated timeseries events from the log",
  about:
    "A dry run, unless `dryRun` is false, reads the log, counts, and changes nothing. Otherwise the response is the id of a job, for getJob: `total` is the number of records to read, `updated` of those that were read, `deleted` of the events whose values are removed from the log. This is permanent: no read of a past moment returns them. The log keeps the position, actor, time and run of each. Events that no truncation covers, deletes included, are unchanged. A log in EventStoreDB hides the truncated events at the start of its streams; scavenging in its server frees the disk.",
  body: {
    type: "object",
    properties: { dryRun: flag("True when absent") },
  },
  response: valueSchema(text("Result of the dry run, or the id of the job")),
  errors: [unauthenticated, malformed, tooManyJobs, unavailable],
  async handle({ body, caller }, { operations }) {
    const { text, position } = await operations.scavengeLog(body as ScavengeRequest, caller);
    return { ...valueResponse(text), position };
  },
};
