/** Kafka as one node that is broker and controller, and its own programs for the command line. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { classArchive, classPath, shortLived } from "./java-program.ts";
import { fromPackage, javaHome } from "./maven-packages.ts";
import type { ServerCommand, ServerKind, ServerPlace } from "./server-kind.ts";
import { exchange } from "./tcp-exchange.ts";

const version = "4.2.1";
const log4jVersion = "2.24.3";
const log4j = ["log4j-api", "log4j-core", "log4j-slf4j-impl", "log4j-1.2-api"];

const clusterId = "annalsTestsCluster0000";

const propertiesFile = ({ folder }: ServerPlace): string => join(folder, "server.properties");

const kafkaPackage = fromPackage({
  name: "kafka",
  version,
  coordinates: [
    ...["kafka_2.13", "kafka-tools"].map((name) => `org.apache.kafka:${name}:${version}`),
    ...log4j.map((name) => `org.apache.logging.log4j:${name}:${log4jVersion}`),
  ],
});

const java = async (program: string, ...args: readonly string[]): Promise<ServerCommand> => ({
  file: join(await javaHome(), "bin", "java"),
  args: [...shortLived, "-Xms256m", "-Xmx512m", "-cp", await classPath(program), ...args],
});

/** The command of a Kafka program, by its class. Rejects with Unavailable. */
export const kafkaProgram = async (
  program: string,
  args: readonly string[],
): Promise<ServerCommand> => java(await kafkaPackage.program(), program, ...args);

export async function kafka(): Promise<ServerKind> {
  return kafkaWith({ properties: () => "", format: [] });
}

/** A Kafka with settings in addition to the default ones, and with initial users. */
export function kafkaWith(own: {
  /** A repeated setting replaces the earlier one. */
  properties(place: ServerPlace): string;
  readonly format: readonly string[];
}): ServerKind {
  return {
    ...kafkaPackage,
    portCount: 2,
    archive: classArchive,

    async prepare(place) {
      await writeFile(propertiesFile(place), propertiesOf(place) + own.properties(place));
      const format = ["format", "--standalone", "-t", clusterId, "-c", propertiesFile(place)];
      const args = [...format, ...own.format];
      return [await java(place.program, "kafka.tools.StorageTool", ...args)];
    },

    command: (place) =>
      java(place.program, ...place.javaFlags, "kafka.Kafka", propertiesFile(place)),

    // ApiVersions, the first request of any client: its key is 18, its version 0 here.
    async isReady({ ports }) {
      const question = Buffer.from("0000000a" + "0012" + "0000" + "00000007" + "0000", "hex");
      const answer = await exchange(ports[0], question, 10);
      return answer.readInt32BE(4) === 7 && answer.readInt16BE(8) === 0;
    },

    url: ({ ports }) => `127.0.0.1:${ports[0]}`,
  };
}

/** A single node needs a replication factor of 1 for its internal topics. */
const propertiesOf = ({ folder, ports: [port, controllerPort] }: ServerPlace): string => `
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=${join(folder, "data")}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
`;
