/**
 * The findings of `annals check` for unsuitable search servers; suitable servers are in
 * elasticsearch-view.test.ts.
 */
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { checkElasticsearch } from "../../src/storage/elasticsearch/check.ts";
import { reachStore, storeTitle } from "../support/stores.ts";

const asker = { view: "search", setting: "ANNALS_SEARCH" };
const check = (url: string) => checkElasticsearch({ url, name: "annals" }, asker);

const certificateOf = (kind: "key" | "crt") =>
  readFileSync(
    fileURLToPath(new URL(`../support/eventstoredb-server/test-server.${kind}`, import.meta.url)),
  );

let servers: Server[] = [];

afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers = [];
});

/** The host of a server, with a user before it. */
async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return `ada:s3cret@127.0.0.1:${port}`;
}

type Answer = readonly [status: number, body: object];

/** Responses by method and prefix of the path; the first match is used. */
async function answering(
  answers: readonly (readonly [request: string, answer: Answer])[],
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const listener: RequestListener = (request, response) => {
    const asked = `${request.method} ${request.url}`;
    const [, [status, body]] = answers.find(([begin]) => asked.startsWith(begin)) ?? [
      "",
      [404, { error: "no such thing" }],
    ];
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
  return listening(createServer(listener));
}

const elastic = { "x-elastic-product": "Elasticsearch" };
const nodes = (version: string) => ["GET /_nodes", [200, { nodes: { a: { version } } }]] as const;
const first = (version: object, more: object = {}) =>
  ["GET / ", [200, { version, ...more }]] as const;
const page = (version: object, more: object = {}) => ["GET /", first(version, more)[1]] as const;
const denied = [
  403,
  { error: { type: "security_exception", reason: "action is unauthorized for user [ada]" } },
] as const;

describe("annals check of an unsuitable search server", () => {
  test("a server that is too old, Elasticsearch 7.10, is reported with its version", async () => {
    const media = [406, { error: "Content-Type header is not supported" }] as const;
    let asked = 0;
    const listener: RequestListener = (request, response) => {
      asked++;
      const plain = !String(request.headers.accept).includes("vnd.elasticsearch");
      const [status, body] = plain
        ? page({ number: "7.10.2" }, { tagline: "You Know, for Search" })[1]
        : media;
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const host = await listening(createServer(listener));
    expect(await check(`http://${host}`)).toEqual({
      version: "elasticsearch 7.10.2",
      findings: [expect.stringMatching(/is Elasticsearch 7\.10\.2: upgrade it to 8 or later\.$/)],
    });
    expect(asked).toBeGreaterThan(1);
  });

  test.each([
    ["http", elastic, page({ number: "7.17.28" }), /Elasticsearch 7\.17\.28: upgrade it to 8/],
    [
      "opensearch+http",
      {},
      page({ number: "1.3.20", distribution: "opensearch" }),
      /OpenSearch 1\.3\.20: upgrade it to 2/,
    ],
    [
      "opensearch+http",
      elastic,
      page({ number: "8.19.0" }),
      /is Elasticsearch 8\.19\.0, not OpenSearch: remove "opensearch\+" from ANNALS_SEARCH\.$/,
    ],
    [
      "http",
      {},
      page({ number: "2.19.1", distribution: "opensearch" }),
      /is OpenSearch 2\.19\.1, not Elasticsearch: begin ANNALS_SEARCH with "opensearch\+"\.$/,
    ],
    ["http", {}, page({ number: "1" }), /neither Elasticsearch nor OpenSearch: name one in ANNALS/],
  ] as const)("by what it is (%s, %s, %s)", async (scheme, headers, answer, finding) => {
    const { number } = (answer[1][1] as { version: { number: string } }).version;
    const known = number === "1" ? [] : [nodes(number)];
    const host = await answering([...known, answer], headers);
    const { findings } = await check(`${scheme}://${host}`);
    expect(findings).toEqual([expect.stringMatching(finding)]);
  });

  test("the missing privileges of a read-only user are reported", async () => {
    const health = ["GET /_cluster/health", [200, { status: "green" }]] as const;
    const reading = [nodes("8.19.0"), health] as const;
    const host = await answering(
      [...reading, ["GET /", page({ number: "8.19.0" })[1]], ["PUT /annals.check", denied]],
      elastic,
    );
    const { version, findings } = await check(`http://${host}`);
    expect(version).toBe("elasticsearch 8.19.0");
    expect(findings[0]).toBe(
      'The user may not make an index: give it the cluster privilege "monitor", and "all" on the indices "annals.*".',
    );
  });

  test("a server that denies its user the server information is reported", async () => {
    const host = await answering([["GET /", denied]], elastic);
    expect((await check(`http://${host}`)).findings).toEqual([
      expect.stringMatching(/^The user may not ask what the server is: .*"monitor"/),
    ]);
    const other = await answering([["GET /", denied]]);
    expect((await check(`opensearch+http://${other}`)).findings).toEqual([
      expect.stringMatching(/^The user may not ask what the server is: .*"cluster_monitor"/),
    ]);
  });

  test.each(["http", "opensearch+http"])(
    "a server that does not know the user is reported (%s)",
    async (scheme) => {
      const host = await answering([["", [401, { error: { reason: "unable to authenticate" } }]]]);
      await rejected(`${scheme}://${host}`, /right user and password in ANNALS_SEARCH/);
    },
  );

  test.each(["", "opensearch+"])(
    "another product, or no search server, is reported (%shttp)",
    async (product) => {
      const web = await listening(
        createServer((_, response) => response.writeHead(404).end("<html>")),
      );
      const { findings } = await check(`${product}http://${web}`);
      expect(findings).toEqual([expect.stringMatching(/neither Elasticsearch nor OpenSearch/)]);
      await rejected(`${product}https://${web}`, /does not use TLS on that port.*http:\/\//);
      await rejected(`${product}http://ada:s3cret@127.0.0.1:1`, /ECONNREFUSED.*ANNALS_SEARCH/);
      const tls = { key: certificateOf("key"), cert: certificateOf("crt") };
      const secure = await listening(createSecureServer(tls));
      await rejected(`${product}http://${secure}`, /closes connections at once.*https:\/\//);
      await rejected(
        `${product}https://${secure}`,
        /certificate signed by an unknown authority.*ANNALS_STORE_CERTIFICATES_FILE/,
      );
    },
  );

  async function rejected(url: string, text: RegExp): Promise<void> {
    const error = await check(url).then(
      () => undefined,
      (failure) => failure,
    );
    expect(error).toMatchObject({ code: "unavailable", text: expect.stringMatching(text) });
    expect(`${error.text} ${error.stack}`).not.toContain("s3cret");
  }
});

for (const [name, finding] of [
  ["elasticsearch", /is Elasticsearch .*, not OpenSearch: remove "opensearch\+" from/],
  ["opensearch", /is OpenSearch .*, not Elasticsearch: begin ANNALS_SEARCH with "opensearch\+"/],
] as const) {
  const store = await reachStore(name);
  // The test needs a server.
  test.skipIf("skipped" in store)(
    `${storeTitle(name, store)} is distinguished from the other product`,
    async () => {
      const url = "skipped" in store ? "" : store.url;
      const { findings } = await check(name === "elasticsearch" ? `opensearch+${url}` : url);
      expect(findings).toEqual([expect.stringMatching(finding)]);
    },
  );
}
