/** DataHub's actions framework, unmodified, with its source of events over HTTP. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { installing, pythonWith } from "../support/python-packages.ts";
import { runningService } from "../support/running-service.ts";

const PACKAGES = ["acryl-datahub-actions==1.7.0.17"];
const DATASET = "urn:li:dataset:(urn:li:dataPlatform:hive,seeds,PROD)";
const ASSERTION = "urn:li:assertion:seeds";

/** The events that the action `hello_world` prints. */
const printed = /Hello world! Received event:\s*(\{[\s\S]*?\n\})/g;

test("the source of events over HTTP gets tags and runs", installing, async (context) => {
  await using service = await runningService();
  const python = await pythonWith(PACKAGES, context);
  await service.client.upsert(DATASET, "globalTags", { tags: [{ tag: "urn:li:tag:pii" }] });
  await service.client.upsert(ASSERTION, "assertionRunEvent", {
    ...{ timestampMillis: 1_772_409_600_000, runId: "1", asserteeUrn: DATASET },
    ...{ status: "COMPLETE", assertionUrn: ASSERTION, result: { type: "SUCCESS" } },
  });
  const pipeline = {
    name: "hello",
    datahub: { server: service.address },
    source: {
      type: "datahub-cloud",
      config: {
        ...{ lookback_days: 1, kill_after_idle_timeout: true, idle_timeout_duration_seconds: 2 },
      },
    },
    action: { type: "hello_world" },
  };
  const file = join(service.directory, "hello.yaml");
  writeFileSync(file, JSON.stringify(pipeline));
  // The console script names the interpreter by the path that it was installed at.
  const main = "from datahub_actions.entrypoints import main; main()";
  const { stdout } = await promisify(execFile)(python, ["-c", main, "actions", "-c", file], {
    env: { ...process.env, DATAHUB_TELEMETRY_ENABLED: "false" },
    signal: context.signal,
  });
  const events = [...stdout.matchAll(printed)].map(([, json = ""]) => JSON.parse(json).event);
  expect(events).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ category: "TAG", operation: "ADD", modifier: "urn:li:tag:pii" }),
      expect.objectContaining({ category: "RUN", operation: "COMPLETED", entityUrn: ASSERTION }),
    ]),
  );
});
