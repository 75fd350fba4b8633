/** Views in OpenSearch, beside embedded ones, are verified as embedded ones are. */
import { randomBytes } from "node:crypto";
import { describe } from "vitest";
import { reachStore, storeTitle } from "../support/stores.ts";
import { addressOf } from "./elasticsearch-place.ts";
import { storedDamages, viewRowsSuite } from "./view-rows.ts";
import { elasticsearchViews } from "./view-rows-places.ts";

const store = await reachStore("opensearch");

// Without the server there is nothing to test; what is missing is told at the end of the run.
describe.skipIf("skipped" in store)("views in a server beside embedded ones", () => {
  viewRowsSuite(
    `on ${storeTitle("opensearch", store)}`,
    async () => {
      const url = addressOf("opensearch", "skipped" in store ? "" : store.url);
      const storeName = `t${randomBytes(5).toString("hex")}`;
      const search = await elasticsearchViews(url, storeName, "search");
      const timeseries = await elasticsearchViews(url, storeName, "timeseries");
      return {
        settings: { search: url, timeseries: url, storeName },
        damage: (view, statement) => (view === "search" ? search : timeseries).damage(statement),
        async remove() {
          for (const one of [search, timeseries]) await one.remove();
        },
      };
    },
    {
      damages: storedDamages,
      beyond: [
        ["search", "index dropped"],
        ["timeseries", "index dropped"],
      ],
    },
  );
});
