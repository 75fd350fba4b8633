/**
 * The configurations of docs/reverse-proxy.md, in front of a real service. A proxy that this machine does not
 * have is skipped.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { request as secureRequest } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { encoded, proposal } from "../support/client.ts";
import { tokenOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

const page = readFileSync(new URL("../../docs/reverse-proxy.md", import.meta.url), "utf8");
const blocksOf = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(
    ([, text = ""]) => text,
  );
const blockOf = (language: string): string => blocksOf(language)[0] ?? "";

const host = "annals.example.org";
const bodyBytesMax = 4 * 2 ** 20;
/** Longer than a start of a proxy takes on a busy machine. */
const startMsMax = 60_000;

let service: RunningService;
let directory: TemporaryDirectory;
beforeAll(async () => {
  directory = temporaryDirectory("annals-proxies");
  service = await runningService({
    auth: "on",
    allowedHost: host,
    bodyBytesMax: String(bodyBytesMax),
  });
  const files = ["-keyout", file("tls.key"), "-out", file("tls.pem")];
  const kind = ["-newkey", "rsa:2048", "-nodes", "-x509", "-days", "2", "-subj", `/CN=${host}`];
  const names = ["-addext", `subjectAltName=DNS:${host}`];
  spawnSync("openssl", ["req", ...kind, ...names, ...files]);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

const file = (name: string): string => join(directory.path, name);

/** The text with the address of the service, the port and the files of this test. */
const adapted = (text: string, port: number): string =>
  text
    .replaceAll("127.0.0.1:8080", new URL(service.address).host)
    .replaceAll(`/etc/ssl/${host}`, file("tls"))
    .replaceAll("/etc/traefik/annals.yaml", file("annals.yaml"))
    .replace("listen 443", `listen 127.0.0.1:${port}`)
    .replace('address: ":443"', `address: "127.0.0.1:${port}"`);

interface Proxy {
  readonly name: string;
  readonly version: readonly string[];
  /** Writes its files and returns its arguments. */
  configure(port: number): readonly string[];
}

const nginx: Proxy = {
  name: "nginx",
  version: ["-v"],
  configure(port) {
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((name) => `${name}_temp_path ${file(`nginx-${name}`)};`)
      .join("\n");
    const own = `user root; pid ${file("nginx.pid")}; error_log stderr; daemon off; events {}`;
    const site = adapted(blockOf("nginx"), port);
    writeFileSync(file("nginx.conf"), `${own}\nhttp { access_log off; ${temporary}\n${site}\n}`);
    return ["-e", "stderr", "-p", directory.path, "-c", file("nginx.conf")];
  },
};

const caddy: Proxy = {
  name: "caddy",
  version: ["version"],
  configure(port) {
    const own = [
      ...["admin off", "local_certs", "skip_install_trust", "auto_https disable_redirects"],
      ...[`https_port ${port}`, `storage file_system ${file("caddy")}`],
    ].join("\n\t");
    const site = adapted(blockOf("caddyfile"), port)
      .replace(/^\{/, `{\n\t${own}`)
      .replace(`${host} {`, `${host} {\n\tbind 127.0.0.1`);
    writeFileSync(file("Caddyfile"), site);
    return ["run", "--adapter", "caddyfile", "--config", file("Caddyfile")];
  },
};

const traefik: Proxy = {
  name: "traefik",
  version: ["version"],
  configure(port) {
    const [settings = "", routes = ""] = blocksOf("yaml").map((text) => adapted(text, port));
    writeFileSync(file("traefik.yaml"), settings);
    writeFileSync(file("annals.yaml"), routes);
    return [`--configfile=${file("traefik.yaml")}`];
  },
};

const freePort = async (): Promise<number> => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
};

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

interface Received {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const open = (port: number, { method = "GET", path, headers = {}, body }: Sent) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const to = { host: "127.0.0.1", port, servername: host, rejectUnauthorized: false };
    const all = { Host: host, "Content-Type": "application/json", ...headers };
    secureRequest({ ...to, method, path, headers: all, agent: false }, resolve)
      .on("error", reject)
      .end(body);
  });

async function send(port: number, sent: Sent): Promise<Received> {
  const response = await open(port, sent);
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part);
  const { statusCode: status, headers } = response;
  return { status, headers, text: Buffer.concat(parts).toString() };
}

/** Waits until the stream has the text. */
async function arrival(response: IncomingMessage, text: string): Promise<void> {
  let seen = "";
  for await (const part of response) {
    seen += part;
    if (seen.includes(text)) return;
  }
  throw new Error(`the stream ended without ${text}: ${seen}`);
}

const isInstalled = ({ name, version }: Proxy): boolean => spawnSync(name, version).status === 0;

describe.each([nginx, caddy, traefik])("behind $name", (proxy) => {
  let port = 0;
  let child: ChildProcess | undefined;
  const installed = isInstalled(proxy);

  beforeAll(async () => {
    if (!installed) return;
    port = await freePort();
    let output = "";
    child = spawn(proxy.name, proxy.configure(port), { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (text) => (output += text));
    const until = Date.now() + startMsMax;
    while ((await send(port, { path: "/health/live" }).catch(() => undefined))?.status !== 200) {
      if (child.exitCode !== null || Date.now() > until) throw new Error(output);
      await sleep(50);
    }
  });
  beforeEach(({ skip }) => {
    if (!installed) skip(`${proxy.name} is not installed on this machine`);
  });
  afterAll(async () => {
    if (child === undefined || child.exitCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });

  const token = () => tokenOf(service.directory);
  const write = (urn: string, value: object) =>
    send(port, {
      method: "POST",
      path: "/aspects?action=ingestProposal",
      headers: token(),
      body: JSON.stringify({ proposal: proposal(urn, "datasetProperties", value) }),
    });

  test("a request without a token is rejected, one with a token is answered", async () => {
    const path = "/entitiesV2/urn:li:corpuser:datahub";
    expect((await send(port, { path })).status).toBe(401);
    expect((await send(port, { path, headers: token() })).status).toBe(200);
  });

  test.each([
    "urn:li:dataset:(urn:li:dataPlatform:s3,s3://bucket/a/../b//c,PROD)",
    "urn:li:dataset:(urn:li:dataPlatform:s3,a;b%2Fc?d#e+f g,PROD)",
  ])("the urn %s in a path arrives unchanged", async (urn) => {
    const name = `of ${urn}`;
    expect((await write(urn, { name })).status).toBe(200);
    const path = `/entitiesV2/${encoded(urn)}?aspects=List(datasetProperties)`;
    const { text } = await send(port, { path, headers: token() });
    expect(JSON.parse(text)).toMatchObject({
      urn,
      aspects: { datasetProperties: { value: { name } } },
    });
  });

  test("a urn whose slashes are not encoded arrives unchanged", async () => {
    const urn = "urn:li:dataset:(urn:li:dataPlatform:s3,s3://plain//path,PROD)";
    await write(urn, { name: "plain" });
    const { text } = await send(port, { path: `/entitiesV2/${urn}`, headers: token() });
    expect(JSON.parse(text)).toMatchObject({ urn, aspects: { datasetProperties: {} } });
  });

  test("a page of the service's own origin is accepted, others are rejected", async () => {
    const statusFor = async (headers: Record<string, string>) =>
      (await send(port, { path: "/config", headers })).status;
    expect(await statusFor({ Origin: `https://${host}` })).toBe(200);
    expect(await statusFor({ Origin: "https://evil.example" })).toBe(403);
    const pretended = { Origin: `http://${host}`, "X-Forwarded-Proto": "http" };
    expect(await statusFor(pretended)).toBe(403);
  });

  test("responses are compressed by the service alone, and not for DataHub's proxy", async () => {
    const coding = async (headers: Record<string, string>) =>
      (await send(port, { path: "/openapi.json", headers })).headers["content-encoding"];
    expect(await coding({ "Accept-Encoding": "br" })).toBe("br");
    expect(await coding({ "Accept-Encoding": "zstd" })).toBe("zstd");
    const marked = { "Accept-Encoding": "gzip", "X-DataHub-Request-Source": "datahub-frontend" };
    expect(await coding(marked)).toBeUndefined();
  });

  test.each(["text/event-stream", "application/x-ndjson"])(
    "a change reaches a reader of %s while the stream is open",
    async (Accept) => {
      const stream = await open(port, { path: "/changes", headers: { ...token(), Accept } });
      const name = `change for ${Accept}`;
      const arrived = arrival(stream, name);
      await write("urn:li:dataset:(urn:li:dataPlatform:s3,followed,PROD)", { name });
      await arrived;
      stream.destroy();
    },
  );

  test("large and compressed bodies reach the service, which rejects those that are too large", async () => {
    const question = { method: "POST", path: "/entities?action=exists" };
    const bodyOf = (bytes: number) => `{"urn":"urn:li:corpuser:datahub"${" ".repeat(bytes)}}`;
    const large = bodyOf(bodyBytesMax - 1_000);
    expect((await send(port, { ...question, headers: token(), body: large })).status).toBe(200);
    const headers = { ...token(), "Content-Encoding": "gzip" };
    expect((await send(port, { ...question, headers, body: gzipSync(large) })).status).toBe(200);
    const body = gzipSync(bodyOf(bodyBytesMax + 1_000));
    const rejected = await send(port, { ...question, headers, body });
    expect(rejected.status).toBe(413);
    expect(JSON.parse(rejected.text)).toMatchObject({ status: 413, code: "too_large" });
  });

  test("a target of 40,000 characters reaches the service", async () => {
    const urns = Array.from({ length: 1_100 }, (_, n) =>
      encoded(`urn:li:corpuser:user-${n}-of-many`),
    );
    const path = `/entitiesV2?ids=List(${urns.join(",")})`;
    expect(path.length).toBeGreaterThan(40_000);
    const { status } = await send(port, { path, headers: token() });
    expect(status).toBe(200);
  });
});

test("the configurations forward to the default port and use the host name of the page", () => {
  for (const language of ["nginx", "caddyfile"]) {
    expect(blockOf(language)).toContain("127.0.0.1:8080");
    expect(blockOf(language)).toContain(host);
  }
  const [, routes = ""] = blocksOf("yaml");
  expect(parse(routes).http.services.annals.loadBalancer.servers).toEqual([
    { url: "http://127.0.0.1:8080" },
  ]);
});

test("a proxy closes idle connections before the service does", async () => {
  const response = await new Promise<IncomingMessage>((resolve) => {
    const headers = { Connection: "keep-alive" };
    request(`${service.address}/health/live`, { headers }, resolve).end();
  });
  response.resume();
  const seconds = Number(/timeout=(\d+)/.exec(String(response.headers["keep-alive"]))?.[1]);
  const configured = [/keepalive_timeout (\d+)s/, /keepalive (\d+)s/, /idleConnTimeout: (\d+)s/];
  for (const pattern of configured) {
    expect(Number(pattern.exec(page)?.[1])).toBeLessThan(seconds);
  }
  expect(page).toContain(`idle for ${seconds} seconds`);
});
