/**
 * Traces by OpenTelemetry, sent to a collector over OTLP/HTTP. Loaded when an endpoint is configured,
 * and only then: the libraries cost memory that an idle service has no use for.
 *
 * Nothing is registered globally: the tracer is only available through Traces.
 */
import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Traces } from "./traces.ts";

interface TracesOptions {
  /** URL of the collector; `/v1/traces` is appended. */
  readonly endpoint: string;
  /** The service's own version. */
  readonly version: string;
  /** Milliseconds for which spans are buffered before they are sent; 5,000 when absent. */
  readonly gatherMs?: number | undefined;
}

const GATHER_MS = 5_000;
/** A collector that does not respond must not delay the end of the process. */
const EXPORT_MS_MAX = 3_000;

export function openTraces({ endpoint, version, gatherMs = GATHER_MS }: TracesOptions): Traces {
  const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_MS_MAX });
  const gathering = { scheduledDelayMillis: gatherMs, exportTimeoutMillis: EXPORT_MS_MAX };
  const own = { "service.name": "annals", "service.version": version };
  const provider = new TracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES add to this or override it.
    resource: resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...gathering })],
  });
  const tracer = provider.getTracer("annals", version);
  const contexts = new AsyncLocalStorageContextManager().enable();
  const propagator = new W3CTraceContextPropagator();

  const within = <T>(parent: Context, span: Span, work: () => T): T =>
    contexts.with(trace.setSpan(parent, span), work);

  return {
    async span(name, attributes, work) {
      const parent = contexts.active();
      const span = tracer.startSpan(name, { attributes }, parent);
      try {
        return await within(parent, span, work);
      } catch (error) {
        fail(span, error instanceof Error ? error.message : String(error));
        throw error;
      } finally {
        span.end();
      }
    },

    note(name, attributes, { start, end, error }) {
      const span = tracer.startSpan(name, { attributes, startTime: start }, ROOT_CONTEXT);
      if (error !== undefined) fail(span, error);
      span.end(end);
    },

    request({ method, headers }, go) {
      const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      const attributes = { "http.request.method": method };
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
      within(parent, span, go);
      return ({ route, status }) => {
        span.updateName(`${method} ${route}`);
        span.setAttributes({ "http.route": route, "http.response.status_code": status });
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      };
    },

    async close() {
      contexts.disable();
      // Spans that the collector does not accept are dropped without a report.
      await provider.shutdown().catch(() => undefined);
    },
  };
}

function fail(span: Span, message: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}
