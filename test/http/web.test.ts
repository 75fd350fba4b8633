/**
 * The browser application over HTTP: its page, its files, and the replacement pages without a
 * build.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { watchWebFiles } from "../../src/http/web/web-files.ts";
import type { WebBuild } from "../../src/http/web/web-routes.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { openTestServer } from "./test-server.ts";

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());
const folder = join(directory.path, "web");
const script = 'console.log("catalog");\n'.repeat(100);
const page = "<!doctype html><title>Annals</title>";

let build: WebBuild = { building: false };
const web = { files: watchWebFiles(folder), build: () => build };
const { app } = openTestServer({}, undefined, undefined, web);
afterAll(() => app.close());

function writeBuild(html = page): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(directory.path, "secret.js"), "outside");
  writeFileSync(join(folder, "icon.svg"), "<svg/>");
  writeFileSync(join(folder, ".sources"), "hash");
  writeFileSync(join(folder, "assets/app-1.js"), script);
  writeFileSync(join(folder, "assets/app-1.js.br"), brotliCompressSync(script));
  writeFileSync(join(folder, "assets/app-1.js.gz"), gzipSync(script));
  writeFileSync(join(folder, "index.html"), html);
}

beforeEach(() => {
  build = { building: false };
  writeBuild();
});

describe("the page of the application", () => {
  test.each([
    "/",
    "/ui",
    "/ui/",
    "/ui/search?q=a",
    "/ui/entity/urn%3Ali%3Adataset%3A(a%2Fb,c,PROD)/columns",
    "/ui/index.html",
  ])("is served at %s", async (url) => {
    const reply = await app.inject(url);
    expect(reply.payload).toBe(page);
    expect(reply.statusCode).toBe(200);
    expect(reply.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "private, no-cache",
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
    });
    const policy = String(reply.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
  });

  test("is answered with 304 when the browser has it", async () => {
    const { headers } = await app.inject("/");
    const again = await app.inject({
      url: "/ui/browse",
      headers: { "if-none-match": headers.etag },
    });
    expect(again.statusCode).toBe(304);
  });

  test("is that of the newest build", async () => {
    await app.inject("/");
    writeBuild("<!doctype html><title>Newer</title>");
    expect((await app.inject("/")).payload).toContain("Newer");
  });

  test("rejects POST", async () => {
    const reply = await app.inject({ method: "POST", url: "/ui/search" });
    expect({ status: reply.statusCode, allow: reply.headers.allow }).toEqual({
      status: 405,
      allow: "GET, HEAD",
    });
  });
});

describe("a file of the application", () => {
  test.each([
    ["br", "gzip, deflate, br, zstd"],
    ["gzip", "gzip"],
    [undefined, "identity"],
  ] as const)("is sent in the coding %s to a browser that accepts %s", async (coding, accepted) => {
    const reply = await app.inject({
      url: "/ui/assets/app-1.js",
      headers: { "accept-encoding": accepted },
    });
    expect(reply.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      "content-length": String(reply.rawPayload.length),
      vary: "Accept-Encoding",
    });
    expect(reply.headers["content-encoding"]).toBe(coding);
    const file = { br: "app-1.js.br", gzip: "app-1.js.gz", none: "app-1.js" }[coding ?? "none"];
    expect(reply.rawPayload).toEqual(readFileSync(join(folder, "assets", file)));
  });

  test("has no body for HEAD", async () => {
    const reply = await app.inject({ method: "HEAD", url: "/ui/assets/app-1.js" });
    expect(reply.statusCode).toBe(200);
    expect(reply.payload).toBe("");
  });

  test("without a hash in its name is not cached", async () => {
    const reply = await app.inject("/ui/icon.svg");
    expect(reply.payload).toBe("<svg/>");
    expect(reply.headers).toMatchObject({
      "content-type": "image/svg+xml",
      "cache-control": "no-cache",
    });
  });

  test.each([
    "/ui/assets/app-2.js",
    "/ui/assets/app-1.js.br",
    "/ui/assets/..%2f..%2fsecret.js",
    "/ui/assets/%2e%2e/%2e%2e/secret.js",
    "/ui/assets/constructor",
  ])("is not found at %s", async (url) => {
    const reply = await app.inject(url);
    expect(reply.statusCode).toBe(404);
    expect(reply.json()).toMatchObject({ code: "not_found" });
  });

  test("that a newer build removed is not found", async () => {
    await app.inject("/");
    rmSync(join(folder, "assets/app-1.js"));
    expect((await app.inject("/ui/assets/app-1.js")).statusCode).toBe(404);
  });

  test("that only the build reads is not served", async () => {
    expect((await app.inject("/ui/.sources")).payload).toBe(page);
  });
});

describe("without a build", () => {
  beforeEach(() => rmSync(folder, { recursive: true }));

  test("the page says that it is being built, and reloads", async () => {
    build = { building: true };
    const reply = await app.inject("/");
    expect(reply.statusCode).toBe(200);
    expect(reply.payload).toContain("is being built");
    expect(reply.payload).toContain('http-equiv="refresh"');
    expect(reply.headers["cache-control"]).toBe("no-store");
  });

  test("the page shows why the build failed, as text", async () => {
    build = { building: false, failure: "<script>alert(1)</script>" };
    const reply = await app.inject("/ui/search");
    expect(reply.statusCode).toBe(503);
    expect(reply.payload).toContain("&lt;script&gt;alert(1)");
  });

  test("the page names the command that builds it", async () => {
    const reply = await app.inject("/");
    expect(reply.statusCode).toBe(503);
    expect(reply.payload).toContain("npm run build:web");
  });
});

test("without the application, the first page redirects to the documentation", async () => {
  const { app: bare } = openTestServer();
  const reply = await bare.inject("/");
  expect(reply.statusCode).toBe(302);
  expect(reply.headers.location).toBe("restli/docs");
  expect((await bare.inject("/ui/search")).statusCode).toBe(404);
  await bare.close();
});

test("a node without the role api does not serve the application", async () => {
  const { app: worker } = openTestServer({ servesApi: false }, undefined, undefined, web);
  expect((await worker.inject("/")).statusCode).toBe(503);
  await worker.close();
});
