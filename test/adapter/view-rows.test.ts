/** Views in PostgreSQL, Neo4j and Elasticsearch are verified as embedded ones are. */
import { describe } from "vitest";
import { reachStore, storeTitle } from "../support/stores.ts";
import { storedDamages, tabledDamages, viewRowsSuite } from "./view-rows.ts";
import { elasticsearchViews, neo4jViews, postgresViews } from "./view-rows-places.ts";

const names = ["postgres", "neo4j", "elasticsearch"] as const;
const stores = await Promise.all(names.map((name) => reachStore(name)));
const urls = stores.flatMap((store) => ("skipped" in store ? [] : [store.url]));
const titles = names.map((name, n) => storeTitle(name, stores[n] ?? { skipped: "" }));

// The test needs all servers; the end of the run lists the missing ones.
describe.skipIf(urls.length < names.length)("views in servers", () => {
  viewRowsSuite(
    `on ${titles.join(", ")}`,
    async () => {
      const [postgres = "", neo4j = "", elasticsearch = ""] = urls;
      const tables = await postgresViews(postgres);
      const { name } = tables.place;
      const graph = await neo4jViews(neo4j, name);
      const search = await elasticsearchViews(elasticsearch, name, "search");
      const timeseries = await elasticsearchViews(elasticsearch, name, "timeseries");
      const aspects = {
        damage: (statement: string) =>
          tables.change(statement.replaceAll("{view}", `"${name}".view`)),
      };
      const places = { aspects, graph, search, timeseries };
      return {
        settings: {
          ...{ aspects: postgres, graph: neo4j, storeName: name },
          ...{ search: elasticsearch, timeseries: elasticsearch },
        },
        damage: (view, statement) => places[view].damage(statement),
        async remove() {
          for (const one of [tables, graph, search, timeseries]) await one.remove();
        },
      };
    },
    {
      damages: [...tabledDamages, ...storedDamages],
      beyond: [
        ["aspects", "UPDATE {entity_kind} SET living = living + 5"],
        ["graph", "MATCH (n:LABEL) SET n.type = 'tag'"],
        ["search", "index dropped"],
        ["timeseries", "index dropped"],
      ],
    },
  );
});
