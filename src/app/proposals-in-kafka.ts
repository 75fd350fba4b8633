/** Ingests proposals from Kafka, if it is configured. Starts as soon as Kafka answers. */
import type { Catalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import { CatalogError } from "../core/errors.ts";
import { createEventCodec } from "../feed/event-codec.ts";
import type { SchemaRegistry } from "../feed/schema-registry.ts";
import type { TopicOffsets } from "../feed/topic-offsets.ts";
import { keepOpening } from "../storage/lazy-store.ts";
import type { Logger } from "../telemetry/logger.ts";
import { openIngestion, servesFeed } from "./stores.ts";

/** Between two attempts to reach Kafka. */
const pauseMs = 5_000;

interface ProposalsInKafka {
  /** Committed offsets of the topics. Rejects `unavailable` while Kafka does not answer. */
  offsets(): Promise<readonly TopicOffsets[]>;
  close(): Promise<void>;
}

/** Undefined if this process does not read proposals from Kafka. */
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
    onFailure: (err) => logger.warn({ err }, "cannot read proposals from Kafka; retrying"),
  });
  return {
    async offsets() {
      const opened = ingestion.opened();
      if (opened !== undefined) return [await opened.offsets()];
      throw new CatalogError(
        "unavailable",
        "the consumer of proposals has not connected to Kafka yet",
        {
          hint: "Try again; the log of the service has the cause",
        },
      );
    },
    close: ingestion.close,
  };
}
