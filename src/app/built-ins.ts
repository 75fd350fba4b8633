/** Writes the built-in entities of a service to its log. Returns the entities that writes may not change. */
import { undeletableOf } from "../auth/access/undeletable-entities.ts";
import { type FixedPolicies, fixedPoliciesOf } from "../auth/policies/fixed-policies.ts";
import { readBuiltInEntities, writeBuiltInEntities } from "../catalog/access/built-in-entities.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import { CatalogError } from "../core/errors.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { LogAndViews } from "./log-and-views.ts";

interface BuiltIns {
  readonly fixedPolicies: FixedPolicies;
  /** Urns. */
  readonly undeletableEntities: ReadonlySet<string>;
}

interface Parts {
  readonly catalog: Pick<Catalog, "ingest">;
  readonly logger: Logger;
  readonly systemActor: string;
}

/**
 * Writes the built-in entities that the log lacks, if the node serves the API. The service starts even
 * when the log rejects writes.
 */
export async function openBuiltIns(
  config: Config,
  { model, log }: Pick<LogAndViews, "model" | "log">,
  { catalog, logger, systemActor }: Parts,
): Promise<BuiltIns> {
  const stamp = { time: Date.now(), actor: systemActor };
  const entities = readBuiltInEntities(model, config.urnNamespace, stamp);
  if (config.roles.includes("api") && config.builtInEntities === "on") {
    try {
      const written = await writeBuiltInEntities(entities, { log, catalog });
      if (written > 0) logger.info({ entities: written }, "built-in entities written");
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      logger.warn({ err: error }, "built-in entities not written; the next start tries again");
    }
  }
  return {
    fixedPolicies: fixedPoliciesOf(entities),
    undeletableEntities: undeletableOf(entities),
  };
}
