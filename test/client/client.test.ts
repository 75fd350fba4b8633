/** The typed client against a running service. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AnnalsError, createAnnalsClient, dataOf, listOf } from "../../src/client/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const urn = "urn:li:tag:Typed";
const proposal = (name: string) => ({
  ...{ entityType: "tag", entityUrn: urn, changeType: "UPSERT" as const },
  aspectName: "tagProperties",
  aspect: { contentType: "application/json", value: JSON.stringify({ name }) },
});
const write = (client: ReturnType<typeof createAnnalsClient>, name: string) =>
  dataOf(client.POST("/aspects?action=ingestProposal", { body: { proposal: proposal(name) } }));

describe("the typed client", () => {
  test("writes an aspect and reads it, also in a list of parameters", async () => {
    const client = createAnnalsClient({ address: service.address });
    await write(client, "one");
    const query = { aspects: listOf(["tagProperties"]), alwaysIncludeKeyAspect: false };
    const path = { urn };
    const entity = await dataOf(client.GET("/entitiesV2/{urn}", { params: { path, query } }));
    expect(entity.aspects).toMatchObject({ tagProperties: { value: { name: "one" } } });
    expect(Object.keys(entity.aspects)).toEqual(["tagProperties"]);
  });

  test("adds the parameters of an action to its path", async () => {
    const client = createAnnalsClient({ address: service.address });
    await write(client, "two");
    const exists = client.POST("/entities?action=exists", {
      params: { query: { asOfPosition: "1" } },
      body: { urn: "urn:li:tag:Later" },
    });
    expect(await dataOf(exists)).toEqual({ value: false });
  });

  test("sends the position of its last write with reads, so that searches show the write", async () => {
    const sent: Request[] = [];
    const client = createAnnalsClient({
      address: service.address,
      fetch: (request) => {
        sent.push(request);
        return fetch(request);
      },
    });
    expect(client.position).toBeUndefined();
    await write(client, "findable");
    const written = client.position;
    expect(written).toBeGreaterThan(0);
    const found = await dataOf(
      client.POST("/entities?action=search", {
        body: { entity: "tag", input: "findable", start: 0, count: 10 },
      }),
    );
    expect(sent.at(-1)?.headers.get("x-annals-min-position")).toBe(String(written));
    expect(found).toMatchObject({ value: { numEntities: 1 } });
    expect(client.position).toBe(written);
    const asOf = { path: { urn }, query: { asOfPosition: String(written) } };
    await dataOf(client.GET("/entitiesV2/{urn}", { params: asOf }));
    expect(sent.at(-1)?.headers.has("x-annals-min-position")).toBe(false);
  });

  test("throws unavailable with the cause when no response arrives", async () => {
    const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    const client = createAnnalsClient({
      ...{ address: "http://127.0.0.1:9", attemptsMax: 1 },
      fetch: () => Promise.reject(new TypeError("fetch failed", { cause: refused })),
    });
    await expect(client.GET("/config")).rejects.toMatchObject({
      ...{ name: "AnnalsError", status: 0, code: "unavailable", cause: refused },
      message: "http://127.0.0.1:9 did not answer (ECONNREFUSED)",
    });
  });

  test("throws the reason of its signal after an abort", async () => {
    const reason = new Error("enough");
    const { address } = service;
    const client = createAnnalsClient({ address, signal: AbortSignal.abort(reason) });
    await expect(client.GET("/config")).rejects.toBe(reason);
  });

  test("throws the message and code of the service", async () => {
    const client = createAnnalsClient({ address: service.address });
    const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,seeds,PROD)";
    const params = { path: { urn: dataset, entity: "dataset", aspect: "ownershp" } };
    const read = dataOf(client.GET("/openapi/v3/entity/{entity}/{urn}/{aspect}", { params }));
    await expect(read).rejects.toBeInstanceOf(AnnalsError);
    await expect(read).rejects.toMatchObject({
      ...{ status: 404, code: "not_found" },
      message: expect.stringContaining('Did you mean "ownership"?'),
    });
  });
});

describe("the change feed", () => {
  test("yields changes as they are written, and ends when its signal aborts", async () => {
    const client = createAnnalsClient({ address: service.address });
    const ending = new AbortController();
    const query = { from: "start", aspects: ["tagProperties"], previous: true } as const;
    const names: unknown[] = [];
    for await (const change of client.changes(query, ending.signal)) {
      names.push(change.aspect?.value);
      if (names.length === 1) await write(client, "followed");
      if (JSON.stringify(names.at(-1)) === '{"name":"followed"}') ending.abort();
    }
    expect(names.at(-1)).toEqual({ name: "followed" });
  });

  test("continues after its last position when the connection is lost", async () => {
    const client = createAnnalsClient({ address: service.address });
    await write(client, "before");
    const all: number[] = [];
    for await (const { position } of client.changes({ from: "start" })) {
      all.push(position);
      if (position >= (client.position ?? 0)) break;
    }
    // Every connection ends after its first two lines: the position it starts at, and one change.
    const cut = createAnnalsClient({
      address: service.address,
      retryDelayMs: 1,
      async fetch(request) {
        const { body, ...response } = await fetch(request).then((whole) => ({
          body: whole.body,
          status: whole.status,
        }));
        return new Response(body?.pipeThrough(firstLines(2)), response);
      },
    });
    const read: number[] = [];
    for await (const { position } of cut.changes({ from: "start" })) {
      read.push(position);
      if (read.length === all.length) break;
    }
    expect(read).toEqual(all);
  });

  test("throws when the service rejects the query", async () => {
    const client = createAnnalsClient({ address: service.address });
    const changes = client.changes({ aspects: ["tagPropertes"] });
    await expect(changes.next()).rejects.toMatchObject({ status: 422, code: "invalid" });
  });
});

/** Ends the stream after so many lines. */
function firstLines(count: number): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let left = count;
  return new TransformStream({
    transform(chunk, controller) {
      const lines = decoder.decode(chunk, { stream: true }).split(/(?<=\n)/);
      for (const line of lines.slice(0, left)) controller.enqueue(encoder.encode(line));
      left -= lines.length;
      if (left <= 0) controller.terminate();
    },
  });
}
