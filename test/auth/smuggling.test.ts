/**
 * Request smuggling: a proxy may understand an ambiguous request differently than the service, so
 * ambiguous requests are rejected.
 */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeToken, ROOT } from "../graphql/graphql-client.ts";
import { type GuardedService, guardedService } from "./guarded-service.ts";

const MINA = "urn:li:corpuser:mina";
let service: GuardedService;
let bearer: string;
beforeAll(async () => {
  service = await guardedService();
  const { token } = await makeToken(service.client, { actorUrn: MINA }, service.operator);
  bearer = `Authorization: Bearer ${token}`;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

/** Sends bytes unchanged and returns all response bytes until the connection closes. */
function exchange(bytes: string): Promise<string> {
  const { hostname, port } = new URL(service.address);
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname, () => socket.write(bytes, "latin1"));
  let text = "";
  const silent = setTimeout(() => socket.destroy(), 3_000);
  socket.setEncoding("latin1").on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    clearTimeout(silent);
    resolve(text);
  });
  return promise;
}

const lines = (...all: readonly string[]): string => `${all.join("\r\n")}\r\n\r\n`;
const statuses = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
const READ = "GET /entitiesV2/urn:li:tag:a HTTP/1.1";
const CLOSE = "Connection: close";

test("control: a plain request is answered", async () => {
  expect(statuses(await exchange(lines(READ, "Host: localhost", bearer, CLOSE)))).toEqual([200]);
});

describe("no token is accepted from", () => {
  test.each<[string, () => string]>([
    [
      "a folded header line",
      () => lines(READ, "Host: localhost", bearer.replace(": ", ":\r\n "), CLOSE),
    ],
    [
      "a header line folded with a tab",
      () => lines(READ, "Host: localhost", `X-A: b\r\n\t${bearer}`, CLOSE),
    ],
    [
      "a line that ends with a carriage return only",
      () => lines(READ, `Host: localhost\r${bearer}`, CLOSE),
    ],
    [
      "a name with a blank before its colon",
      () => lines(READ, "Host: localhost", bearer.replace(":", " :"), CLOSE),
    ],
    ["a name with a blank in front", () => lines(READ, ` ${bearer}`, "Host: localhost", CLOSE)],
    [
      "a name with a zero byte",
      () => lines(READ, "Host: localhost", bearer.replace(":", "\0:"), CLOSE),
    ],
    [
      "several values in one line",
      () => lines(READ, "Host: localhost", `${bearer}, Bearer x`, CLOSE),
    ],
    ["several tokens in one line", () => lines(READ, "Host: localhost", `${bearer} x`, CLOSE)],
    [
      "the end of a body in chunks",
      () =>
        lines(
          ...[
            "POST /entities?action=exists HTTP/1.1",
            "Host: localhost",
            "Transfer-Encoding: chunked",
          ],
          ...[
            "Content-Type: application/json",
            "Trailer: Authorization",
            CLOSE,
            "",
            "2",
            "{}",
            "0",
          ],
          bearer,
        ),
    ],
  ])("%s", async (_, bytes) => {
    const text = await exchange(bytes());
    for (const status of statuses(text)) expect([400, 401], text).toContain(status);
    expect(text).not.toContain("urn:li:tag:a");
  });

  test("an earlier request on the same connection", async () => {
    const text = await exchange(
      lines(READ, "Host: localhost", bearer) + lines(READ, "Host: localhost", CLOSE),
    );
    expect(statuses(text)).toEqual([200, 401]);
  });
});

describe("ambiguous framing of a body is rejected:", () => {
  const smuggled = lines(READ, "Host: localhost");
  const post = "POST /entities?action=exists HTTP/1.1";
  const json = "Content-Type: application/json";
  test.each<[string, () => string]>([
    [
      "a length and chunks",
      () =>
        lines(
          post,
          "Host: localhost",
          bearer,
          json,
          "Content-Length: 4",
          "Transfer-Encoding: chunked",
        ) + `0\r\n\r\n${smuggled}`,
    ],
    [
      "two lengths",
      () =>
        lines(post, "Host: localhost", bearer, json, "Content-Length: 2", "Content-Length: 40") +
        `{}${smuggled}`,
    ],
    [
      "a length with a sign",
      () => `${lines(post, "Host: localhost", bearer, json, "Content-Length: +2")}{}${smuggled}`,
    ],
    [
      "a list of lengths",
      () => `${lines(post, "Host: localhost", bearer, json, "Content-Length: 2, 2")}{}${smuggled}`,
    ],
    [
      "chunks by another name",
      () =>
        `${lines(post, "Host: localhost", bearer, json, "Transfer-Encoding: xchunked")}0\r\n\r\n${smuggled}`,
    ],
    [
      "chunks that are not last",
      () =>
        `${lines(post, "Host: localhost", bearer, json, "Transfer-Encoding: chunked, identity")}0\r\n\r\n${smuggled}`,
    ],
    [
      "an invalid size of a chunk",
      () =>
        `${lines(post, "Host: localhost", bearer, json, "Transfer-Encoding: chunked")}0x2\r\n{}\r\n0\r\n\r\n${smuggled}`,
    ],
    [
      "a chunk that is longer than it says",
      () =>
        `${lines(post, "Host: localhost", bearer, json, "Transfer-Encoding: chunked")}1\r\n{}\r\n0\r\n\r\n${smuggled}`,
    ],
  ])("%s", async (_, bytes) => {
    const text = await exchange(bytes());
    // The connection ends without another response.
    expect(statuses(text), text).toEqual([400]);
  });
});

describe("a request without a token is rejected, despite", () => {
  test.each<[string, string]>([
    [
      "an upgrade",
      lines(READ, "Host: localhost", "Connection: upgrade, close", "Upgrade: websocket"),
    ],
    [
      "an upgrade to HTTP/2",
      lines(
        READ,
        "Host: localhost",
        "Connection: Upgrade, HTTP2-Settings, close",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
      ),
    ],
    ["HTTP/1.0", lines("GET /entitiesV2/urn:li:tag:a HTTP/1.0")],
    [
      "another authority in the target",
      lines(
        "GET http://localhost/config/../entitiesV2/urn:li:tag:a HTTP/1.1",
        "Host: localhost",
        CLOSE,
      ),
    ],
    [
      "an authority with a user",
      lines("GET http://config@h/entitiesV2/urn:li:tag:a HTTP/1.1", "Host: localhost", CLOSE),
    ],
    ["two hosts", lines(READ, "Host: localhost", "Host: localhost", CLOSE)],
    ["no host", lines(READ, CLOSE)],
    [
      "a header that takes another away",
      lines(READ, "Host: localhost", "Connection: close, Authorization"),
    ],
    [
      "another path in a header",
      lines(
        "GET /config HTTP/1.1",
        "Host: localhost",
        "X-Original-URL: /entitiesV2/urn:li:tag:a",
        "X-Rewrite-URL: /entitiesV2/urn:li:tag:a",
        CLOSE,
      ),
    ],
    [
      "another method in a header",
      lines(
        "POST /entitiesV2/urn:li:tag:a HTTP/1.1",
        "Host: localhost",
        "X-HTTP-Method-Override: GET",
        "Content-Length: 0",
        CLOSE,
      ),
    ],
  ])("%s", async (_, bytes) => {
    const text = await exchange(bytes);
    for (const status of statuses(text)) expect([200, 400, 401, 404, 421], text).toContain(status);
    // The 200 is the response of /config.
    expect(text).not.toContain('"aspects"');
  });

  test("CONNECT and requests older than HTTP/1.0 end the connection", async () => {
    for (const bytes of [
      lines("CONNECT 127.0.0.1:22 HTTP/1.1", "Host: localhost", bearer),
      "GET /entitiesV2/urn:li:tag:a\r\n",
      lines("PRI * HTTP/2.0", "", "SM"),
    ]) {
      const text = await exchange(bytes);
      expect(statuses(text).filter((status) => status < 400)).toEqual([]);
    }
  });
});

test("an actor header in a trailer or a folded line is ignored", async () => {
  const audit = [
    "POST /api/graphql HTTP/1.1",
    "Host: localhost",
    bearer,
    "Content-Type: application/json",
  ];
  const query = JSON.stringify({ query: "{ me { corpUser { urn } } }" });
  const size = query.length.toString(16);
  const trailer = await exchange(
    lines(
      ...audit,
      "Transfer-Encoding: chunked",
      CLOSE,
      "",
      size,
      query,
      "0",
      `X-Service-Actor: ${ROOT}`,
    ),
  );
  expect(trailer).toContain(MINA);
  const folded = await exchange(
    lines(...audit, `X-Service-Actor:\r\n ${ROOT}`, `Content-Length: ${query.length}`, CLOSE) +
      query,
  );
  expect(folded).not.toContain(`"urn":"${ROOT}"`);
});
