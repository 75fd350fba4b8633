/**
 * Configures the Kafka driver: with timeouts, with logging to the service's log only, and without
 * automatic creation of topics.
 */

import { rootCertificates } from "node:tls";
import { type Admin, Kafka, logLevel, type ProducerConfig, type SASLOptions } from "kafkajs";
import { dropWarnings } from "../../lib/known-warnings.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { KafkaAddress } from "./kafka-address.ts";
import { createKeyPartitioner } from "./key-partitioner.ts";

export interface KafkaClient {
  readonly address: KafkaAddress;
  readonly kafka: Kafka;
}

interface KafkaClientOptions {
  /** Name of the process for the brokers. */
  readonly clientId: string;
  /** PEM text of additional certificate authorities. */
  readonly certificates?: string | undefined;
  readonly logger?: Logger | undefined;
}

const CONNECT_MS_MAX = 5_000;
const REQUEST_MS_MAX = 15_000;
/** About 2 s in total; longer failures are reported to the caller, who may retry. */
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
    // The driver logs errors that it retries or throws, so its messages are only of debug level.
    logCreator:
      () =>
      ({ log: { message, timestamp: _, ...rest } }) =>
        logger?.debug({ kafka: rest }, message),
  });
  return { address, kafka };
}

/** Uses the partitioner of Java clients, so that all clients write a urn to the same partition. */
export const producerSettings = {
  createPartitioner: createKeyPartitioner,
  allowAutoTopicCreation: false,
} as const satisfies ProducerConfig;

/** Opens a connection for one task; the driver's connections do not survive every restart of a broker. */
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
