/**
 * Checks a Kafka cluster for the feed and for ingestion: its topics and the permissions of the user.
 */
import { randomUUID } from "node:crypto";
import type { Admin } from "kafkajs";
import { minOf } from "../../lib/lists.ts";
import type { ServerAddress } from "../../storage/view-origin.ts";
import { readBrokerVersion } from "./broker-version.ts";
import { checkpointTopic, readCheckpoint } from "./checkpoint.ts";
import { feedTopics, ingestionTopics, namesOf } from "./feed-topics.ts";
import { parseKafkaAddress } from "./kafka-address.ts";
import {
  createKafkaClient,
  type KafkaClient,
  producerSettings,
  withAdmin,
} from "./kafka-client.ts";
import { kafkaFailure, reasonOf } from "./kafka-failures.ts";
import { eventBytesMax, readTopicSettings, type WantedTopic } from "./topics.ts";

/** Rejects with `unavailable` if the brokers cannot be reached. No findings: the check passed. */
export async function checkKafka(
  server: ServerAddress,
): Promise<{ readonly version: string; readonly findings: readonly string[] }> {
  const address = parseKafkaAddress(server.url);
  const names = namesOf(address, server);
  const client = createKafkaClient(address, { clientId: `${names.transactions}-check`, ...server });
  const wanted = [...feedTopics(names, address), ...ingestionTopics(names, address)];
  try {
    const version = await readBrokerVersion(address, server.certificates);
    const findings = await withAdmin(client, async (admin) => [
      ...(await topicFindings(admin, wanted, names.checkpoint)),
      ...(await trialFindings(admin, client, `${names.transactions}-check-${randomUUID()}`)),
    ]);
    return { version, findings };
  } catch (error) {
    throw kafkaFailure(error, address, "does not answer");
  }
}

async function topicFindings(
  admin: Admin,
  wanted: readonly WantedTopic[],
  checkpoint: string,
): Promise<readonly string[]> {
  const { brokers } = await admin.describeCluster();
  const listed = new Set(await admin.listTopics());
  const there = wanted.map(({ topic }) => topic).filter((topic) => listed.has(topic));
  const missing = wanted.filter(({ topic }) => !listed.has(topic));
  const findings: string[] = [];
  for (const { topic, partitions } of missing) {
    try {
      const topics = [{ topic, numPartitions: partitions, replicationFactor: 1 }];
      await admin.createTopics({ topics, validateOnly: true, waitForLeaders: false });
    } catch (error) {
      findings.push(
        `The topic "${topic}" does not exist and cannot be created (${reasonOf(error)}): create it, or grant the user Create and Describe on it.`,
      );
    }
  }
  if (there.length === 0) return findings;

  const settings = await readTopicSettings(admin, there).catch(() => new Map());
  const { topics } = await admin.fetchTopicMetadata({ topics: there });
  for (const { name, partitions } of topics) {
    const {
      "cleanup.policy": policy = "",
      "max.message.bytes": bytes = eventBytesMax,
      "min.insync.replicas": insync = 1,
    } = settings.get(name) ?? {};
    const copies = minOf(partitions.map(({ replicas }) => replicas.length));
    if (copies === 1 && brokers.length > 1) {
      findings.push(
        `The topic "${name}" has one replica though there are ${brokers.length} brokers: its messages are lost with one of them. Reassign it to more brokers.`,
      );
    }
    if (Number(insync) > copies) {
      findings.push(
        `The topic "${name}" requires ${insync} replicas in sync (min.insync.replicas) and has ${copies}: all writes fail. Lower min.insync.replicas or add replicas.`,
      );
    }
    if (name === checkpoint) {
      if (policy !== "compact") {
        findings.push(
          `The topic "${name}" has cleanup.policy=${policy}: the feed's checkpoint will be deleted, and all events are sent again. Set it to compact.`,
        );
      }
      if (partitions.length > 1) {
        findings.push(
          `The topic "${name}" has ${partitions.length} partitions and needs exactly one: delete it before the feed has sent events, or use another name.`,
        );
      }
      continue;
    }
    if (String(policy).includes("compact")) {
      findings.push(
        `The topic "${name}" has cleanup.policy=${policy}: it keeps only the last event of each urn. Set it to delete.`,
      );
    }
    if (Number(bytes) < eventBytesMax) {
      findings.push(
        `The topic "${name}" has max.message.bytes=${bytes}: a larger event stops the feed. Set it to ${eventBytesMax}.`,
      );
    }
  }
  return findings;
}

/** Tries a transaction on a temporary topic and reads it in a temporary group; reports the first failure. */
async function trialFindings(
  admin: Admin,
  client: KafkaClient,
  trial: string,
): Promise<readonly string[]> {
  const { settings, topic } = checkpointTopic(trial);
  const configEntries = Object.entries(settings ?? {}).map(([name, value]) => ({ name, value }));
  const producer = client.kafka.producer({
    ...producerSettings,
    transactionalId: trial,
    retry: { retries: 0 },
  });
  const steps: readonly (readonly [string, string, () => Promise<unknown>])[] = [
    [
      "create a topic",
      "grant the user Create, Describe and Delete on topics that begin with its name",
      () => admin.createTopics({ topics: [{ topic, configEntries }] }),
    ],
    [
      "write in a transaction",
      "grant the user Write and Describe on transactional ids and topics; with fewer than three brokers, set transaction.state.log.replication.factor and transaction.state.log.min.isr to their number",
      async () => {
        await producer.connect();
        const transaction = await producer.transaction();
        await transaction.send({ topic, messages: [{ key: "check", value: '{"position":1}' }] });
        await transaction.commit();
      },
    ],
    [
      "read in a group",
      "grant the user Read on groups that begin with its name; with fewer than three brokers, set offsets.topic.replication.factor to their number",
      () => readCheckpoint(client, topic),
    ],
    [
      "delete a topic",
      `delete "${topic}" and check that delete.topic.enable is true`,
      () => admin.deleteTopics({ topics: [topic] }),
    ],
  ];
  let made = false;
  try {
    for (const [what, remedy, step] of steps) {
      try {
        await step();
        made = true;
      } catch (error) {
        return [`Kafka does not allow the feed to ${what} (${reasonOf(error)}): ${remedy}.`];
      }
    }
    made = false;
    return [];
  } finally {
    await producer.disconnect().catch(() => {});
    if (made) await admin.deleteTopics({ topics: [topic] }).catch(() => {});
  }
}
