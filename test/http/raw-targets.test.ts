/**
 * Requests as raw bytes, without the normalization of client libraries: keys with slashes,
 * fragments, brackets and raw bytes, targets in other forms, and invalid HTTP.
 */
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openTestServer } from "./test-server.ts";

const { app, catalog } = openTestServer();
let port = 0;
beforeAll(async () => {
  await app.listen({ port: 0, host: "127.0.0.1" });
  port = (app.server.address() as AddressInfo).port;
});
afterAll(() => app.close());
beforeEach(() => {
  catalog.calls.length = 0;
});

interface RawReply {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends bytes unchanged and reads until the connection closes. */
function send(request: string): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request, "latin1"));
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => {
      const [head = "", body = ""] = Buffer.concat(chunks).toString("utf8").split("\r\n\r\n");
      resolve({ status: Number(head.split(" ")[1]), head, body });
    });
  });
}

const bytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
const get = (target: string, headers = ""): Promise<RawReply> =>
  send(`GET ${target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${headers}\r\n`);

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const framed = (name: string): string =>
  `urn%3Ali%3Adataset%3A%28urn%3Ali%3AdataPlatform%3Ahive%2C${name}%2CPROD%29`;

describe("a urn in the path", () => {
  test.each([
    [dataset("a.b"), dataset("a.b")],
    [dataset("a/b//c"), dataset("a/b//c")],
    [dataset("a#b"), dataset("a#b")],
    [dataset("a,b"), dataset("a,b")],
    [dataset("[a]{b}|c^`'\"<>\\"), dataset("[a]{b}|c^`'\"<>\\")],
    [dataset("a+b&c=d;e@f!$*~"), dataset("a+b&c=d;e@f!$*~")],
    [dataset("../../config"), dataset("../../config")],
    [dataset("100%"), dataset("100%")],
    [dataset("%zz%4"), dataset("%zz%4")],
    [framed("a%2Fb"), dataset("a/b")],
    [framed("a%252Fb"), dataset("a%2Fb")],
    [framed("a%252Cb"), dataset("a%2Cb")],
    [framed("a%25252Cb"), dataset("a%252Cb")],
    [framed("a%23b%3Fc"), dataset("a#b?c")],
    [
      framed("odd%20name%2Cwith%20%28brackets%29%2Fslash%25and%23hash%20%C3%A9"),
      dataset("odd name,with (brackets)/slash%and#hash é"),
    ],
    [framed("a+b"), dataset("a+b")],
    [framed("%E2%90%9F"), dataset("␟")],
  ])("%s is decoded once, on every route", async (key, urn) => {
    for (const [path, method] of [
      ["/entitiesV2/", "getEntity"],
      ["/gms/entitiesV2/", "getEntity"],
      ["/entities/", "getSnapshot"],
      ["/api/gms/entities/", "getSnapshot"],
    ]) {
      catalog.calls.length = 0;
      expect((await get(`${path}${key}`)).status).toBe(200);
      expect(catalog.calls).toEqual([{ method, args: [urn, undefined] }]);
    }
    catalog.calls.length = 0;
    expect((await get(`/aspects/${key}?aspect=status&version=-1`)).status).toBe(200);
    expect(catalog.calls).toEqual([{ method: "getAspect", args: [urn, "status", -1] }]);
  });

  test("has blanks for + only under protocol 1.0.0", async () => {
    await get("/entitiesV2/a+b", "X-RestLi-Protocol-Version: 1.0.0\r\n");
    await get("/entitiesV2/a+b%2B", "X-RestLi-Protocol-Version: 2.0.0\r\n");
    expect(catalog.calls.map(({ args }) => args[0])).toEqual(["a b", "a+b+"]);
  });

  test("that is not UTF-8 is rejected", async () => {
    expect((await get("/entitiesV2/a%ff")).status).toBe(400);
    expect((await get("/entitiesV2/a%E9")).status).toBe(400);
    expect(catalog.calls).toEqual([]);
  });

  test("may be long, up to a limit that the message names", async () => {
    expect((await get(`/entitiesV2/${"a".repeat(30_000)}`)).status).toBe(200);
    const reply = await get(`/entitiesV2/${"a".repeat(70_000)}`);
    expect(reply.status).toBe(431);
    expect(JSON.parse(reply.body)).toMatchObject({ status: 431, code: "malformed" });
  });
});

describe("urns in a query", () => {
  test.each([
    `List(${framed("a%2Cb")},urn%3Ali%3Atag%3Ax)`,
    `List(${dataset("a,b")},urn:li:tag:x)`,
    `List%28${framed("a%2Cb")}%2Curn%3Ali%3Atag%3Ax%29`,
    `${framed("a%2Cb")}&ids=urn:li:tag:x`,
    `${dataset("a,b")}&ids=urn:li:tag:x`,
  ])("ids=%s are parsed", async (ids) => {
    expect((await get(`/entitiesV2?ids=${ids}&aspects=List(status,ownership)`)).status).toBe(200);
    expect(catalog.calls).toEqual([
      {
        method: "getEntities",
        args: [
          [dataset("a,b"), "urn:li:tag:x"],
          ["status", "ownership"],
        ],
      },
    ]);
  });
});

describe("a target in another form", () => {
  test.each([
    "//health/live",
    "/health/live/",
    "/gms/health/live?x=%zz",
    "http://catalog.example:8080/health/live",
    "http://catalog.example/api/gms/health/live",
  ])("%s is answered", async (target) => {
    expect(await get(target)).toMatchObject({ status: 200, body: "{}" });
  });

  test.each(["/a/../config", "/%63onfig/x", "/restli%2Fdocs"])(
    "%s is answered with 404",
    async (target) => {
      expect((await get(target)).status).toBe(404);
    },
  );

  test("OPTIONS * is answered with 404, without CORS headers", async () => {
    const reply = await send(
      "OPTIONS * HTTP/1.1\r\nHost: h\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n",
    );
    expect(reply.status).toBe(404);
    expect(reply.head.toLowerCase()).not.toContain("access-control");
  });

  test.each([
    `POST /aspects?action=getCount HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 14\r\n\r\n{"aspect":"x"}`,
    `POST /aspects?action=getCount HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{"aspec\r\n7\r\nt":"x"}\r\n0\r\n\r\n`,
  ])("a body without a content type is JSON, with a length or in chunks", async (request) => {
    expect(await send(request)).toMatchObject({ status: 200, body: '{"value":5}' });
  });

  test("an unknown method is rejected", async () => {
    const reply = await send(
      "PROPFIND /entities/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    );
    expect(reply.status).toBe(400);
    expect(reply.body).toContain("PROPFIND operation not supported");
  });
});

describe("a target with raw blanks or bytes", () => {
  test.each([dataset("odd name"), dataset("größe 日本"), dataset("a\tb  c"), dataset("é%2520")])(
    "%s is redirected to its encoded form",
    async (key) => {
      const reply = await get(bytes(`/entitiesV2/${key}?aspects=List(a b)`));
      expect(reply.status).toBe(301);
      expect(JSON.parse(reply.body)).toMatchObject({ status: 301, code: "malformed" });
      expect(catalog.calls).toEqual([]);
      const location = /^Location: (.*)$/m.exec(reply.head)?.[1]?.trim() ?? "";
      expect((await get(location)).status).toBe(200);
      expect(catalog.calls).toEqual([
        { method: "getEntity", args: [key.replace("%25", "%"), ["a b"]] },
      ]);
    },
  );

  test("is never redirected to another host", async () => {
    const { head } = await get(bytes("//evil.example/é"));
    expect(head).toContain("Location: /evil.example/%C3%A9");
  });

  test("is rejected for writes, which a redirect would repeat", async () => {
    const reply = await send(bytes("POST /aspects/é?action=x HTTP/1.1\r\nHost: h\r\n\r\n"));
    expect(reply.status).toBe(400);
  });
});

describe("bytes that are not HTTP", () => {
  test.each([
    "GET /a b\r\n\r\n",
    "hello\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
  ])("%j is rejected in the form of every error", async (request) => {
    const reply = await send(request);
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.body)).toEqual({
      status: 400,
      message: expect.stringMatching(/^the request is not HTTP \(.+\)\. Percent-encode the path/),
      exceptionClass: "com.linkedin.restli.server.RestLiServiceException",
      code: "malformed",
    });
    expect(catalog.calls).toEqual([]);
  });
});

describe("a body over the limit", () => {
  test("is rejected by its Content-Length, before it is sent", async () => {
    const reply = await send(
      "POST /aspects?action=getCount HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n",
    );
    expect(reply.status).toBe(413);
    expect(JSON.parse(reply.body).message).toBe(
      "request body has 99999999 bytes; at most 4096 are allowed. Send it in several requests",
    );
  });

  test("without a Content-Length is rejected once it exceeds the limit", async () => {
    const chunk = `1000\r\n${" ".repeat(4096)}\r\n`;
    const reply = await send(
      `POST /aspects?action=getCount HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`,
    );
    expect(reply.status).toBe(413);
    expect(JSON.parse(reply.body).message).toContain(
      "more than 4096 bytes; at most 4096 are allowed",
    );
  });

  test("of an unknown action does not block the connection", async () => {
    const reply = await send(
      "POST /aspects?action=fly HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
    );
    expect(reply.status).toBe(400);
    expect(reply.body).toContain("POST operation named fly");
  });
});

test("a repeated actor header is rejected", async () => {
  const reply = await get(
    "/entitiesV2/urn:li:tag:a",
    "X-DataHub-Actor: urn:li:corpuser:a\r\nx-datahub-actor: urn:li:corpuser:a\r\n",
  );
  expect(reply.status).toBe(400);
  expect(reply.body).toContain("is given twice");
});
