/** Compressed responses and request bodies, entity tags, and the documents that are compressed once. */
import { request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import {
  brotliCompressSync,
  brotliDecompressSync,
  crc32,
  deflateSync,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from "node:zlib";
import fastify from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compressResponses } from "../../src/http/hooks/compressed-responses.ts";
import { codingFor } from "../../src/http/hooks/content-coding.ts";
import { entityTagOf, matchesTag } from "../../src/http/response/entity-tags.ts";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { openTestServer, rejection } from "./test-server.ts";

test.each([
  ["gzip, deflate, br, zstd", "zstd"],
  ["gzip, deflate, br", "br"],
  ["gzip, deflate", "gzip"],
  ["GZIP;q=0.5, br;q=0.4", "gzip"],
  ["gzip;q=0, br; q=0", undefined],
  ["*", "zstd"],
  ["zstd;q=0, *;q=0.1", "br"],
  ["identity", undefined],
  ["deflate", undefined],
  ["gzip;q=many, br;level=1", undefined],
  ["constructor, __proto__", undefined],
  ["", undefined],
])("Accept-Encoding %j selects %j", (accepted, coding) => {
  expect(codingFor(accepted)).toBe(coding);
});

test("an entity tag is matched weakly, alone or in a list", () => {
  const tag = entityTagOf("text");
  expect(tag).toBe(`W/"4-${crc32("text")}"`);
  expect(tag).toBe(entityTagOf("text"));
  expect(tag).not.toBe(entityTagOf("other"));
  for (const known of [tag, tag.slice(2), `"a,b", ${tag}`, " * "]) {
    expect(matchesTag(known, tag), known).toBe(true);
  }
  for (const other of ["", '"a"', tag.slice(3, -1), `W/"${tag}`, "**"]) {
    expect(matchesTag(other, tag), other).toBe(false);
  }
});

const decoders = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };
const encoders = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

let service: RunningService;
const tag = "urn:li:tag:described";
const aspectPath = `/aspects/${encoded(tag)}?aspect=tagProperties&version=0`;
beforeAll(async () => {
  service = await runningService({ bodyBytesMax: "1MiB" });
  await ingest("x".repeat(5_000));
});
afterAll(() => service[Symbol.asyncDispose]());

const ingest = (description: string) =>
  service.client.call("POST", "/aspects?action=ingestProposal", {
    proposal: proposal(tag, "tagProperties", { name: "described", description }),
  });

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly bytes: Buffer;
}

/** Sends a request without the headers that fetch adds, and leaves the response compressed. */
function send(
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: Buffer } = {},
): Promise<Received> {
  const { method = "GET", headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${service.address}${path}`, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes: Buffer.concat(chunks),
        }),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

describe("a response", () => {
  test.each(["gzip", "br", "zstd"] as const)("is compressed with %s", async (coding) => {
    const plain = await send(aspectPath);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.headers.vary).toBe("Accept-Encoding");
    const { status, headers, bytes } = await send(aspectPath, {
      headers: { "Accept-Encoding": coding },
    });
    expect(status).toBe(200);
    expect(headers["content-encoding"]).toBe(coding);
    expect(headers.vary).toBe("Accept-Encoding");
    expect(headers.etag).toBe(plain.headers.etag);
    expect(Number(headers["content-length"])).toBe(bytes.length);
    expect(bytes.length).toBeLessThan(plain.bytes.length / 4);
    expect(decoders[coding](bytes).equals(plain.bytes)).toBe(true);
  });

  test("stays uncompressed for DataHub's proxy, for HEAD, and if it is small", async () => {
    const accepts = { "Accept-Encoding": "gzip, br, zstd" };
    const proxied = { ...accepts, "X-DataHub-Request-Source": "frontend" };
    for (const [path, options] of [
      [aspectPath, { headers: proxied }],
      ["/openapi.json", { headers: proxied }],
      [aspectPath, { method: "HEAD", headers: accepts }],
      ["/health/live", { headers: accepts }],
    ] as const) {
      const { status, headers } = await send(path, options);
      expect(status).toBe(200);
      expect(headers["content-encoding"], path).toBeUndefined();
    }
  });

  test("is also compressed when it is an error", async () => {
    const path = `/aspects/${encoded(tag)}?aspect=${"x".repeat(2_000)}`;
    const plain = await send(path);
    const packed = await send(path, { headers: { "Accept-Encoding": "gzip" } });
    expect(packed.status).toBe(plain.status);
    expect(packed.headers["content-encoding"]).toBe(
      plain.bytes.length < 1_024 ? undefined : "gzip",
    );
  });

  test("to a stream stays uncompressed", async () => {
    const ending = new AbortController();
    const reply = await fetch(`${service.address}/changes?from=start`, {
      headers: { Accept: "text/event-stream", "Accept-Encoding": "gzip, br, zstd" },
      signal: ending.signal,
    });
    expect(reply.headers.get("content-encoding")).toBeNull();
    expect(reply.headers.get("etag")).toBeNull();
    const { value } = (await reply.body?.getReader().read()) ?? {};
    expect(Buffer.from(value ?? []).toString()).toContain("id: ");
    ending.abort();
  });
});

describe("an entity tag", () => {
  const reads = [
    aspectPath,
    `/entitiesV2/${encoded(tag)}`,
    `/entities/${encoded(tag)}`,
    `/openapi/v3/entity/tag/${encoded(tag)}`,
    `/openapi/v3/entity/tag/${encoded(tag)}/tagProperties`,
    "/openapi.json",
    "/restli/docs",
    "/schema-registry/api/subjects/MetadataChangeProposal_v1-value/versions/latest",
  ];

  test.each(reads)("of GET %s avoids a second transfer", async (path) => {
    const first = await send(path);
    const { etag = "" } = first.headers;
    expect([first.status, etag]).toEqual([200, expect.stringMatching(/^W\/"/)]);
    expect(first.headers["cache-control"]).toBe("private, no-cache");
    const second = await send(path, { headers: { "If-None-Match": String(etag) } });
    expect([second.status, second.bytes.length]).toEqual([304, 0]);
    expect(second.headers.etag).toBe(etag);
    expect(second.headers["content-length"]).toBeUndefined();
    expect(second.headers.vary).toBe("Accept-Encoding");
    expect(second.headers["x-annals-position"]).toBe(first.headers["x-annals-position"]);
    expect((await send(path, { headers: { "If-None-Match": '"other"' } })).status).toBe(200);
  });

  test("changes with the aspect", async () => {
    const before = (await send(aspectPath)).headers.etag;
    await ingest("y".repeat(5_000));
    const after = await send(aspectPath, { headers: { "If-None-Match": String(before) } });
    expect(after.status).toBe(200);
    expect(after.headers.etag).not.toBe(before);
    await ingest("x".repeat(5_000));
  });

  test("is not sent with errors, writes, and responses that must not be stored", async () => {
    const post = { method: "POST", headers: { "If-None-Match": "*" } };
    for (const [path, options] of [
      ["/nowhere", {}],
      ["/changes?from=start", {}],
      ["/operations?action=getStatus", post],
    ] as const) {
      expect((await send(path, options)).headers.etag, path).toBeUndefined();
    }
  });
});

describe("a request body", () => {
  const body = { proposal: proposal(tag, "tagProperties", { name: "packed", description: "" }) };
  const path = "/aspects?action=ingestProposal";
  const post = (coding: string, bytes: Buffer) =>
    send(path, { method: "POST", headers: { "Content-Encoding": coding }, body: bytes });

  test.each(Object.entries(encoders))("in the coding %s is read", async (coding, encode) => {
    const bytes = encode(Buffer.from(JSON.stringify(body)));
    const reply = await post(coding, bytes);
    expect([reply.status, JSON.parse(String(reply.bytes))]).toEqual([200, { value: "success" }]);
  });

  test("over 256 KiB unpacked is read by the body thread", async () => {
    const padded = `${JSON.stringify(body)}${" ".repeat(300_000)}`;
    expect((await post("gzip", gzipSync(padded))).status).toBe(200);
  });

  test.each(Object.entries(encoders))(
    "in the coding %s is limited by its size unpacked",
    async (coding, encode) => {
      const bytes = encode(Buffer.from(`${JSON.stringify(body)}${" ".repeat(2 ** 26)}`));
      expect(bytes.length).toBeLessThan(2 ** 20);
      const reply = await post(coding, bytes);
      expect(reply.status).toBe(413);
      expect(JSON.parse(String(reply.bytes)).message).toContain(`at most ${2 ** 20} are allowed`);
    },
  );

  test.each([
    ["an unknown coding", "lzma", Buffer.from("x")],
    ["two codings", "gzip, br", gzipSync("{}")],
    ["bytes that are not in its coding", "gzip", Buffer.from('{"proposal":1}')],
    ["bytes that are not in its coding", "br", Buffer.from('{"proposal":1}')],
    ["bytes that are not in its coding", "zstd", Buffer.from('{"proposal":1}')],
    ["a truncated body", "gzip", gzipSync(JSON.stringify(body)).subarray(0, 60)],
    ["a truncated body", "br", brotliCompressSync(JSON.stringify(body)).subarray(0, 60)],
    ["a truncated body", "zstd", zstdCompressSync(JSON.stringify(body)).subarray(0, 60)],
  ])("with %s gets 400 (%s)", async (_, coding, bytes) => {
    const reply = await post(coding, bytes);
    expect(JSON.parse(String(reply.bytes))).toEqual(
      rejection(
        400,
        "malformed",
        expect.stringMatching(/^Cannot parse request entity.*coding|send/),
      ),
    );
  });

  test("leaves its connection usable, also after an error", async () => {
    const api = openTestServer({ bodyBytesMax: 2_000 });
    await api.app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = api.app.server.address() as AddressInfo;
    const { Agent } = await import("node:http");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const statusOf = (coding: string, bytes: Buffer) =>
      new Promise<readonly [number | undefined, number | undefined]>((resolve, reject) => {
        const headers = { "Content-Encoding": coding, "Content-Type": "application/json" };
        const target = { port, path: "/entities?action=exists", method: "POST", headers, agent };
        const request = httpRequest(target, (response) => {
          const local = response.socket.localPort;
          response.resume().on("end", () => resolve([response.statusCode, local]));
        });
        request.on("error", reject).end(bytes);
      });
    const good = gzipSync(JSON.stringify({ urn: tag }));
    const replies = [];
    for (const bytes of [good, gzipSync(" ".repeat(2 ** 22)), Buffer.alloc(1_500), good]) {
      replies.push(await statusOf("gzip", bytes));
    }
    expect(replies.map(([status]) => status)).toEqual([200, 413, 400, 200]);
    expect(new Set(replies.map(([, local]) => local)).size).toBe(1);
    agent.destroy();
    await api.app.close();
  });

  test.each([2 ** 20, 2 ** 22])(
    "over its own limit gets 413, also where all bodies together may have %i bytes",
    async (heldBytesMax) => {
      const api = openTestServer({ bodyBytesMax: 2 ** 20, heldBytesMax });
      const reply = await api.app.inject({
        method: "POST",
        url: "/entities?action=exists",
        headers: { "content-encoding": "gzip" },
        payload: gzipSync(Buffer.alloc(2 ** 26, 32)),
      });
      expect(reply.statusCode).toBe(413);
      expect(reply.json().message).toContain(`at most ${2 ** 20} are allowed`);
      await api.app.close();
    },
  );

  test("counts unpacked in the limit of all bodies in flight", async () => {
    const api = openTestServer({ bodyBytesMax: 2 ** 27, heldBytesMax: 2 ** 21 });
    const reply = await api.app.inject({
      method: "POST",
      url: "/entities?action=exists",
      headers: { "content-encoding": "gzip" },
      payload: gzipSync(Buffer.alloc(2 ** 26, 32)),
    });
    expect(reply.json()).toEqual(
      rejection(503, "unavailable", expect.stringContaining("--bodies-bytes-max")),
    );
    await api.app.close();
  });
});

test("an error that is sent while a response is compressed replaces it", async () => {
  const app = fastify();
  compressResponses(app);
  app.get("/", (_, reply) => {
    reply.send("x".repeat(100_000));
    // As for a request whose token ends (ended-tokens.ts).
    reply.code(401).send("ended");
  });
  const replies = await Promise.all(
    ["gzip", "br", "zstd"].map((coding) =>
      app.inject({ url: "/", headers: { "accept-encoding": coding } }),
    ),
  );
  expect(replies.map(({ statusCode, body }) => [statusCode, body])).toEqual(
    replies.map(() => [401, "ended"]),
  );
  // A later error would fail the run.
  await app.close();
  await delay(100);
});

test("openapi.json and the documentation are compressed once", async () => {
  for (const path of ["/openapi.json", "/restli/docs"]) {
    const headers = { "Accept-Encoding": "br" };
    const [first, second] = [await send(path, { headers }), await send(path, { headers })];
    expect(first.headers["content-encoding"]).toBe("br");
    expect(second.bytes.equals(first.bytes)).toBe(true);
    expect(first.bytes.length, path).toBeLessThan(100_000);
  }
});
