/** DataHub's plugin for Great Expectations, unmodified. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { installing, pythonWith } from "../support/python-packages.ts";
import { runningService } from "../support/running-service.ts";

const program = fileURLToPath(new URL("clients/great_expectations_run.py", import.meta.url));
const PACKAGES = ["acryl-datahub-gx-plugin==1.7.0.17", "great-expectations==1.24.1"];

test.for(["SYNC_PRIMARY", "ASYNC"])(
  "assertions and their results are written with %s",
  installing,
  async (mode, context) => {
    await using service = await runningService();
    const python = await pythonWith(PACKAGES, context);
    await promisify(execFile)(python, [program, service.address, mode]);
    const list = await fetch(`${service.address}/openapi/v3/entity/assertion?query=*`);
    const { entities } = (await list.json()) as { entities: readonly { urn: string }[] };
    const results: unknown[] = [];
    for (const { urn } of entities) {
      const body = JSON.stringify({ urn, entity: "assertion", aspect: "assertionRunEvent" });
      const path = `${service.address}/aspects?action=getTimeseriesAspectValues`;
      const reply = await fetch(path, { method: "POST", body });
      const { value } = (await reply.json()) as {
        value: { values: readonly { aspect: { value: string } }[] };
      };
      results.push(...value.values.map(({ aspect }) => JSON.parse(aspect.value).result.type));
    }
    expect(results.sort()).toEqual(["FAILURE", "SUCCESS"]);
  },
);
