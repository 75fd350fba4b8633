/**
 * /openapi/operations/kafka: progress of the readers of the log, in DataHub's form for consumer groups
 * of its topics. The readers are the views, and the ingestion of proposals from Kafka.
 */
import { topics } from "../../../feed/topic-names.ts";
import type { PartitionOffset, TopicOffsets } from "../../../feed/topic-offsets.ts";
import type { ApiContext, Endpoint } from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";

const ofTimeseries = "timeseries";

const consumerOffsets = (
  kind: string,
  read: (context: ApiContext) => Promise<readonly TopicOffsets[]>,
): Endpoint => ({
  method: "GET",
  kind: "page",
  group: "OpenAPI",
  path: `/openapi/operations/kafka/${kind}/consumer/offsets`,
  name: `consumerOffsets_${kind.replace("-", "_")}`,
  access: "watcher",
  parameters: [
    query.boolean("detailed", "With `partitions`. False when absent"),
    query.boolean("skipCache", "Accepted"),
  ],
  async handle({ parameters }, context) {
    const { detailed = false } = parameters as { detailed?: boolean };
    return { json: JSON.stringify(lagByGroup(await read(context), detailed)) };
  },
});

const lagByGroup = (topics: readonly TopicOffsets[], detailed: boolean) =>
  Object.fromEntries(
    topics.map(({ group, topic, partitions }) => [
      group,
      { [topic]: { metrics: lagsOf(partitions), ...(detailed && byNumber(partitions)) } },
    ]),
  );

const byNumber = (partitions: readonly PartitionOffset[]) => ({
  partitions: Object.fromEntries(
    partitions.map(({ partition, offset, lag }) => [partition, { offset, lag }]),
  ),
});

/** Rounds the median down and the average to the nearest, like DataHub. */
function lagsOf(partitions: readonly PartitionOffset[]) {
  const lags = partitions.map(({ lag }) => lag).toSorted((a, b) => a - b);
  const total = lags.reduce((sum, lag) => sum + lag, 0);
  const middle = lags.length >> 1;
  const [below = 0, above = 0] = lags.slice(lags.length % 2 === 0 ? middle - 1 : middle);
  return {
    maxLag: lags.at(-1) ?? 0,
    medianLag: lags.length % 2 === 0 ? Math.floor((below + above) / 2) : below,
    totalLag: total,
    avgLag: lags.length === 0 ? 0 : Math.round(total / lags.length),
  };
}

/** Each view is a group of one consumer, with the log as its only partition. */
const viewPlaces =
  (topic: string, has: (view: string) => boolean) =>
  async ({ operations }: ApiContext): Promise<readonly TopicOffsets[]> => {
    const { views } = await operations.getStatus();
    return Object.entries(views)
      .filter(([view]) => has(view))
      .map(([view, { position, lagRecords }]) => ({
        group: `annals-${view}`,
        topic,
        partitions: [{ partition: 0, offset: position, lag: lagRecords }],
      }));
  };

export const openApiConsumers: readonly Endpoint[] = [
  consumerOffsets("mcp", ({ proposals }) => proposals()),
  consumerOffsets(
    "mcl",
    viewPlaces(topics.versioned, (view) => view !== ofTimeseries),
  ),
  consumerOffsets(
    "mcl-timeseries",
    viewPlaces(topics.timeseries, (view) => view === ofTimeseries),
  ),
];
