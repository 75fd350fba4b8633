/**
 * Kafka's own console consumer, run as from a shell. It is part of the server's package and needs
 * Java, also if the broker is given by its address.
 */
import { type Ended, start } from "../../cli/run-program.ts";
import { requiredStores, type SkippedStore } from "../stores.ts";
import { kafkaProgram } from "./kafka.ts";
import { Unavailable } from "./server-kind.ts";

const program = "org.apache.kafka.tools.consumer.ConsoleConsumer";

export interface KafkaConsole {
  run(args: readonly string[]): Promise<Ended>;
}

/** Like reachStore: rejects if REQUIRE_STORES names kafka, and otherwise returns the reason. */
export async function reachKafkaConsole(): Promise<KafkaConsole | SkippedStore> {
  try {
    const { file, args: before } = await kafkaProgram(program, []);
    return { run: (args) => start(file, [...before, ...args]).ended };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const skipped = `Kafka's console consumer cannot be run: ${error.message}`;
    if (requiredStores().includes("kafka"))
      throw new Error(`REQUIRE_STORES names kafka, but ${skipped}`);
    return { skipped };
  }
}
