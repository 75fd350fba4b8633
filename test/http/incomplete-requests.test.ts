/** A shutdown waits for complete requests, not for requests that never end. */
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestServer, type TestServer } from "./test-server.ts";

let api: TestServer;
let sockets: Socket[];

beforeEach(async () => {
  api = openTestServer();
  sockets = [];
  await api.app.listen({ port: 0, host: "127.0.0.1" });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await api.app.close();
});

/** Sends text on a new connection. `received` returns the response so far. */
async function send(text: string) {
  const { port } = api.app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  let received = "";
  socket.setEncoding("utf8").on("data", (more) => {
    received += more;
  });
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(text);
  return { socket, received: () => received };
}

const target = "POST /entities?action=exists HTTP/1.1\r\nHost: a\r\n";
const body = JSON.stringify({ urn: "urn:li:tag:a" });

test("a shutdown closes connections with incomplete requests, and waits for the others", async () => {
  let answer: ((exists: boolean) => void) | undefined;
  api.catalog.exists = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  await send(`${target}Content-Length: 60000000\r\n\r\n{`);
  await send(target);
  await send(`${target}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`);
  const whole = await send(`${target}Content-Length: ${body.length}\r\n\r\n${body}`);
  await expect.poll(() => answer).toBeDefined();

  const begun = performance.now();
  const closed = api.app.close();
  let ended = false;
  void closed.then(() => {
    ended = true;
  });
  const closedOnes = () => sockets.map((socket) => socket.closed);
  await expect.poll(closedOnes).toEqual([true, true, true, false]);
  expect(ended).toBe(false);
  answer?.(true);
  await closed;
  await expect.poll(whole.received).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"value":true\}$/);
  expect(performance.now() - begun).toBeLessThan(20_000);
});

test("a request that is completed in time during a shutdown is answered", async () => {
  const { socket, received } = await send(`${target}Content-Length: ${body.length}\r\n\r\n{`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const closed = api.app.close();
  await new Promise((resolve) => setTimeout(resolve, 500));
  socket.write(body.slice(1));
  await closed;
  await expect.poll(received).toMatch(/^HTTP\/1\.1 200 /);
});

test("a request that stays incomplete in its head or body is disconnected", async () => {
  const { server } = api.app;
  expect([server.headersTimeout, server.requestTimeout]).toEqual([60_000, 120_000]);
  // Shorter timeouts for the test.
  Object.assign(server, { headersTimeout: 200, requestTimeout: 400 });
  const head = await send(target);
  const rest = await send(`${target}Content-Length: ${body.length}\r\n\r\n{`);
  const wait = { timeout: 60_000, interval: 50 };
  for (const { socket, received } of [head, rest]) {
    await expect.poll(() => socket.closed, wait).toBe(true);
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
  }
});
