/** Verification of views in OpenSearch next to embedded views. */
import { randomBytes } from "node:crypto";
import { describe } from "vitest";
import { reachStore, storeTitle } from "../support/stores.ts";
import { addressOf } from "./elasticsearch-place.ts";
import { storedDamages, viewRowsSuite } from "./view-rows.ts";
import { elasticsearchViews } from "./view-rows-places.ts";

const store = await reachStore("opensearch");

// The test needs a server; the end of the run lists the missing ones.
describe.skipIf("skipped" in store)("views in a server next to embedded views", () => {
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
