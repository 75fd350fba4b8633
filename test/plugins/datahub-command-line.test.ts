/** DataHub's command line and SDK, unmodified: the last release, and the last one before it. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { installing, pythonWith } from "../support/python-packages.ts";
import { runningService } from "../support/running-service.ts";

const run = promisify(execFile);
const sdk = fileURLToPath(new URL("clients/sdk_run.py", import.meta.url));
const URN = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)";
const main = "import sys; sys.argv[0] = 'datahub'; from datahub.entrypoints import main; main()";

test.for(["1.7.0.17", "1.6.0.17"])(
  "the command line and the SDK %s write, read, search and delete",
  installing,
  async (version, context) => {
    const python = await pythonWith([`acryl-datahub==${version}`], context);
    await using service = await runningService();
    const env = {
      ...process.env,
      ...{ DATAHUB_GMS_URL: service.address, DATAHUB_TELEMETRY_ENABLED: "false" },
      HOME: service.directory,
    };
    const datahub = async (...args: readonly string[]): Promise<string> => {
      const { stdout, stderr } = await run(python, ["-c", main, ...args], { env });
      return `${stdout}${stderr}`;
    };
    const file = join(service.directory, "properties.json");
    writeFileSync(file, JSON.stringify({ name: "orders", description: "Orders of the shop" }));
    await datahub("put", "--urn", URN, "-a", "datasetProperties", "-d", file);
    expect(JSON.parse(await datahub("get", "--urn", URN)).datasetProperties.name).toBe("orders");
    expect(await datahub("timeline", "--urn", URN, "-c", "DOCUMENTATION")).toContain("was added");

    const { stdout } = await run(python, [sdk, service.address], { env });
    expect(JSON.parse(stdout)).toEqual({
      ...{ description: "Orders of the shop", tags: ["urn:li:tag:pii"] },
      ...{ found: [URN], timeseries: 57 },
    });

    expect(await datahub("delete", "--urn", URN, "--soft", "--force")).toContain("Soft deleted 1");
    expect(await datahub("delete", "--urn", URN, "--hard", "--force")).toContain("Hard deleted 1");
    expect(await datahub("exists", "--urn", URN)).toContain("false");
  },
);
