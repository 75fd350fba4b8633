/** Requests that Node.js would reject itself are rejected in the form of every other rejection. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { exchangeWith, openTestServer, rejection, type TestServer } from "./test-server.ts";

let api: TestServer;
beforeAll(async () => {
  api = openTestServer();
  await api.app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => api.app.close());

const exchange = (request: string) => exchangeWith(api, request);

const POST = "POST /entities?action=exists HTTP/1.1\r\nConnection: close\r\nContent-Length: 22\r\n";
const BODY = '{"urn":"urn:li:tag:a"}';

test("an unknown expectation is rejected with 417", async () => {
  const { status, head, body } = await exchange(
    `${POST}Host: a\r\nContent-Type: application/json\r\nExpect: nope\r\n\r\n${BODY}`,
  );
  expect(status).toBe(417);
  expect(head).toMatch(/content-type: application\/json/i);
  expect(head).toMatch(/x-restli-error-response: true/i);
  expect(JSON.parse(body)).toEqual(
    rejection(417, "malformed", expect.stringMatching(/"nope".*100-continue/)),
  );
});

test("the expectation 100-continue is answered", async () => {
  const { head, body } = await exchange(
    `${POST}Host: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n\r\n${BODY}`,
  );
  expect(head).toBe("HTTP/1.1 100 Continue");
  expect(body).toMatch(/^HTTP\/1\.1 200 /);
});

test.each([
  ["POST /entities?action=exists", `Content-Length: 22\r\n\r\n${BODY}`],
  ["GET /config", "\r\n"],
  ["GET /nowhere", "\r\n"],
  ["GET /aspects/x", "\r\n"],
])("%s without a Host header is rejected", async (line, rest) => {
  const calls = api.catalog.calls.length;
  const { status, head, body } = await exchange(`${line} HTTP/1.1\r\nConnection: close\r\n${rest}`);
  expect(status).toBe(400);
  expect(head).toMatch(/x-restli-error-response: true/i);
  expect(JSON.parse(body)).toEqual(rejection(400, "malformed", expect.stringMatching(/Host/)));
  expect(api.catalog.calls).toHaveLength(calls);
});

test("HTTP/1.0 needs no Host header", async () => {
  expect((await exchange("GET /config HTTP/1.0\r\n\r\n")).status).toBe(200);
});
