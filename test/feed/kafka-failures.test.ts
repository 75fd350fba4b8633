import { KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } from "kafkajs";
import { expect, test } from "vitest";
import { isTransient, kafkaFailure } from "../../src/feed/kafka/kafka-failures.ts";

test("the error of a broker with a full disk says to free space and restart, and is retried", () => {
  const storage = new KafkaJSProtocolError({
    ...{ name: "KafkaJSProtocolError", type: "KAFKA_STORAGE_ERROR", code: 56, retriable: true },
    ...{ message: "Disk error when trying to access log file on the disk", stack: "" },
  });
  const error = new KafkaJSNumberOfRetriesExceeded(storage, { retryCount: 0, retryTime: 100 });
  expect(isTransient(error)).toBe(true);
  expect(kafkaFailure(error, { brokers: ["one:9092"] }, "did not take it")).toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/^Kafka at one:9092 did not take it: Disk error/),
    hint: expect.stringMatching(/full disk, and restart it/),
  });
});
