/** The topics of the feed and of ingestion in one Kafka, by their full names. */
import type { ServerAddress } from "../../storage/view-origin.ts";
import { topics } from "../event-schemas.ts";
import { checkpointTopic } from "./checkpoint.ts";
import type { KafkaAddress } from "./kafka-address.ts";
import type { WantedTopic } from "./topics.ts";

/**
 * Partitions can be added to a topic later, but then keys move to other partitions, and events of a
 * urn may be out of order at that time. With three, three consumers of a group can share the work
 * from the start, at hardly more cost than one.
 */
const PARTITIONS_DEFAULT = 3;

export interface KafkaNames {
  /** Adds the prefix to DataHub's name of the topic. */
  readonly topic: (name: string) => string;
  /** Name of the checkpoint's topic, the transactional id and the group. */
  readonly checkpoint: string;
  readonly transactions: string;
  readonly ingestion: string;
}

export function namesOf(
  { topicPrefix }: Pick<KafkaAddress, "topicPrefix">,
  { name }: Pick<ServerAddress, "name">,
): KafkaNames {
  const own = `${topicPrefix}${name}`;
  return {
    topic: (topic) => `${topicPrefix}${topic}`,
    checkpoint: `${own}-feed-checkpoint`,
    transactions: `${own}-feed`,
    ingestion: `${own}-ingestion`,
  };
}

/** The retention of events is a setting of the broker or topic. */
export function feedTopics(
  names: KafkaNames,
  { partitions }: KafkaAddress,
): readonly WantedTopic[] {
  const events = [topics.versioned, topics.timeseries, topics.platformEvents];
  return [
    ...events.map((topic) => ({
      topic: names.topic(topic),
      partitions: partitions ?? PARTITIONS_DEFAULT,
    })),
    {
      topic: names.topic(topics.upgradeHistory),
      partitions: 1,
      settings: { "retention.ms": "-1" },
    },
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
