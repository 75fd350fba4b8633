/**
 * The Kafka driver, set up as all of the feed uses it: bounded in time, silent but for our own log,
 * and with no topics made by accident.
 */

import { rootCertificates } from "node:tls";
import { type Admin, Kafka, logLevel, type ProducerConfig, type SASLOptions } from "kafkajs";
import { dropWarnings } from "../../core/known-warnings.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { KafkaAddress } from "./kafka-address.ts";
import { createKeyPartitioner } from "./key-partitioner.ts";

export interface KafkaClient {
  readonly address: KafkaAddress;
  readonly kafka: Kafka;
}

export interface KafkaClientOptions {
  /** What the brokers know the process by. */
  readonly clientId: string;
  /** PEM text of authorities to trust beside the system's. */
  readonly certificates?: string | undefined;
  readonly logger?: Logger | undefined;
}

const CONNECT_MS_MAX = 5_000;
const REQUEST_MS_MAX = 15_000;
/** Some 2 s in all: what lasts longer is told, and tried again by whoever asked. */
const RETRY = { initialRetryTime: 100, maxRetryTime: 800, retries: 4 };

export function createKafkaClient(
  address: KafkaAddress,
  { clientId, certificates, logger }: KafkaClientOptions,
): KafkaClient {
  dropWarnings(isNegativeTimeout);
  const { login, tls } = address;
  const kafka = new Kafka({
    clientId,
    brokers: [...address.brokers],
    ssl: tls && (certificates === undefined || { ca: [...rootCertificates, certificates] }),
    ...(login !== undefined && { sasl: login as SASLOptions }),
    connectionTimeout: CONNECT_MS_MAX,
    authenticationTimeout: CONNECT_MS_MAX,
    requestTimeout: REQUEST_MS_MAX,
    retry: RETRY,
    logLevel: logLevel.WARN,
    // It calls an error what it tries again and what is thrown to us: the words are for those who
    // look closer.
    logCreator:
      () =>
      ({ log: { message, timestamp: _, ...rest } }) =>
        logger?.debug({ kafka: rest }, message),
  });
  return { address, kafka };
}

/** As Java's clients place keys: what others write under a urn lies in the same partition. */
export const producerSettings = {
  createPartitioner: createKeyPartitioner,
  allowAutoTopicCreation: false,
} as const satisfies ProducerConfig;

/** A connection for one piece of work; the driver's own do not outlive every restart of a broker. */
export async function withAdmin<T>(
  { kafka }: Pick<KafkaClient, "kafka">,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect().catch(() => {});
  }
}

/** The driver sets timers with negative delays, which fire at once as intended. */
const isNegativeTimeout: Parameters<typeof dropWarnings>[0] = ({ name, stack }) =>
  name === "TimeoutNegativeWarning" && stack.includes("kafkajs");
