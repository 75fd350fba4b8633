/** Traces of a real service, as a collector gets them. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { operatorOf, tokenOf } from "../support/operator.ts";
import { runningService } from "../support/running-service.ts";
import { otlpReceiver, type ToldSpan } from "./otlp-receiver.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";

test("a write is a span from its request to its append, views tell their batches, jobs their work", async () => {
  await using collector = await otlpReceiver();
  await using service = await runningService({
    ...{ logLevel: "silent", tracesEndpoint: `${collector.endpoint}/` },
  });
  const body = {
    proposal: {
      ...{ entityType: "tag", entityUrn: "urn:li:tag:a", changeType: "UPSERT" },
      ...{
        aspectName: "tagProperties",
        aspect: { contentType: "application/json", value: '{"name":"a"}' },
      },
    },
  };
  const headers = { ...tokenOf(service.directory), traceparent: `00-${trace}-${parent}-01` };
  const path = "/aspects?action=ingestProposal";
  expect((await service.client.call("POST", path, body, headers)).status).toBe(200);
  const operator = operatorOf(service);
  await operator.value("restoreIndices", { urn: "urn:li:tag:a" });
  expect((await service.client.get("/nowhere")).status).toBe(404);
  const views = ["aspects", "timeseries", "graph", "search"];
  const lags = async () => {
    const { views: told } = await operator.value("getStatus");
    return views.map((view) => told[view].lagRecords);
  };
  await expect.poll(lags).toEqual([0, 0, 0, 0]);
  // Closing tells what has gathered.
  await service.restart();

  expect([...collector.paths]).toEqual(["POST /v1/traces application/json"]);
  const { spans } = collector;
  const one = (name: string, of = spans): ToldSpan => {
    const found = of.find((span) => span.name === name);
    if (found === undefined) throw new Error(`no "${name}" in ${of.map((span) => span.name)}`);
    return found;
  };
  const ofRequest = spans.filter(({ traceId }) => traceId === trace);
  const request = one(`POST ${path}`, ofRequest);
  expect(request).toMatchObject({
    parentSpanId: parent,
    attributes: { "http.request.method": "POST", "http.response.status_code": 200 },
    service: { "service.name": "annals", "service.version": expect.any(String) },
  });
  const ingest = one("catalog.ingest", ofRequest);
  expect(ingest.parentSpanId).toBe(request.spanId);
  const append = one("log.append", ofRequest);
  expect(append.parentSpanId).toBe(ingest.spanId);
  expect(append.attributes["annals.streams"]).toBe(1);
  for (const view of views) {
    expect(one(`project ${view}`).attributes).toMatchObject({ "annals.view": view });
  }
  expect(one("job restore").attributes["annals.job"]).toMatch(/:1$/);
  expect(one("GET none").attributes["http.response.status_code"]).toBe(404);
  // What is in a request or in the catalog is no part of a trace.
  expect(JSON.stringify(spans)).not.toContain("urn:li:tag");
  expect(JSON.stringify(spans)).not.toContain(tokenOf(service.directory).Authorization);
});

test("a collector that is not there hinders nothing", async () => {
  await using service = await runningService({
    ...{ logLevel: "silent", tracesEndpoint: "http://127.0.0.1:9" },
  });
  expect((await service.client.upsert("urn:li:tag:a", "tagProperties", { name: "a" })).status).toBe(
    200,
  );
  const started = performance.now();
  await service.restart();
  expect(performance.now() - started).toBeLessThan(60_000);
});

test("the standard variable counts where no own one is set", () => {
  const standard = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
  expect(readConfig({}, {}).tracesEndpoint).toBe("");
  expect(readConfig({}, standard).tracesEndpoint).toBe("http://collector:4318");
  const own = { ...standard, ANNALS_TRACES_ENDPOINT: "https://elsewhere" };
  expect(readConfig({}, own).tracesEndpoint).toBe("https://elsewhere");
  expect(readConfig({ tracesEndpoint: "http://flag" }, own).tracesEndpoint).toBe("http://flag");
  expect(() => readConfig({}, { OTEL_EXPORTER_OTLP_ENDPOINT: "collector" })).toThrow(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
  );
});

// Its api, which does nothing by itself, comes with prom-client.
test("without one, nothing of OpenTelemetry is loaded", async () => {
  const service = fileURLToPath(new URL("../../src/app/service.ts", import.meta.url));
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    await import(${JSON.stringify(service)});
    console.log(loaded.length > 50, loaded.filter((url) => /opentelemetry.(sdk|exporter|core|otlp)/.test(url)).length);
  `;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout.trim()).toBe("true 0");
});
