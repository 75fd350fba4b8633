/** Addresses never show a password, and TLS errors are distinguished. */
import { describe, expect, test } from "vitest";
import {
  decodedPart,
  isUntrusted,
  speaksNoTls,
  withoutPassword,
} from "../../src/lib/connection-string.ts";

describe("an address without its password", () => {
  test.each([
    ["bolt://neo4j:secret@host:7687", "bolt://neo4j:***@host:7687"],
    ["postgres://u:se/cr?et#@host/db", "postgres://u:***@host/db"],
    ["http://u:a@b@host:9200", "http://u:***@host:9200"],
    ["u:secret@host:9092", "u:***@host:9092"],
    ["esdb://u:secret@a:1,b:2?tls=false", "esdb://u:***@a:1,b:2?tls=false"],
    ["opensearch+https://u:secret@h", "opensearch+https://u:***@h"],
    ["host:9092,other:9092", "host:9092,other:9092"],
    ["esdb://host:2113?tls=false", "esdb://host:2113?tls=false"],
    ["bolt://user@host", "bolt://user@host"],
    ["no address", "no address"],
  ])("%s", (address, shown) => {
    expect(withoutPassword(address)).toBe(shown);
  });
});

test("invalid percent encodings are kept unchanged", () => {
  expect([decodedPart("a%40b"), decodedPart("50%off")]).toEqual(["a@b", "50%off"]);
});

test("a server without TLS differs from an unreachable one", () => {
  const inner = new Error("tls_validate_record_header:wrong version number");
  expect(speaksNoTls(new Error("cannot connect", { cause: inner }))).toBe(true);
  expect(speaksNoTls(new Error("connect ECONNREFUSED 127.0.0.1:1"))).toBe(false);
});

test("a certificate of an unknown authority differs from other failures", () => {
  const inner = new Error("self-signed certificate in certificate chain");
  expect(isUntrusted(new Error("cannot connect", { cause: inner }))).toBe(true);
  expect(isUntrusted(new Error("unable to verify the first certificate"))).toBe(true);
  expect(isUntrusted(new Error("connect ECONNREFUSED 127.0.0.1:1"))).toBe(false);
});
