/**
 * The servers that tests run against: `const neo4j = await reachStore("neo4j")`, then
 * `describe.skipIf("skipped" in neo4j)(`… on ${storeTitle("neo4j", neo4j)}`, …)`. A test keeps what it
 * writes under a name of its own and takes it away again; the server belongs to all.
 *
 * An address comes from ANNALS_TEST_NEO4J and the like, or from a file of such lines that
 * ANNALS_TEST_STORES_FILE names.
 */
import { readFileSync } from "node:fs";

export const storeNames = [
  "postgres",
  "kafka",
  "neo4j",
  "elasticsearch",
  "opensearch",
  "eventstoredb",
] as const;

export type StoreName = (typeof storeNames)[number];

export interface ReachedStore {
  readonly url: string;
  readonly from: "environment" | "testcontainers" | "registry packages";
  /** Known where this project chose it. */
  readonly version?: string;
}

/** Why there is none, as the end of a sentence. */
export interface SkippedStore {
  readonly skipped: string;
}

/** Rejects where REQUIRE_STORES names the store (or is `all`) and it cannot be had. */
export async function reachStore(name: StoreName): Promise<ReachedStore | SkippedStore> {
  const url = givenAddress(name);
  if (url !== undefined) return { url, from: "environment" };
  return { skipped: `${variableOf(name)} is not set` };
}

/** "neo4j 5.26.25", or the reason why not: for the names of tests. */
export function storeTitle(name: StoreName, store: ReachedStore | SkippedStore): string {
  if ("skipped" in store) return `${name} (${store.skipped})`;
  return store.version === undefined ? `${name} by its address` : `${name} ${store.version}`;
}

const variableOf = (name: StoreName): string => `ANNALS_TEST_${name.toUpperCase()}`;

function givenAddress(name: StoreName): string | undefined {
  const variable = variableOf(name);
  const direct = process.env[variable];
  if (direct) return direct;
  const file = process.env.ANNALS_TEST_STORES_FILE;
  if (!file) return undefined;
  const line = readFileSync(file, "utf8")
    .split("\n")
    .find((each) => each.startsWith(`${variable}=`));
  return line?.slice(variable.length + 1).trim() || undefined;
}
