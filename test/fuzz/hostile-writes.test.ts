/** A minute of the fuzzer with a fixed seed; `npm run fuzz -- --minutes 60 --seed 7` runs it for longer. */
import { expect, test } from "vitest";
import { runningService } from "../support/running-service.ts";
import { fuzz } from "./fuzz.ts";

test("no hostile write stops a view, is parked, or causes an internal error", async () => {
  await using service = await runningService({ logLevel: "silent" });
  const report = await fuzz({ service, seed: 33, until: Date.now() + 60_000 });
  expect(report.problems).toEqual([]);
  expect(report.batches).toBeGreaterThan(5);
}, 600_000);
