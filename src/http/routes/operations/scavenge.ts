/** The route that removes truncated values from the log. */
import type { ScavengeRequest } from "../../../jobs/operations.ts";
import { type Endpoint, flag, valueResponse } from "../../schemas/endpoint.ts";
import { action } from "./operation-forms.ts";

export const scavengeLog: Endpoint = {
  ...action,
  name: "scavengeLog",
  writes: true,
  body: {
    type: "object",
    properties: { dryRun: flag("True when absent") },
  },
  async handle({ body, caller }, { operations }) {
    const { text, position } = await operations.scavengeLog(body as ScavengeRequest, caller);
    return valueResponse(text, position);
  },
};
