/** Committed offsets of a consumer group in a topic. */
export interface TopicPlaces {
  readonly group: string;
  readonly topic: string;
  readonly partitions: readonly PartitionPlace[];
}

export interface PartitionPlace {
  readonly partition: number;
  /** Offset of the next message to read. */
  readonly offset: number;
  /** Number of unread messages. */
  readonly lag: number;
}
