import { describe, expect, test } from "vitest";
import { parseKafkaAddress } from "../../src/feed/kafka/kafka-address.ts";

const plain = {
  tls: false,
  login: undefined,
  topicPrefix: "",
  compression: "none",
  partitions: undefined,
};

test("an address of brokers alone is parsed, with and without ports", () => {
  expect(parseKafkaAddress("one:9093, two,[::1]:9094")).toEqual({
    ...plain,
    brokers: ["one:9093", "two:9092", "[::1]:9094"],
  });
});

test("a URL with all settings is parsed", () => {
  const url =
    "kafka://an%40nals:p%3Ass%2Fword@one:9093,two:9094/?tls=true&mechanism=plain&topicPrefix=dev.&compression=gzip&partitions=12";
  expect(parseKafkaAddress(url)).toEqual({
    brokers: ["one:9093", "two:9094"],
    tls: true,
    login: { mechanism: "plain", username: "an@nals", password: "p:ss/word" },
    topicPrefix: "dev.",
    compression: "gzip",
    partitions: 12,
  });
});

test("the login of a user without a mechanism uses SCRAM", () => {
  expect(parseKafkaAddress("kafka://me:secret@one").login).toEqual({
    mechanism: "scram-sha-512",
    username: "me",
    password: "secret",
  });
});

describe("invalid addresses", () => {
  test.each([
    ["", "names no host"],
    ["one:9092,,two", 'names no host in ""'],
    ["one:70000", "has the port 70000"],
    ["http://one:9092", "is not a URL of the scheme kafka://"],
    ["kafka://", "is not a URL of the scheme kafka://"],
    ["kafka://one?tls=yes", "has tls=yes, of which true, false are known"],
    ["kafka://one?mechanism=plain", "has a mechanism but no user"],
    ["kafka://me:secret@one?mechanism=gssapi", "has mechanism=gssapi"],
    ["kafka://me@one", "has a user without name or password"],
    ["kafka://me:%zz@one", "is not percent-encoded"],
    ["kafka://one?topicPrefix=a%20b", "is no beginning of a topic's name"],
    ["kafka://one?partitions=0", "has partitions=0 of 1 to 1000"],
    ["kafka://one?acks=1", 'has an unknown option "acks"'],
  ])("the address %s is rejected", (text, why) => {
    expect(() => parseKafkaAddress(text)).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringContaining(why) }),
    );
  });

  test("an error message does not show the password", () => {
    expect(() => parseKafkaAddress("kafka://me:secret@one?acks=1")).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("secret") }),
    );
  });
});
