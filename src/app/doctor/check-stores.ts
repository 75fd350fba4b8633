/** Checks of the configured stores for `annals check`. An unreachable store is a finding: all findings are reported at once. */
import type { StoreCheck } from "../../cli/operations.ts";
import type { Config } from "../../config/config.ts";
import { embedded } from "../../config/kinds.ts";
import { variableOf } from "../../config/settings.ts";
import { CatalogError, messageOf } from "../../core/errors.ts";
import { withoutPassword } from "../../lib/connection-string.ts";
import {
  requireCertificates,
  serverAt,
  serverOf,
  type ViewName,
  viewNames,
} from "../store-locations.ts";
import { checkDirectory } from "./check-directory.ts";

type Checked = Awaited<StoreCheck["checking"]>;

export function checkStores(config: Config): readonly StoreCheck[] {
  requireCertificates(config);
  const stores = ["log", ...viewNames] as const;
  const servers = stores
    .filter((store) => config[store] !== embedded)
    .map((store) =>
      checkOf(store, withoutPassword(config[store]), () => checkStore(config, store)),
    );
  const own = stores.filter((store) => config[store] === embedded);
  const directory = checkOf("directory", config.data, () => checkDirectory(config, own));
  const kafka =
    config.kafka === ""
      ? []
      : [checkOf("kafka", withoutPassword(config.kafka), () => checkKafkaAt(config))];
  return [directory, ...servers, ...kafka];
}

function checkOf(store: string, place: string, ask: () => Promise<Checked>): StoreCheck {
  return { store, place, checking: ask().catch(unreachable) };
}

function unreachable(error: unknown): Checked {
  if (error instanceof CatalogError) return { version: "", findings: [error.text] };
  // The other stores are still checked.
  const why = messageOf(error);
  return { version: "", findings: [`It could not be checked: ${why}`] };
}

async function checkStore(config: Config, store: "log" | ViewName): Promise<Checked> {
  switch (store) {
    case "log": {
      const { checkEventStore } = await import("../../log/eventstoredb/check.ts");
      return checkEventStore({ connection: config.log });
    }
    case "aspects": {
      const { checkPostgres } = await import("../../views/aspects/postgres/check.ts");
      return checkPostgres(serverOf(config, store));
    }
    case "graph": {
      const { checkNeo4j } = await import("../../views/graph/neo4j/check.ts");
      return checkNeo4j(serverOf(config, store));
    }
    case "timeseries":
    case "search": {
      const { checkElasticsearch } = await import("../../storage/elasticsearch/check.ts");
      return checkElasticsearch(serverOf(config, store), askerOf(store));
    }
  }
}

const askerOf = (view: ViewName) => ({ view, setting: variableOf(view) });

async function checkKafkaAt(config: Config): Promise<Checked> {
  const { checkKafka } = await import("../../feed/kafka/check.ts");
  return checkKafka(serverAt(config, config.kafka));
}
