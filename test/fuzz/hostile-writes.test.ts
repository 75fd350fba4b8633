/** A minute of the fuzzer with a fixed seed; `npm run fuzz -- --minutes 60 --seed 7` runs it for longer. */
import { expect, test } from "vitest";
import { createKafkaSpace } from "../adapter/kafka-place.ts";
import { runningService } from "../support/running-service.ts";
import { reachStore } from "../support/stores.ts";
import { fuzz } from "./fuzz.ts";
import { produce } from "./kafka-proposals.ts";

const store = await reachStore("kafka");

test("no hostile write stops a view, is parked, or causes an internal error", async () => {
  // Without Kafka, the other routes are still tested.
  const space = "skipped" in store ? undefined : createKafkaSpace(store.url);
  await using service = await runningService({
    logLevel: "silent",
    mcpWrites: "on",
    kafka: space?.url ?? "",
  });
  const report = await fuzz({
    ...{ service, seed: 33, until: Date.now() + 60_000 },
    produce: space && ((proposals) => produce(space, proposals)),
  });
  expect(report.problems).toEqual([]);
  expect(report.batches).toBeGreaterThan(5);
}, 600_000);
