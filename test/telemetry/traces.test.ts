/** Traces of a real service, as a collector receives them. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { operatorOf, tokenOf } from "../support/operator.ts";
import { runningService } from "../support/running-service.ts";
import { otlpReceiver, type ReceivedSpan } from "./otlp-receiver.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";

test("traces have a span for each write from request to append, for view batches and for jobs", async () => {
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
    const { views: shown } = await operator.value("getStatus");
    return views.map((view) => shown[view].lagRecords);
  };
  await expect.poll(lags).toEqual([0, 0, 0, 0]);
  // Closing the service sends the remaining spans.
  await service.restart();

  expect([...collector.paths]).toEqual(["POST /v1/traces application/json"]);
  const { spans } = collector;
  const one = (name: string, of = spans): ReceivedSpan => {
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
  // Traces contain no data of requests or of the catalog.
  expect(JSON.stringify(spans)).not.toContain("urn:li:tag");
  expect(JSON.stringify(spans)).not.toContain(tokenOf(service.directory).Authorization);
});

test("an unreachable collector does not disturb the service", async () => {
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

test("the standard variable applies if the own one is not set", () => {
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

// Its API package, which does nothing by itself, is a dependency of prom-client.
test("without a traces endpoint, OpenTelemetry is not loaded", async () => {
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
