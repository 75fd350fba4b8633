/** DataHub's actions framework, unmodified, with its source of events over HTTP. */
import { test } from "vitest";
import { installing } from "../support/python-packages.ts";
import { runningService } from "../support/running-service.ts";
import { runEveryAction } from "./every-action.ts";

test("every action works with the source of events over HTTP", installing, async (context) => {
  await using service = await runningService();
  await runEveryAction(context, service, {
    prefix: "",
    sourceFor: (_, topics) => ({ type: "datahub-cloud", config: { lookback_days: 1, topics } }),
  });
});
