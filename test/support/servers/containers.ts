/**
 * The stores as containers, where a container engine is available; removed when their process ends.
 */
import {
  GenericContainer,
  getContainerRuntimeClient,
  type StartedTestContainer,
  Wait,
} from "testcontainers";
import type { StoreName } from "../stores.ts";
import { freePorts } from "./free-ports.ts";
import { images } from "./images.ts";
import { Unavailable } from "./server-kind.ts";

const engineMillisecondsMax = 1_500;
/** Timeout of a start, including the download of the image. */
const startMillisecondsMax = 240_000;

const password = "annals-test";

interface Recipe {
  readonly port: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly wait: ReturnType<typeof Wait.forHttp> | ReturnType<typeof Wait.forLogMessage>;
  url(host: string, port: number): string;
}

const recipes: Readonly<Record<Exclude<StoreName, "kafka">, Recipe>> = {
  postgres: {
    port: 5432,
    environment: { POSTGRES_USER: "annals", POSTGRES_PASSWORD: password },
    // The first start of the server sets up the database.
    wait: Wait.forLogMessage(/database system is ready to accept connections/, 2),
    url: (host, port) => `postgres://annals:${password}@${host}:${port}/postgres`,
  },
  neo4j: {
    port: 7687,
    environment: {
      NEO4J_AUTH: `neo4j/${password}`,
      NEO4J_server_memory_heap_max__size: "768m",
      NEO4J_server_memory_pagecache_size: "128m",
    },
    wait: Wait.forLogMessage(/Started\./),
    url: (host, port) => `bolt://neo4j:${password}@${host}:${port}`,
  },
  elasticsearch: {
    port: 9200,
    environment: {
      "discovery.type": "single-node",
      "xpack.security.enabled": "false",
      "cluster.routing.allocation.disk.threshold_enabled": "false",
      ES_JAVA_OPTS: "-Xms512m -Xmx512m",
    },
    wait: Wait.forHttp("/_cluster/health?wait_for_status=yellow&timeout=1s", 9200),
    url: (host, port) => `http://${host}:${port}`,
  },
  opensearch: {
    port: 9200,
    environment: {
      "discovery.type": "single-node",
      "cluster.routing.allocation.disk.threshold_enabled": "false",
      DISABLE_SECURITY_PLUGIN: "true",
      DISABLE_INSTALL_DEMO_CONFIG: "true",
      OPENSEARCH_JAVA_OPTS: "-Xms512m -Xmx512m",
    },
    wait: Wait.forHttp("/_cluster/health?wait_for_status=yellow&timeout=1s", 9200),
    url: (host, port) => `http://${host}:${port}`,
  },
  eventstoredb: {
    port: 2113,
    environment: {
      EVENTSTORE_INSECURE: "true",
      EVENTSTORE_CLUSTER_SIZE: "1",
      EVENTSTORE_RUN_PROJECTIONS: "None",
      EVENTSTORE_MEM_DB: "true",
    },
    wait: Wait.forHttp("/health/live", 2113).forStatusCode(204),
    url: (host, port) => `esdb://${host}:${port}?tls=false`,
  },
};

export interface StartedStore {
  readonly url: string;
  readonly version: string;
  stop(): Promise<void>;
}

/** The host on which the engine publishes ports; rejects soon without an engine. */
export async function containerHost(): Promise<string> {
  try {
    const client = await Promise.race([
      getContainerRuntimeClient(),
      rejectAfter(engineMillisecondsMax),
    ]);
    return client.info.containerRuntime.host;
  } catch {
    throw new Unavailable("no container engine answers");
  }
}

export async function startContainer(name: StoreName, host: string): Promise<StartedStore> {
  const starting = name === "kafka" ? startKafka(host) : start(recipes[name], images[name]);
  const container = await Promise.race([starting, rejectAfter(startMillisecondsMax)]);
  const port = container.getFirstMappedPort();
  return {
    url: name === "kafka" ? `${host}:${port}` : recipes[name].url(host, port),
    version: /:([\d.]+)/.exec(images[name])?.[1] ?? images[name],
    stop: async () => {
      await container.stop({ timeout: 0 });
    },
  };
}

const start = ({ port, environment, wait }: Recipe, image: string): Promise<StartedTestContainer> =>
  new GenericContainer(image)
    .withExposedPorts(port)
    .withEnvironment({ ...environment })
    .withWaitStrategy(wait)
    .withStartupTimeout(120_000)
    .start();

/** A broker sends its address to clients, and so must know its published port before its start. */
async function startKafka(host: string): Promise<StartedTestContainer> {
  const [port = 0] = await freePorts(1);
  return new GenericContainer(images.kafka)
    .withExposedPorts({ container: 9092, host: port })
    .withEnvironment({
      KAFKA_NODE_ID: "1",
      KAFKA_PROCESS_ROLES: "broker,controller",
      KAFKA_LISTENERS: "PLAINTEXT://:9092,CONTROLLER://:9093",
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://${host}:${port}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
      KAFKA_INTER_BROKER_LISTENER_NAME: "PLAINTEXT",
      KAFKA_CONTROLLER_LISTENER_NAMES: "CONTROLLER",
      KAFKA_CONTROLLER_QUORUM_VOTERS: "1@localhost:9093",
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: "1",
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: "1",
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: "1",
      KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR: "1",
      KAFKA_SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR: "1",
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: "0",
      KAFKA_HEAP_OPTS: "-Xms256m -Xmx512m",
    })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .withStartupTimeout(120_000)
    .start();
}

const rejectAfter = (milliseconds: number): Promise<never> =>
  new Promise((_, reject) => {
    const late = () => reject(new Error(`not there after ${milliseconds / 1000} s`));
    setTimeout(late, milliseconds).unref();
  });
