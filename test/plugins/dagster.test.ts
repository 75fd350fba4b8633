/** DataHub's plugin for Dagster, unmodified. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { installing, pythonWith } from "../support/python-packages.ts";
import { runningService } from "../support/running-service.ts";

const program = fileURLToPath(new URL("clients/dagster_run.py", import.meta.url));
const PACKAGES = ["acryl-datahub-dagster-plugin==1.7.0.17", "dagster==1.13.27"];
const LOAD = "urn:li:dataJob:(urn:li:dataFlow:(dagster,prod/nightly,PROD),prod/load)";
const REVENUE = "urn:li:dataset:(urn:li:dataPlatform:postgres,shop.mart.revenue,PROD)";

test.for(["SYNC_PRIMARY", "ASYNC"])(
  "jobs, ops and runs are written with %s",
  installing,
  async (mode, context) => {
    await using service = await runningService();
    const python = await pythonWith(PACKAGES, context);
    await promisify(execFile)(python, [program, service.address, mode], { maxBuffer: 2 ** 26 });
    const listed = async (type: string) => {
      const reply = await fetch(`${service.address}/openapi/v3/entity/${type}?query=*`);
      return (await reply.json()) as { totalCount: number };
    };
    expect(await listed("dataflow")).toMatchObject({ totalCount: 1 });
    expect(await listed("datajob")).toMatchObject({ totalCount: 2 });
    expect(await listed("dataprocessinstance")).toMatchObject({ totalCount: 3 });
    const job = await fetch(`${service.address}/entitiesV2/${encodeURIComponent(LOAD)}`);
    expect(await job.json()).toMatchObject({
      aspects: {
        dataJobInfo: { value: { name: "load" } },
        dataJobInputOutput: { value: { outputDatasets: [REVENUE] } },
      },
    });
  },
);
