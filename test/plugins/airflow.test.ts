/** DataHub's plugin for Airflow, and Airflow's own provider for OpenLineage, unmodified. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { installing, pythonWith } from "../support/python-packages.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const run = promisify(execFile);
const dags = fileURLToPath(new URL("clients/airflow_dags", import.meta.url));
const PACKAGES = ["acryl-datahub-airflow-plugin==1.7.0.17", "apache-airflow==3.3.2"];

const settings = (address: string, home: string): NodeJS.ProcessEnv => ({
  ...process.env,
  AIRFLOW_HOME: home,
  AIRFLOW__CORE__DAGS_FOLDER: dags,
  AIRFLOW__CORE__LOAD_EXAMPLES: "false",
  AIRFLOW_CONN_DATAHUB_REST_DEFAULT: JSON.stringify({ conn_type: "datahub_rest", host: address }),
  AIRFLOW__DATAHUB__CONN_ID: "datahub_rest_default",
  // Otherwise the plugin turns the provider for OpenLineage off.
  AIRFLOW__DATAHUB__DISABLE_OPENLINEAGE_PLUGIN: "false",
  DATAHUB_AIRFLOW_PLUGIN_RUN_IN_THREAD: "false",
  AIRFLOW__OPENLINEAGE__NAMESPACE: "shop",
  AIRFLOW__OPENLINEAGE__TRANSPORT: JSON.stringify({
    ...{ type: "http", url: address, endpoint: "api/v1/lineage" },
  }),
  PYTHONDONTWRITEBYTECODE: "1",
});

async function aspectsOf({ address }: RunningService, urn: string) {
  const reply = await fetch(`${address}/entitiesV2/${encodeURIComponent(urn)}`);
  return ((await reply.json()) as { aspects: object }).aspects;
}

test("the run of a DAG is written by both", installing, async (context) => {
  await using service = await runningService();
  using home = temporaryDirectory("annals-airflow");
  const python = await pythonWith(PACKAGES, context);
  const options = { env: settings(service.address, home.path), maxBuffer: 2 ** 26 };
  await run(python, ["-m", "airflow", "db", "migrate"], options);
  await run(python, ["-m", "airflow", "dags", "test", "nightly"], options);

  const plugin = "urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,prod),load)";
  const table = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:postgres,${name},PROD)`;
  expect(await aspectsOf(service, plugin)).toMatchObject({
    dataJobInfo: { value: { name: "load" } },
    dataJobInputOutput: {
      value: {
        inputDatasets: [table("shop.public.orders")],
        outputDatasets: [table("shop.mart.revenue")],
      },
    },
  });
  const provider = "urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,shop),nightly.load)";
  expect(await aspectsOf(service, provider)).toMatchObject({
    dataJobInfo: { value: { name: "load", customProperties: { integration: "AIRFLOW" } } },
    openLineageState: expect.anything(),
  });
});
