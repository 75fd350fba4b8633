/** The topics of the feed and of ingestion in one Kafka, by their full names. */
import type { ServerPlace } from "../../projector/view-origin.ts";
import { topics } from "../event-schemas.ts";
import { checkpointTopic } from "./checkpoint.ts";
import type { KafkaAddress } from "./kafka-address.ts";
import type { WantedTopic } from "./topics.ts";

/**
 * A topic can be given more partitions later, but then keys move to other ones, and events of a urn
 * are out of order around that moment. Three let three consumers of a group share the work from
 * the beginning, and cost hardly more than one.
 */
const PARTITIONS_DEFAULT = 3;

export interface KafkaNames {
  /** Prefix and name as the reference has it. */
  readonly topic: (name: string) => string;
  /** Of the catalog's own: its checkpoint's topic, its transactions, its group. */
  readonly checkpoint: string;
  readonly transactions: string;
  readonly ingestion: string;
}

export function namesOf(
  { topicPrefix }: Pick<KafkaAddress, "topicPrefix">,
  { name }: Pick<ServerPlace, "name">,
): KafkaNames {
  const own = `${topicPrefix}${name}`;
  return {
    topic: (topic) => `${topicPrefix}${topic}`,
    checkpoint: `${own}-feed-checkpoint`,
    transactions: `${own}-feed`,
    ingestion: `${own}-ingestion`,
  };
}

/** How long events stay is the broker's setting, or the topic's once somebody has changed it. */
export function feedTopics(
  names: KafkaNames,
  { partitions }: KafkaAddress,
): readonly WantedTopic[] {
  // Nothing is written to the platform's events yet; who asks for them finds a topic.
  const told = [topics.versioned, topics.timeseries, topics.platformEvents];
  return [
    ...told.map((topic) => ({
      topic: names.topic(topic),
      partitions: partitions ?? PARTITIONS_DEFAULT,
    })),
    checkpointTopic(names.checkpoint),
  ];
}

export function ingestionTopics(
  names: KafkaNames,
  { partitions }: KafkaAddress,
): readonly WantedTopic[] {
  return [topics.proposals, topics.failedProposals].map((topic) => ({
    topic: names.topic(topic),
    partitions: partitions ?? PARTITIONS_DEFAULT,
  }));
}
