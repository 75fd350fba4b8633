/** Routes of comparing views with the log. */
import type { DifferencesQuery, VerifyRequest } from "../../../jobs/operations.ts";
import { type Endpoint, flag, text, valueResponse } from "../../schemas/endpoint.ts";
import { urn } from "../../schemas/schemas.ts";
import { action, pageForm } from "./operation-forms.ts";

const viewName = text("`aspects`, `timeseries`, `graph` or `search`");

const verify: Endpoint = {
  ...action,
  name: "verify",
  writes: true,
  body: {
    type: "object",
    properties: {
      views: { type: "array", items: viewName, description: "All when absent" },
      since: {
        type: "integer",
        minimum: 0,
        description: "Compare only entities with a record after this position of the log",
      },
      full: flag("Accepted and ignored"),
      quick: flag("Accepted and ignored"),
      repair: flag("Repair differences. False when absent"),
      urns: { type: "array", items: urn, maxItems: 10_000, description: "Accepted and ignored" },
    },
  },
  async handle({ body, caller }, { operations }) {
    const { text: id, position } = await operations.verifyViews(body as VerifyRequest, caller);
    return valueResponse(id, position);
  },
};

/** Differences in one response. */
const pageMax = 1_000;

const listDifferences: Endpoint = {
  ...action,
  name: "listDifferences",
  body: {
    type: "object",
    properties: {
      view: viewName,
      ...pageForm("1,000"),
    },
  },
  async handle({ body }, { operations }) {
    const asked = body as Partial<DifferencesQuery>;
    const { view, start = 0, count: wanted = 20 } = asked;
    const page = { view, start, count: Math.min(wanted, pageMax) };
    const { differences, ...rest } = await operations.listDifferences(page);
    return valueResponse({ start, count: differences.length, ...rest, differences });
  },
};

export const verifyRoutes: readonly Endpoint[] = [verify, listDifferences];
