/**
 * /openapi/operations/kafka: progress of the readers of the log, in DataHub's form for consumer groups
 * of its topics. The readers are the views, and the ingestion of proposals from Kafka.
 */
import { topics } from "../../../feed/topic-names.ts";
import type { PartitionOffset, TopicOffsets } from "../../../feed/topic-offsets.ts";
import {
  type ApiContext,
  complete,
  type Endpoint,
  objectWith,
  type Schema,
} from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";

const ofTimeseries = "timeseries";

const placeSchema: Schema = {
  type: "object",
  description: "Offsets by consumer group, then by topic",
  additionalProperties: {
    type: "object",
    additionalProperties: objectWith(["metrics"], {
      metrics: {
        type: "object",
        required: ["maxLag", "medianLag", "totalLag", "avgLag"],
        properties: Object.fromEntries(
          ["maxLag", "medianLag", "totalLag", "avgLag"].map((name) => [name, { type: "integer" }]),
        ),
      },
      partitions: {
        type: "object",
        description: "Offsets by number of the partition",
        additionalProperties: complete({ offset: { type: "integer" }, lag: { type: "integer" } }),
      },
    }),
  },
};

const consumerOffsets = (
  kind: string,
  about: string,
  read: (context: ApiContext) => Promise<readonly TopicOffsets[]>,
): Endpoint => ({
  method: "GET",
  kind: "page",
  group: "OpenAPI",
  path: `/openapi/operations/kafka/${kind}/consumer/offsets`,
  name: `consumerOffsets_${kind.replace("-", "_")}`,
  access: "watcher",
  summary: `Read the offsets of the consumers of ${kind}`,
  about: `${about} \`skipCache\` is accepted and has no effect.`,
  parameters: [
    query.boolean("detailed", "With `partitions`. False when absent"),
    query.boolean("skipCache", "Accepted"),
  ],
  response: placeSchema,
  errors: [{ code: "unavailable", when: "Kafka does not answer" }],
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

const following =
  "Views follow the log itself, whether there is a Kafka or not: offsets are positions of the log, and the lag is in records.";

export const openApiConsumers: readonly Endpoint[] = [
  consumerOffsets(
    "mcp",
    "The proposals in Kafka that are on their way into the log; nothing where none is configured.",
    ({ proposals }) => proposals(),
  ),
  consumerOffsets(
    "mcl",
    following,
    viewPlaces(topics.versioned, (view) => view !== ofTimeseries),
  ),
  consumerOffsets(
    "mcl-timeseries",
    following,
    viewPlaces(topics.timeseries, (view) => view === ofTimeseries),
  ),
];
