/**
 * The reference clients of OpenLineage, unmodified: from PyPI in an environment of its own, and from Maven.
 * Without Python, Java or their packages the tests are skipped with the reason.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installing, pythonWith } from "../support/python-packages.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { classPath } from "../support/servers/java-program.ts";
import { fromPackage, javaHome } from "../support/servers/maven-packages.ts";

const run = promisify(execFile);
const clients = fileURLToPath(new URL("clients/", import.meta.url));
const RUN_ID = "0195a1c2-7d30-7a10-8c55-3f1f4c2b9b01";
const PARENT_ID = "0195a1c2-7d30-7a10-8c55-3f1f4c2b9b02";
const JAVA_PACKAGE = {
  name: "openlineage-java",
  version: "1.54.0",
  coordinates: ["io.openlineage:openlineage-java:1.54.0", "org.slf4j:slf4j-nop:1.7.36"],
};

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

async function aspectsOf(urn: string): Promise<Record<string, { value: unknown }>> {
  const reply = await fetch(`${service.address}/entitiesV2/${encodeURIComponent(urn)}`);
  return ((await reply.json()) as { aspects: Record<string, { value: unknown }> }).aspects;
}

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:postgres,${name},PROD)`;
const job = (orchestrator: string, flow: string, name: string) =>
  `urn:li:dataJob:(urn:li:dataFlow:(${orchestrator},${flow},shop),${name})`;
const edgeTo = (name: string) => expect.objectContaining({ destinationUrn: dataset(name) });

test(
  "the Python client writes jobs, runs, datasets and their lineage",
  installing,
  async (context) => {
    const python = await pythonWith(["openlineage-python==1.54.0"], context);
    await run(python, [join(clients, "producer.py"), service.address, RUN_ID, PARENT_ID]);
    const written = await aspectsOf(job("python", "python", "python.load"));
    expect(written.dataJobInputOutput?.value).toMatchObject({
      inputDatasetEdges: [edgeTo("shop.public.orders")],
      outputDatasetEdges: [edgeTo("shop.mart.revenue")],
      fineGrainedLineages: [{ transformOperation: "DIRECT:AGGREGATION" }],
    });
    expect(written.dataJobInfo?.value).toMatchObject({ description: "Loads" });
    expect(await aspectsOf(`urn:li:dataProcessInstance:${RUN_ID}`)).toMatchObject({
      dataProcessInstanceProperties: {
        value: { customProperties: { errorMessage: "late", nominalStartTime: expect.anything() } },
      },
      dataProcessInstanceRelationships: {
        value: { parentInstance: `urn:li:dataProcessInstance:${PARENT_ID}` },
      },
    });
    expect(await aspectsOf(dataset("shop.mart.revenue"))).toHaveProperty("schemaMetadata");
    expect(await aspectsOf(dataset("shop.mart.of_python"))).toHaveProperty("openLineageState");
    expect(await aspectsOf(job("python", "python", "python.design"))).toHaveProperty("dataJobInfo");
  },
);

test("the Java client writes jobs, datasets and their lineage", installing, async (context) => {
  const folder = await fromPackage(JAVA_PACKAGE)
    .program(context.signal)
    .catch((error) => context.skip(`the client could not be installed: ${error.message}`));
  const [java, path] = [join(await javaHome(), "bin", "java"), await classPath(folder)];
  await run(java, ["-cp", path, join(clients, "Producer.java"), service.address, PARENT_ID]);
  const written = await aspectsOf(job("java", "java", "java.load"));
  expect(written.dataJobInputOutput?.value).toMatchObject({
    inputDatasetEdges: [edgeTo("shop.public.orders")],
    outputDatasetEdges: [edgeTo("shop.mart.of_java")],
  });
  expect(await aspectsOf(dataset("shop.mart.of_java"))).toHaveProperty("schemaMetadata");
  expect(await aspectsOf(dataset("shop.mart.static"))).toHaveProperty("openLineageState");
});
