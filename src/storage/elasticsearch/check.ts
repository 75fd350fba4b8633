/**
 * `annals check` for Elasticsearch and OpenSearch. Checks that the server responds, that it is the
 * product of the address's scheme, and that it permits the catalog's requests, on a temporary
 * index.
 */
import { randomUUID } from "node:crypto";
import { errors } from "@elastic/elasticsearch";
import { CatalogError } from "../../core/errors.ts";
import type { ServerAddress } from "../view-origin.ts";
import { bulk } from "./bulk.ts";
import { blockHint, connect, type SearchServer, statusOf, type ViewSetting } from "./client.ts";

const OLDEST = { elasticsearch: 8, opensearch: 2 } as const;

type Product = SearchServer["product"];

interface Identity {
  /** Undefined if the server does not report its product. */
  readonly product: Product | undefined;
  readonly version: string;
}

/**
 * Rejects `unavailable` when the server cannot be reached. Findings are sentences; an empty list
 * means that the server is usable.
 */
export async function checkElasticsearch(
  address: ServerAddress,
  asker: ViewSetting,
): Promise<{ version: string; findings: readonly string[] }> {
  const server = connect(address, asker);
  try {
    const is = await identify(server, address, asker);
    const wrong = serverFindings(is, server, asker);
    const findings =
      wrong === undefined
        ? [...(await health(server, address.name)), ...(await trialFindings(server, address.name))]
        : [wrong];
    return { version: `${is.product ?? server.product} ${is.version}`, findings };
  } catch (error) {
    if (statusOf(error) !== FORBIDDEN) throw error;
    return {
      version: "",
      findings: [missingPermission("ask what the server is", server, address.name)],
    };
  } finally {
    await server.close();
  }
}

const FORBIDDEN = 403;

/** Problems of the server that make all further checks fail. */
function serverFindings(
  { product, version }: Identity,
  server: SearchServer,
  { setting }: ViewSetting,
): string | undefined {
  const oldest = OLDEST[server.product];
  if (product === undefined) {
    return `The server at ${hostOf(server)} is neither Elasticsearch nor OpenSearch: name one in ${setting}.`;
  }
  if (product !== server.product) {
    const remedy =
      product === "opensearch"
        ? `begin ${setting} with "opensearch+"`
        : `remove "opensearch+" from ${setting}`;
    return `The server at ${hostOf(server)} is ${NAMES[product]} ${version}, not ${NAMES[server.product]}: ${remedy}.`;
  }
  if (Number.parseInt(version, 10) >= oldest) return undefined;
  return `The server at ${hostOf(server)} is ${NAMES[product]} ${version}: upgrade it to ${oldest} or later.`;
}

const NAMES = { elasticsearch: "Elasticsearch", opensearch: "OpenSearch" } as const;

const hostOf = ({ where }: SearchServer): string => where.replace(/^.* at /, "");

interface FirstPage {
  readonly tagline?: string;
  readonly version?: { readonly number?: string; readonly distribution?: string };
}

/**
 * Bypasses the client's product check, whose error does not name the product. The root endpoint has
 * product and version; for distributions without it, the nodes have the version.
 */
async function identify(
  server: SearchServer,
  address: ServerAddress,
  asker: ViewSetting,
): Promise<Identity> {
  if (server.product === "opensearch") return identityOf(server);
  try {
    await server.send("opened", (client) => client.nodes.info({ metric: "os" }));
  } catch (error) {
    // An older server rejects the media types of the client; the client rejects other products.
    const cause = error instanceof CatalogError ? error.cause : undefined;
    if (!(cause instanceof errors.ProductNotSupportedError) && !isRejected(error)) throw error;
  }
  const plain = connect({ ...address, url: `opensearch+${address.url}` }, asker);
  try {
    return await identityOf(plain);
  } finally {
    await plain.close();
  }
}

/** The server answered, accepted the credentials and rejected the request. */
function isRejected(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status >= 400 && status < 500 && !NOT_PRODUCT_ERRORS.has(status);
}

/** Statuses that say nothing about the product: missing credentials, busy server. */
const NOT_PRODUCT_ERRORS: ReadonlySet<number> = new Set([401, 429]);

async function identityOf(server: SearchServer): Promise<Identity> {
  const page = await firstPage(server);
  const { number, distribution } = page.body?.version ?? {};
  if (distribution === "opensearch") return { product: "opensearch", version: number ?? "unknown" };
  const elastic = page.elastic || page.body?.tagline === "You Know, for Search";
  if (elastic && number !== undefined) return { product: "elasticsearch", version: number };
  try {
    const { body, headers } = await server.send("opened", (client) =>
      client.nodes.info({ metric: "os" }, { meta: true }),
    );
    const version = Object.values(body.nodes ?? {})[0]?.version;
    if (version === undefined) return { product: undefined, version: "" };
    const own = headers["x-elastic-product"] === "Elasticsearch" || elastic;
    return { product: own ? "elasticsearch" : "opensearch", version };
  } catch (error) {
    if (statusOf(error) === FORBIDDEN || !isRejected(error)) throw error;
    return { product: undefined, version: "" };
  }
}

/** Undefined if there is no such page. */
async function firstPage(
  server: SearchServer,
): Promise<{ readonly body?: FirstPage; readonly elastic: boolean }> {
  try {
    const { body, headers } = await server.send("opened", (client) =>
      client.transport.request<FirstPage>({ method: "GET", path: "/" }, { meta: true }),
    );
    return { body, elastic: headers?.["x-elastic-product"] === "Elasticsearch" };
  } catch (error) {
    if (!isRejected(error)) throw error;
    return { elastic: false };
  }
}

/** The error of a missing permission, with the required rights. */
const missingPermission = (what: string, server: SearchServer, name: string): string =>
  `The user may not ${what}: ${RIGHTS[server.product](name)}.`;

const RIGHTS: Readonly<Record<Product, (name: string) => string>> = {
  elasticsearch: (name) =>
    `give it the cluster privilege "monitor", and "all" on the indices "${name}.*"`,
  opensearch: (name) =>
    `give it the cluster permissions "cluster_monitor" and "cluster_composite_ops", and "indices_all" on the indices "${name}.*"`,
};

async function health(server: SearchServer, name: string): Promise<readonly string[]> {
  const { status } = await server
    .send("read", (client) => client.cluster.health())
    .catch((error) => {
      if (statusOf(error) !== FORBIDDEN) throw error;
      return { status: FORBIDDEN };
    });
  if (status === FORBIDDEN)
    return [missingPermission("ask for the cluster's health", server, name)];
  if (status !== "red") return [];
  return [
    `${server.where} is red: some indices cannot be read or written. See its cluster health.`,
  ];
}

/** Creates an index, writes, searches, moves an alias, and drops the index. */
async function trialFindings(server: SearchServer, name: string): Promise<readonly string[]> {
  const index = `${name}.check.${randomUUID()}`;
  const [writing, reading] = [`${index}.w`, `${index}.r`];
  const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      "make an index",
      () =>
        server.send("written", (client) =>
          client.indices.create({
            index,
            aliases: { [writing]: {} },
            mappings: { dynamic: false },
          }),
        ),
    ],
    ["write a document", () => written(server, writing)],
    [
      "refresh an index",
      () => server.send("written", (client) => client.indices.refresh({ index })),
    ],
    [
      "move an alias",
      () =>
        server.send("written", (client) =>
          client.indices.updateAliases({ actions: [{ add: { index, alias: reading } }] }),
        ),
    ],
    ["search", () => server.send("read", (client) => client.search({ index: reading, size: 1 }))],
    ["weigh an index", () => server.send("read", (client) => client.indices.stats({ index }))],
  ];
  const findings: string[] = [];
  for (const [what, step] of steps) {
    const finding = await step().then(
      () => undefined,
      (error) =>
        statusOf(error) === FORBIDDEN && blockHint(textOf(error)) === undefined
          ? missingPermission(what, server, name)
          : `The catalog could not ${what}: ${textOf(error)}.`,
    );
    if (finding === undefined) continue;
    findings.push(finding);
    break;
  }
  await server
    .send("written", (client) => client.indices.delete({ index, ignore_unavailable: true }))
    .catch((error) => findings.push(`The catalog could not drop an index: ${textOf(error)}.`));
  return findings;
}

async function written(server: SearchServer, alias: string): Promise<void> {
  const { failures } = await bulk(server, [{ alias, id: "1", version: 1, document: "{}" }]);
  const [first] = failures;
  if (first !== undefined) throw new CatalogError("unavailable", first.reason);
}

const textOf = (error: unknown): string =>
  error instanceof CatalogError ? error.text : String(error);
