/** The route that rebuilds views. */
import type { RebuildRequest } from "../../../jobs/operations.ts";
import { type Endpoint, valueResponse } from "../../schemas/endpoint.ts";
import { action } from "./operation-forms.ts";

export const rebuildViews: Endpoint = {
  ...action,
  name: "rebuildViews",
  writes: true,
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
  async handle({ body, caller }, { operations }) {
    const { text: id, position } = await operations.rebuildViews(body as RebuildRequest, caller);
    return valueResponse(id, position);
  },
};
