/** The route that rebuilds views. */
import type { RebuildRequest } from "../../../jobs/operations.ts";
import { type Endpoint, valueResponse, valueSchema } from "../../schemas/endpoint.ts";
import { action, malformed, text, tooManyJobs, unauthenticated } from "./operation-forms.ts";

export const rebuildViews: Endpoint = {
  ...action,
  name: "rebuildViews",
  writes: true,
  summary: "Rebuild views from the log and swap them in",
  about:
    "The response is the id of the job, for getJob: `total` is the number of records to read, `updated` of those that were read. The live generation answers until the staging generation has caught up and replaces it. A rebuild needs as much free disk as the views use.",
  body: {
    type: "object",
    properties: {
      views: {
        type: "array",
        items: { type: "string" },
        description: "`aspects`, `timeseries`, `graph`, `search`. All when absent",
      },
    },
  },
  response: valueSchema(text("The id of the job")),
  errors: [
    unauthenticated,
    malformed,
    { code: "invalid", when: "the view does not exist" },
    { code: "conflict", when: "a rebuild is running" },
    tooManyJobs,
  ],
  async handle({ body, caller }, { operations }) {
    const { text: id, position } = await operations.rebuildViews(body as RebuildRequest, caller);
    return { ...valueResponse(id), position };
  },
};
