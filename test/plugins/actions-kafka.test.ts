/** DataHub's actions framework, unmodified, with its source of events from Kafka. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { topics } from "../../src/feed/topic-names.ts";
import { createKafkaSpace } from "../adapter/kafka-place.ts";
import { installing, pythonWith } from "../support/python-packages.ts";
import { runningService } from "../support/running-service.ts";
import { reachStore, storeTitle } from "../support/stores.ts";

const store = await reachStore("kafka");
const DATASET = "urn:li:dataset:(urn:li:dataPlatform:hive,seeds,PROD)";

// There is no Kafka everywhere; storeTitle says why.
describe.skipIf("skipped" in store)(`actions with ${storeTitle("kafka", store)}`, () => {
  test("the source of events from Kafka gets tags", installing, async (context) => {
    const server = "url" in store ? store.url : "";
    const python = await pythonWith(["acryl-datahub-actions==1.7.0.17"], context);
    const space = createKafkaSpace(server);
    await using service = await runningService({ kafka: space.url });
    const tags = { tags: [{ tag: "urn:li:tag:pii" }] };
    await service.client.upsert(DATASET, "globalTags", tags);
    const consumer_config = { "auto.offset.reset": "earliest" };
    const bootstrap = server.replace(/^kafka:\/\//, "").replace(/[?/].*$/, "");
    const pipeline = {
      name: "hello",
      source: {
        type: "kafka",
        config: {
          connection: {
            bootstrap,
            schema_registry_url: `${service.address}/schema-registry/api`,
            consumer_config,
          },
          topic_routes: {
            pe: `${space.prefix}${topics.platformEvents}`,
            mcl: `${space.prefix}${topics.versioned}`,
          },
        },
      },
      action: { type: "hello_world" },
    };
    const file = join(service.directory, "hello.yaml");
    writeFileSync(file, JSON.stringify(pipeline));
    const main = "from datahub_actions.entrypoints import main; main()";
    const run = spawn(python, ["-u", "-c", main, "actions", "-c", file], {
      signal: context.signal,
    });
    run.on("error", () => {});
    let output = "";
    for (const stream of [run.stdout, run.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output += String(chunk);
      });
    }
    try {
      const event = /"category": "TAG"[\s\S]*urn:li:tag:pii/;
      await expect.poll(() => output, { timeout: 90_000 }).toMatch(event);
    } finally {
      run.kill();
      await space.remove();
    }
  });
});
