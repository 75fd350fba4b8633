/** The hosts that a request may name, and requests with an ambiguous target or end. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHostRule } from "../../src/http/hooks/host-check.ts";
import { runningService } from "../support/running-service.ts";
import { exchangeWith, openTestServer, rejection, type TestServer } from "./test-server.ts";

describe("on a loopback bind", () => {
  const rule = createHostRule({ loopback: true, allowed: ["Annals.Example.org", "2001:DB8::7"] });

  test.each([
    ...["localhost", "localhost:8080", "LocalHost", "localhost.", "localhost.:80", "localhost:"],
    ...["127.0.0.1", "127.0.0.1:8080", "127.255.0.3:1", "[::1]", "[::1]:8080"],
    ...["annals.example.org", "ANNALS.example.ORG.:443", "[2001:db8::7]:8080"],
  ])("the host %s is answered", (host) => {
    expect(rule?.(host)).toBe(true);
  });

  test.each([
    ...["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example"],
    ...["127.0.0.1@evil.example", "evil.example#localhost", "localhost, evil.example", ""],
    ...["127.1", "127.0.0.256", "128.0.0.1", "0.0.0.0", "::1", "[::2]", "[::1]x", "localhost:80x"],
    ...["localhost..", "localhost:80:80", "sub.annals.example.org", "xlocalhost", "[::1", " "],
  ])("the host %j is rejected", (host) => {
    expect(rule?.(host)).toBe(false);
  });
});

test("another bind accepts every host, unless there are allowed hosts", () => {
  expect(createHostRule({ loopback: false, allowed: [] })).toBeUndefined();
  const rule = createHostRule({ loopback: false, allowed: ["annals.example.org"] });
  expect(rule?.("annals.example.org:8080")).toBe(true);
  expect(rule?.("evil.example")).toBe(false);
  // Health checks within a container.
  expect(rule?.("127.0.0.1:8080")).toBe(true);
});

let api: TestServer;
beforeAll(async () => {
  api = openTestServer({ hosts: createHostRule({ loopback: true, allowed: [] }) });
  await api.app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => api.app.close());

const exchange = (request: string) => exchangeWith(api, request);

describe("a request for a foreign host", () => {
  test.each([
    ["GET /config HTTP/1.1", "Host: evil.example"],
    ["GET /restli/docs HTTP/1.1", "Host: evil.example:8080"],
    ["GET /nowhere HTTP/1.1", "Host: evil.example"],
    ["GET /config HTTP/1.0", "Host: evil.example"],
    ["GET http://evil.example/config HTTP/1.1", "Host: localhost"],
    ["GET http://localhost/config HTTP/1.1", "Host: evil.example"],
    ["OPTIONS /aspects HTTP/1.1", "Host: evil.example"],
  ])("%s with %s gets 421", async (line, host) => {
    const calls = api.catalog.calls.length;
    const { status, body } = await exchange(`${line}\r\n${host}\r\nConnection: close\r\n\r\n`);
    expect(status).toBe(421);
    expect(JSON.parse(body)).toEqual(
      rejection(421, "misdirected", expect.stringMatching(/"evil\.example.*--allowed-host/)),
    );
    expect(api.catalog.calls).toHaveLength(calls);
  });

  test("an absolute target of this host is answered", async () => {
    const request = "GET http://127.0.0.1:8080/config HTTP/1.1\r\nHost: localhost\r\n";
    expect((await exchange(`${request}Connection: close\r\n\r\n`)).status).toBe(200);
  });
});

describe("an ambiguous request gets 400, and its connection closes", () => {
  const post = "POST /entities?action=exists HTTP/1.1\r\nContent-Type: application/json\r\n";
  const chunks = '16\r\n{"urn":"urn:li:tag:a"}\r\n0\r\n\r\n';
  test.each([
    ["two Host headers", "GET /config HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"],
    [
      "another Host header",
      "GET /config HTTP/1.1\r\nHost: localhost\r\nhOST: evil.example\r\n\r\n",
    ],
    [
      "two Host headers and a body",
      `${post}Host: localhost\r\nHost: h\r\nContent-Length: 22\r\n\r\n{"urn":"urn:li:tag:a"}`,
    ],
    [
      "the coding gzip",
      `${post}Host: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${chunks}`,
    ],
    [
      "two codings",
      `${post}Host: localhost\r\nTransfer-Encoding: chunked, chunked\r\n\r\n${chunks}`,
    ],
    [
      "two coding headers",
      `${post}Host: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
    ],
    ["the coding identity", `${post}Host: localhost\r\nTransfer-Encoding: identity\r\n\r\n`],
    ["another coding", `${post}Host: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n`],
  ])("a request with %s gets 400, and its connection closes", async (_, request) => {
    const calls = api.catalog.calls.length;
    const { status, head, body } = await exchange(request);
    expect(status).toBe(400);
    expect(head).toMatch(/^connection: close$/im);
    expect(JSON.parse(body).code).toBe("malformed");
    expect(api.catalog.calls).toHaveLength(calls);
  });

  test("a body in chunks is read", async () => {
    const head = `${post}Host: localhost\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n`;
    expect((await exchange(head + chunks)).status).toBe(200);
  });
});

test("a service on loopback accepts only loopback names and those of --allowed-host", async () => {
  await using service = await runningService({ allowedHost: "annals.test,other.test" });
  const { port } = new URL(service.address);
  const statusFor = (host: string) =>
    new Promise<number>((resolve, reject) => {
      const socket = connect(Number(port), "127.0.0.1").setEncoding("utf8");
      socket.once("data", (text) => resolve(Number(String(text).split(" ")[1])));
      socket.on("error", reject);
      socket.write(`GET /config HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
  expect(await statusFor("localhost")).toBe(200);
  expect(await statusFor(`other.test:${port}`)).toBe(200);
  expect(await statusFor("evil.example")).toBe(421);
});
