/** The route that has views rebuilt. */
import type { RebuildRequest } from "../../ops/operations.ts";
import { type Endpoint, valueAnswer, valueReply } from "../endpoint.ts";
import { action, malformed, text, tooManyJobs, unauthenticated } from "./operation-forms.ts";

export const rebuildViews: Endpoint = {
  ...action,
  name: "rebuildViews",
  writes: true,
  summary: "Rebuild views from the log and swap them in",
  about:
    "The answer is the id of the job, for getJob: `total` are the records that there are to read, `updated` those that were. Views are grown beside those in use, which answer until the others are as far; then those answer, and nothing that was shown is missing. It takes as much disk again as the views.",
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
  reply: valueReply(text("The id of the job")),
  errors: [
    unauthenticated,
    malformed,
    { code: "invalid", when: "there is no such view" },
    { code: "conflict", when: "views are being rebuilt" },
    tooManyJobs,
  ],
  async handle({ body, caller }, { operations }) {
    const { text: id, position } = await operations.rebuildViews(body as RebuildRequest, caller);
    return { ...valueAnswer(id), position };
  },
};
