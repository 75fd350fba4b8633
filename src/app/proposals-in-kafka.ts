/** Proposals that arrive in Kafka, where one is configured: they are taken as soon as it is there. */
import type { Catalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import { CatalogError } from "../core/errors.ts";
import { createEventCodec } from "../feed/event-codec.ts";
import type { SchemaRegistry } from "../feed/schema-registry.ts";
import type { TopicPlaces } from "../feed/topic-places.ts";
import { keepOpening } from "../storage/lazy-store.ts";
import type { Logger } from "../telemetry/logger.ts";
import { openIngestion, servesFeed } from "./stores.ts";

/** Between two attempts to reach Kafka. */
const pauseMs = 5_000;

interface ProposalsInKafka {
  /** How far they are read. Rejects `unavailable` while Kafka does not answer. */
  places(): Promise<readonly TopicPlaces[]>;
  close(): Promise<void>;
}

/** Undefined where this process takes none. */
export function takeProposals(
  config: Config,
  parts: {
    readonly catalog: Pick<Catalog, "ingest">;
    readonly schemaRegistry: SchemaRegistry;
    readonly logger: Logger;
  },
): ProposalsInKafka | undefined {
  if (!servesFeed(config)) return undefined;
  const { catalog, schemaRegistry, logger } = parts;
  const ingestion = keepOpening({
    open: () =>
      openIngestion(config, {
        codec: createEventCodec(schemaRegistry),
        logger,
        ingest: (proposals, caller) => catalog.ingest(proposals, caller),
      }),
    pauseMs,
    onFailure: (err) => logger.warn({ err }, "proposals in Kafka have to wait"),
  });
  return {
    async places() {
      const opened = ingestion.opened();
      if (opened !== undefined) return [await opened.places()];
      throw new CatalogError("unavailable", "Kafka could not be reached yet for its proposals", {
        hint: "Try again; what the service logs says why",
      });
    },
    close: ingestion.close,
  };
}
