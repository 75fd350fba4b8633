/** /openapi/…/timeline: the changes of an entity, by category. */
import type { ChangeTransaction } from "../../../catalog/catalog.ts";
import { changeCategories } from "../../../core/timeline/semantic-facts.ts";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { inPath, query } from "../../schemas/query-parameters.ts";

type Query = {
  readonly categories: readonly string[];
  readonly startTime?: number;
  readonly endTime?: number;
  readonly raw?: boolean;
};

const shown = ({ changeEvents, ...transaction }: ChangeTransaction) => {
  const { timestamp: time, actor } = transaction;
  const events = changeEvents.map(({ moved: _, ...event }) => ({
    ...event,
    auditStamp: { time, actor },
  }));
  return { ...transaction, changeEvents: events };
};

const timelineAt = (path: string, name: string): Endpoint => ({
  method: "GET",
  kind: "page",
  group: "changes",
  path,
  name,
  parameters: [
    inPath("urn", "The entity"),
    query.strings("categories", "Categories of changes: once, repeated, or separated by commas", {
      required: true,
      values: changeCategories,
    }),
    query.long(
      "startTime",
      "Start of the time range, in epoch milliseconds; no start when absent or -1",
    ),
    query.long("endTime", "End of the time range, in epoch milliseconds; now when absent or 0"),
    query.boolean("raw", "Include the difference of the values, as a JSON Patch"),
  ],
  reads: "entities",
  async handle({ path: { urn = "" }, parameters, signal }, { catalog }) {
    const { categories, startTime, endTime, raw } = parameters as Query;
    const transactions = await catalog.getTimeline({
      urn,
      raw,
      categories: categories.flatMap((one) => one.split(",")),
      startTime: startTime === undefined || startTime < 0 ? undefined : startTime,
      endTime: endTime === undefined || endTime <= 0 ? undefined : endTime,
      signal: signal?.(),
    });
    return { json: JSON.stringify(transactions.map(shown)), keep: false };
  },
});

export const timelineRoutes: readonly Endpoint[] = [
  timelineAt("/openapi/v2/timeline/v1/{urn}", "getTimeline"),
  timelineAt("/openapi/timeline/v1/{urn}", "getTimelineV1"),
];
