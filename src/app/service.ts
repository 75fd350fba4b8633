/**
 * The composition root: a configuration becomes a running service. Opened from the log outwards and
 * closed from the server inwards, so that accepted requests finish before their store is closed.
 */
import { readFileSync } from "node:fs";
import type { ProcessOperations, Service } from "../cli/operations.ts";
import type { Config } from "../config/config.ts";
import { checkAddress } from "../http/listen.ts";
import type { Traces } from "../telemetry/traces.ts";
import { type Opening, openLogAndViews } from "./log-and-views.ts";
import { lockData } from "./open-log.ts";

/** Throws CatalogError when the service cannot start; then nothing stays open. */
export async function openService(
  config: Config,
  {
    logger,
    onMadeToken,
    projectorWorker,
  }: Parameters<ProcessOperations["openService"]>[1] & Pick<Opening, "projectorWorker">,
): Promise<Service> {
  const opened: Opening["opened"] = [];
  const close = async () => {
    for (const release of opened.splice(0).reverse()) await release();
  };
  if (projectorWorker !== undefined) opened.push(() => projectorWorker.terminate());
  try {
    await checkAddress(config);
    const lock = lockData(config);
    opened.push(() => lock.release());
    const traces = await tracesOf(config, opened);
    const opening: Opening = { logger, opened, traces, projectorWorker };
    const below = await openLogAndViews(config, { ...opening, meanwhile: loadRest });
    const { openCatalogAndHttp } = await loadRest();
    const address = await openCatalogAndHttp(config, below, {
      ...opening,
      version: version(),
      onMadeToken,
    });
    return { address: () => address, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Loaded while the projector's thread opens the views: the start waits for both. */
const loadRest = () => import("./catalog-and-http.ts");

/** Undefined if no collector is configured; then no code of traces is loaded. */
async function tracesOf(
  { tracesEndpoint: endpoint }: Config,
  opened: (() => unknown)[],
): Promise<Traces | undefined> {
  if (endpoint === "") return undefined;
  const { openTraces } = await import("../telemetry/open-traces.ts");
  const traces = openTraces({ endpoint, version: version() });
  opened.push(() => traces.close());
  return traces;
}

const version = (): string =>
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;
