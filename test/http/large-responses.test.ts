/** Large responses: sent in pieces, and limited in total while clients have not read them. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { ResponseLimits } from "../../src/http/hooks/large-responses.ts";
import { openTestServer, rejection, type TestServer } from "./test-server.ts";

const MIB = 1024 * 1024;
const uncompressed = { "Accept-Encoding": "identity" };

let api: TestServer;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await api.app.close();
});

/** A server whose entity has the text. */
async function serve(text: string, limits: Partial<ResponseLimits> = {}): Promise<string> {
  api = openTestServer({ responseLimits: { bytesMax: 32 * MIB, ...limits } });
  api.catalog.getEntity = () => ({ json: JSON.stringify(text) });
  return api.app.listen({ port: 0, host: "127.0.0.1" });
}

const target = "/entitiesV2/urn:li:tag:a";

/** Requests the entity, and reads nothing of the response after its beginning. */
async function requestOnly(): Promise<Socket> {
  const { port } = api.app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1").pause();
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(`GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`);
  await once(socket, "readable");
  return socket;
}

describe("a large response", () => {
  test.each([
    ["of characters of one byte", "a"],
    ["of characters of two code units, at any offset of a piece", "🗺"],
  ])("%s arrives unchanged", async (_, character) => {
    for (const offset of ["", "a"]) {
      const text = offset + character.repeat(MIB);
      const response = await fetch((await serve(text)) + target, { headers: uncompressed });
      expect((await response.json()) === text).toBe(true);
      await api.app.close();
    }
  });

  test("is compressed for a client that accepts it", async () => {
    const text = Array.from({ length: 400_000 }, (_, i) => i.toString(36)).join();
    const response = await fetch((await serve(text)) + target, {
      headers: { "Accept-Encoding": "gzip" },
    });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect((await response.json()) === text).toBe(true);
  });
});

test("entities with named versions are rejected when their values exceed the size of a response", async () => {
  const origin = await serve("");
  const text = "a".repeat(70 * MIB);
  api.catalog.getEntity = () => ({ json: JSON.stringify({ aspects: { tagKey: { text } } }) });
  const id = (name: string) => encodeURIComponent(`(urn:li:tag:${name} , )`);
  const read = (ids: readonly string[]) =>
    fetch(`${origin}/entitiesVersionedV2?ids=List(${ids.map(id)})&entityType=tag`, {
      headers: { "X-RestLi-Protocol-Version": "2.0.0" },
    });
  expect((await read(["a"])).status).toBe(200);
  const rejected = await read(["a", "b"]);
  expect(await rejected.json()).toEqual(
    rejection(413, "too_large", expect.stringContaining("the aspects of 2 entities")),
  );
});

describe("large responses that clients have not read", () => {
  test("have a total limit, over which a read is rejected until a client has read or disconnected", async () => {
    const url = (await serve("a".repeat(20 * MIB))) + target;
    const status = () => statusOf(url);
    expect(await status()).toBe(200);
    const reader = await requestOnly();
    await expect.poll(status).toBe(503);
    const rejected = await fetch(url, { headers: uncompressed });
    expect(rejected.headers.get("retry-after")).toBe("1");
    expect(await rejected.json()).toEqual(
      rejection(
        503,
        "unavailable",
        expect.stringMatching(/have not read yet have 2\d{7} bytes; at most 33554432 are allowed/),
      ),
    );
    const { origin } = new URL(url);
    expect((await fetch(`${origin}/config`)).status).toBe(200);

    reader.resume();
    await expect.poll(status).toBe(200);
    const leaver = await requestOnly();
    await expect.poll(status).toBe(503);
    leaver.destroy();
    await expect.poll(status).toBe(200);
  });

  test("of clients that disconnect before their response is made do not count", async () => {
    const url = (await serve("")) + target;
    const json = JSON.stringify("a".repeat(20 * MIB));
    const { promise, resolve } = Promise.withResolvers<{ json: string }>();
    let requests = 0;
    api.catalog.getEntity = () => {
      requests++;
      return promise;
    };
    const { port } = api.app.server.address() as AddressInfo;
    const closed = new Promise((done) => {
      api.app.server.on("connection", (socket) => socket.on("close", done));
    });
    const leaver = connect(port, "127.0.0.1");
    // The second response waits for the first one.
    leaver.write(`GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`.repeat(2));
    await expect.poll(() => requests).toBe(2);
    leaver.destroy();
    await closed;
    resolve({ json });
    expect(await statusOf(url)).toBe(200);
    expect(await statusOf(url)).toBe(200);
  });

  test("have an error without the headers of the response that it replaces", async () => {
    // Compression cannot make it small.
    const url = (await serve(randomBytes(15 * MIB).toString("base64"))) + target;
    await requestOnly();
    const rejected = await fetch(url, { headers: { "Accept-Encoding": "gzip" } });
    expect(await rejected.json()).toMatchObject({ status: 503 });
    expect(rejected.headers.get("content-encoding")).toBeNull();
    expect(rejected.headers.get("cache-control")).toBeNull();
  });

  test("end with the connection of a client that reads nothing", async () => {
    const url = (await serve("a".repeat(20 * MIB), { stalledMsMax: 300 })) + target;
    const staller = await requestOnly();
    // The service ends the connection, which the client sees when it reads.
    await expect.poll(() => statusOf(url)).toBe(200);
    staller.resume();
    await once(staller, "close");
    expect(staller.bytesRead).toBeLessThan(20 * MIB);
  });

  test("do not reject the response of a write, which has happened already", async () => {
    const url = (await serve("a".repeat(20 * MIB))) + target;
    const [entity] = await api.catalog.findEntities(["urn:li:tag:a"], undefined);
    const aspects = entity?.aspects.map((aspect) => ({
      ...{ ...aspect, name: "tagProperties", value: JSON.stringify("a".repeat(15 * MIB)) },
    }));
    api.catalog.findEntities = async () => [{ ...entity, urn: "urn:li:tag:a", aspects }] as never;
    await requestOnly();
    await expect.poll(() => statusOf(url)).toBe(503);
    const written = await fetch(`${new URL(url).origin}/openapi/v3/entity/tag`, {
      method: "POST",
      headers: { ...uncompressed, "Content-Type": "application/json" },
      body: JSON.stringify([{ urn: "urn:li:tag:a", tagProperties: { value: {} } }]),
    });
    expect(written.ok).toBe(true);
    expect((await written.arrayBuffer()).byteLength).toBeGreaterThan(15 * MIB);
  });
});

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url, { headers: uncompressed });
  await response.arrayBuffer();
  return response.status;
}
