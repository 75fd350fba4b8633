/** DataHub's actions framework, unmodified, with its source of events from Kafka. */
import { describe, test } from "vitest";
import { topics } from "../../src/feed/topic-names.ts";
import { createKafkaSpace } from "../adapter/kafka-place.ts";
import { installing } from "../support/python-packages.ts";
import { runningService } from "../support/running-service.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { runEveryAction } from "./every-action.ts";

const store = await reachStore("kafka");

// There is no Kafka everywhere; storeTitle says why.
describe.skipIf("skipped" in store)(`actions with ${storeTitle("kafka", store)}`, () => {
  test("every action works with the source of events from Kafka", installing, async (context) => {
    const server = "url" in store ? store.url : "";
    const bootstrap = server.replace(/^kafka:\/\//, "").replace(/[?/].*$/, "");
    const space = createKafkaSpace(server);
    try {
      await using service = await runningService({ kafka: space.url });
      await runEveryAction(context, service, {
        prefix: space.prefix,
        sourceFor: ({ address }, names) => ({
          type: "kafka",
          config: {
            connection: {
              bootstrap,
              schema_registry_url: `${address}/schema-registry/api`,
              consumer_config: { "auto.offset.reset": "earliest" },
            },
            topic_routes: Object.fromEntries(
              names.map((name) => [
                name === topics.versioned ? "mcl" : "pe",
                `${space.prefix}${name}`,
              ]),
            ),
          },
        }),
      });
    } finally {
      await space.remove();
    }
  });
});
