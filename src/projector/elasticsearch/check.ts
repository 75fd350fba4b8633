/**
 * What `annals check` says of a server of Elasticsearch or OpenSearch: that it answers, what it is,
 * and whether it lets the catalog do what it needs, which is tried out under a name of its own.
 */
import { randomUUID } from "node:crypto";
import { CatalogError } from "../../core/errors.ts";
import type { ServerPlace } from "../view-origin.ts";
import { bulk } from "./bulk.ts";
import { type Asker, connect, type SearchServer } from "./client.ts";

const OLDEST = { elasticsearch: 8, opensearch: 2 } as const;

/** Rejects `unavailable` when the server cannot be reached. Findings are sentences; none: all is well. */
export async function checkElasticsearch(
  place: ServerPlace,
  asker: Asker,
): Promise<{ version: string; findings: readonly string[] }> {
  const server = connect(place, asker);
  try {
    const version = await versionOf(server);
    const findings: string[] = [];
    const oldest = OLDEST[server.product];
    if (Number.parseInt(version, 10) < oldest) {
      findings.push(`${server.where} is version ${version}; ${oldest} is the oldest that will do.`);
    }
    findings.push(...(await health(server)), ...(await tried(server, place.name)));
    return { version: `${server.product} ${version}`, findings };
  } finally {
    await server.close();
  }
}

/** Distributions without the page that tells it have nodes that do. */
async function versionOf(server: SearchServer): Promise<string> {
  const info = await server.ask("opened", (client) => client.nodes.info({ metric: "os" }));
  return Object.values(info.nodes)[0]?.version ?? "unknown";
}

async function health(server: SearchServer): Promise<readonly string[]> {
  const { status } = await server.ask("read", (client) => client.cluster.health());
  if (status !== "red") return [];
  return [
    `${server.where} is red: some indices cannot be read or written. See its cluster health.`,
  ];
}

/** Makes an index, writes, finds, moves an alias, and drops it. */
async function tried(server: SearchServer, name: string): Promise<readonly string[]> {
  const index = `${name}.check.${randomUUID()}`;
  const [writing, reading] = [`${index}.w`, `${index}.r`];
  const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      "make an index",
      () =>
        server.ask("written", (client) =>
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
      () => server.ask("written", (client) => client.indices.refresh({ index })),
    ],
    [
      "move an alias",
      () =>
        server.ask("written", (client) =>
          client.indices.updateAliases({ actions: [{ add: { index, alias: reading } }] }),
        ),
    ],
    ["search", () => server.ask("read", (client) => client.search({ index: reading, size: 1 }))],
    ["weigh an index", () => server.ask("read", (client) => client.indices.stats({ index }))],
  ];
  const findings: string[] = [];
  for (const [what, step] of steps) {
    const finding = await step().then(
      () => undefined,
      (error) => `The catalog could not ${what}: ${textOf(error)}.`,
    );
    if (finding === undefined) continue;
    findings.push(finding);
    break;
  }
  await server
    .ask("written", (client) => client.indices.delete({ index, ignore_unavailable: true }))
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
