/**
 * Limits for one request and for all requests in flight. Rejections name the size and the limit.
 */
import { request as httpRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openTestServer, rejection, type TestServer } from "./test-server.ts";

let api: TestServer;
afterEach(() => api.app.close());

const many = <T>(count: number, member: T): readonly T[] =>
  Array.from({ length: count }, () => member);
const tag = "urn:li:tag:a";

describe("the length of a list", () => {
  beforeEach(() => {
    api = openTestServer({ bodyBytesMax: 16_000_000 });
  });

  const proposal = { entityType: "tag", entityUrn: tag, changeType: "UPSERT" };
  const snapshot = { value: { "com.linkedin.metadata.snapshot.TagSnapshot": { urn: tag } } };
  const counts = { bucket: 1, duration: "DAY", resource: tag, metrics: {} };
  const lists: readonly (readonly [
    target: string,
    path: string,
    max: number,
    body: (n: number) => object,
  ])[] = [
    [
      "/aspects?action=ingestProposalBatch",
      "/proposals",
      20_000,
      (n) => ({ proposals: many(n, proposal) }),
    ],
    ["/entities?action=batchIngest", "/entities", 20_000, (n) => ({ entities: many(n, snapshot) })],
    ["/usageStats?action=batchIngest", "/buckets", 20_000, (n) => ({ buckets: many(n, counts) })],
    [
      "/entities?action=filterExistingUrns",
      "/request/urns",
      10_000,
      (n) => ({ request: { urns: many(n, tag) } }),
    ],
    [
      "/entities?action=batchGetTotalEntityCount",
      "/entities",
      10_000,
      (n) => ({ entities: many(n, "tag") }),
    ],
  ];

  test.each(lists)("in %s at %s is limited to %i members", async (url, path, max, body) => {
    const send = (n: number) => api.app.inject({ method: "POST", url, payload: body(n) });
    const rejected = await send(max + 1);
    expect(rejected.statusCode).toBe(413);
    expect(rejected.json()).toEqual(
      rejection(
        413,
        "too_large",
        expect.stringContaining(
          `${path} :: ${max + 1} members; at most ${max} are allowed'. Send them in several`,
        ),
      ),
    );
    expect(api.catalog.calls).toEqual([]);
    expect((await send(max)).statusCode).toBe(200);
  });
});

describe("a body over the limit", () => {
  const MIB = 1024 * 1024;
  let port: number;

  beforeEach(async () => {
    api = openTestServer({ bodyBytesMax: MIB });
    await api.app.listen({ port: 0, host: "127.0.0.1" });
    port = (api.app.server.address() as AddressInfo).port;
  });

  /** Sends all requests despite early responses, and returns the statuses in order. */
  async function statuses(requests: readonly Buffer[]): Promise<readonly string[]> {
    const socket = connect(port, "127.0.0.1").setEncoding("utf8");
    let received = "";
    const answered = new Promise<readonly string[]>((resolve, reject) => {
      socket.on("error", reject).on("data", (more) => {
        received += more;
        const found = Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, one]) => one ?? "");
        if (found.length === requests.length) resolve(found);
      });
    });
    for (const request of requests) socket.write(request);
    try {
      return await answered;
    } finally {
      socket.destroy();
    }
  }

  const head = (more: string): Buffer =>
    Buffer.from(`POST /entities?action=exists HTTP/1.1\r\nHost: h\r\n${more}\r\n\r\n`);
  const body = Buffer.from(JSON.stringify({ urn: tag }));
  const whole = Buffer.concat([head(`Content-Length: ${body.length}`), body]);

  test.each([
    [
      "with a Content-Length",
      Buffer.concat([head(`Content-Length: ${16 * MIB}`), Buffer.alloc(16 * MIB, " ")]),
    ],
    [
      "in chunks",
      Buffer.concat([
        head("Transfer-Encoding: chunked"),
        ...many(16, Buffer.from(`${MIB.toString(16)}\r\n${" ".repeat(MIB)}\r\n`)),
        Buffer.from("0\r\n\r\n"),
      ]),
    ],
  ])("%s is rejected, and the next request on the connection is answered", async (_, large) => {
    expect(await statuses([large, whole])).toEqual(["413", "200"]);
  });

  test("that is not JSON is rejected, and the next request on the connection is answered", async () => {
    const broken = Buffer.concat([head("Content-Length: 1"), Buffer.from("{")]);
    expect(await statuses([broken, whole])).toEqual(["400", "200"]);
  });
});

describe("the bodies of all requests in flight", () => {
  const MIB = 1024 * 1024;
  let port: number;

  beforeEach(async () => {
    api = openTestServer({ bodyBytesMax: 8 * MIB, heldBytesMax: 4 * MIB });
    await api.app.listen({ port: 0, host: "127.0.0.1" });
    port = (api.app.server.address() as AddressInfo).port;
  });

  /** Sends the first bytes of a longer body and keeps the connection open until `end`. */
  function begin(bytes: number) {
    const sending = httpRequest({
      port,
      method: "POST",
      path: "/entities?action=exists",
      headers: { "Content-Type": "application/json", "Content-Length": 7 * MIB },
    });
    sending.on("error", () => {});
    sending.write(Buffer.alloc(bytes, " "));
    return { end: () => sending.destroy() };
  }

  function post(bytes: number): Promise<Response> {
    const body = JSON.stringify({ urn: tag }).padEnd(bytes);
    return fetch(`http://127.0.0.1:${port}/entities?action=exists`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
  }

  test("have a total limit, over which a large body is rejected until others end", async () => {
    expect((await post(3 * MIB)).status).toBe(200);
    const other = begin(3 * MIB);
    const wait = { timeout: 15_000 };
    await expect
      .poll(async () => {
        const reply = await post(2 * MIB).catch(() => undefined);
        return reply && { status: reply.status, after: reply.headers.get("retry-after") };
      }, wait)
      .toEqual({ status: 503, after: "1" });
    // Small requests are still accepted.
    expect((await post(1000)).status).toBe(200);
    other.end();
    await expect
      .poll(async () => (await post(2 * MIB).catch(() => undefined))?.status, wait)
      .toBe(200);
  });

  test("are rejected with the size and the limit", async () => {
    const reply = await post(5 * MIB);
    expect(await reply.json()).toEqual(
      rejection(
        503,
        "unavailable",
        expect.stringMatching(/have 4\d{6} bytes; at most 4194304 are allowed/),
      ),
    );
  });
});
