/** Committed offsets of a consumer group in a topic. */
export interface TopicOffsets {
  readonly group: string;
  readonly topic: string;
  readonly partitions: readonly PartitionOffset[];
}

export interface PartitionOffset {
  readonly partition: number;
  /** Offset of the next message to read. */
  readonly offset: number;
  /** Number of unread messages. */
  readonly lag: number;
}
