/** Sends hostile proposals to the topic of proposals, framed as producers with a schema registry do. */
import avro from "avsc";
import { schemaOfTopic, topics } from "../../src/feed/event-schemas.ts";
import { producerSettings } from "../../src/feed/kafka/kafka-client.ts";
import type { KafkaSpace } from "../adapter/kafka-place.ts";

const schema = schemaOfTopic(topics.proposals);
const proposalType = avro.Type.forSchema(JSON.parse(schema.text));

interface Proposed {
  readonly entityType: string;
  readonly entityUrn: string;
  readonly changeType: string;
  readonly aspectName: string;
  readonly aspect?: { readonly value: string; readonly contentType: string };
}

const textOf = (text: string): string => text.toWellFormed();

/** Values that do not fit the schema are sent as plain JSON, which no reader can decode. */
function framed({ entityType, entityUrn, changeType, aspectName, aspect }: Proposed): Buffer {
  const record = {
    ...{ auditHeader: null, entityKeyAspect: null, systemMetadata: null, headers: null },
    ...{ entityType: textOf(entityType), entityUrn: textOf(entityUrn), changeType },
    aspectName: textOf(aspectName),
    aspect: aspect === undefined ? null : { ...aspect, value: Buffer.from(aspect.value) },
  };
  if (!proposalType.isValid(record)) return Buffer.from(JSON.stringify(record));
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(schema.id, 1);
  return Buffer.concat([frame, proposalType.toBuffer(record)]);
}

export async function produce(space: KafkaSpace, proposals: readonly object[]): Promise<void> {
  const producer = space.kafka.producer(producerSettings);
  await producer.connect();
  const messages = (proposals as readonly Proposed[]).map((proposal) => ({
    key: textOf(proposal.entityUrn),
    value: framed(proposal),
  }));
  await producer.send({ topic: space.prefix + topics.proposals, messages });
  await producer.disconnect();
}
