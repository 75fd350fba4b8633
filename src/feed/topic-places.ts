/** How far a group of consumers has read a topic. */
export interface TopicPlaces {
  readonly group: string;
  readonly topic: string;
  readonly partitions: readonly PartitionPlace[];
}

export interface PartitionPlace {
  readonly partition: number;
  /** Of the next message that it will read. */
  readonly offset: number;
  /** Messages that it has not read yet. */
  readonly lag: number;
}
