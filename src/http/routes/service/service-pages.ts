/** Pages about the service: configuration for clients, health, documentation. */
import { createHash } from "node:crypto";
import { CatalogError } from "../../../core/errors.ts";
import { spokenVersion } from "../../../feed/topic-names.ts";
import type { ServiceStatus } from "../../../jobs/operations.ts";
import { type ApiResponse, type Endpoint, objectWith } from "../../schemas/endpoint.ts";

export interface ServicePagesOptions {
  /** The service's own version. */
  readonly version: string;
  /** Changes when the model does. */
  readonly modelFingerprint: string;
  readonly openApi: () => ApiResponse;
  /** The documentation page, with examples that call that host. */
  readonly docs: (host: string | undefined) => ApiResponse;
}

/** The release of DataHub's command line that runs against `spokenVersion`. */
const defaultCliVersion = "1.6.0.16";

export function servicePages(options: ServicePagesOptions): readonly Endpoint[] {
  const config = JSON.stringify(configOf(options));
  return [
    {
      method: "GET",
      kind: "page",
      open: true,
      path: "/config",
      name: "getConfig",
      summary: "Configuration that clients read first",
      about: "Needs no authentication.",
      response: objectWith(["noCode", "versions", "datahub", "annals"], {
        models: { type: "object" },
        noCode: { enum: ["true"] },
        retention: { enum: ["true"] },
        statefulIngestionCapable: { type: "boolean" },
        patchCapable: { type: "boolean" },
        supportsImpactAnalysis: { type: "boolean" },
        datasetUrnNameCasing: { type: "boolean" },
        timeZone: { type: "string" },
        versions: { type: "object" },
        telemetry: { type: "object" },
        managedIngestion: { type: "object" },
        datahub: { type: "object" },
        annals: { type: "object", properties: { version: { type: "string" } } },
      }),
      exampleResponse: JSON.parse(config),
      errors: [],
      handle: () => ({ json: config }),
    },
    {
      method: "GET",
      kind: "page",
      open: true,
      path: "/health",
      name: "getHealth",
      summary: "Check whether reads and writes work",
      about:
        "For load balancers and readiness probes. The response is empty, or names views that work and need attention: those that differed from the log at their last verification, or were built with another model.",
      response: { type: "object", properties: { views: { type: "object" } } },
      errors: [
        { code: "unavailable", when: "the log or a view does not work; the message names it" },
      ],
      async handle(_, { catalog, operations }) {
        const { ok, logError, views } = await catalog.health();
        if (!ok) throw unhealthy(logError, views);
        const marked = markedViews((await operations.getStatus()).views);
        const remarks = Object.keys(marked).length === 0 ? {} : { views: marked };
        return { json: JSON.stringify(remarks) };
      },
    },
    {
      method: "GET",
      kind: "page",
      open: true,
      path: "/health/live",
      name: "getLiveness",
      summary: "Check whether the process answers",
      response: { type: "object" },
      errors: [],
      handle: () => ({ json: "{}" }),
    },
    {
      method: "GET",
      kind: "page",
      open: true,
      path: "/health/ready",
      name: "getReadiness",
      summary: "Check whether every view makes progress",
      about:
        "A view that is behind and catches up is ready; one that has stood still for 15 seconds, behind where the log was then, is not.",
      response: { type: "object" },
      errors: [{ code: "unavailable", when: "a view makes no progress; the message names it" }],
      handle(_, { operations }) {
        const stalled = operations.stalledViews();
        if (stalled.length > 0) throw notReady(stalled);
        return { json: "{}" };
      },
    },
    {
      method: "GET",
      kind: "page",
      path: "/metrics",
      name: "getMetrics",
      summary: "Metrics for Prometheus",
      about:
        "Position, lag, rate and size of the log and of each view, jobs, the latencies of requests by route, and the state of the process. docs/operations.md lists every name.",
      response: { type: "string" },
      responseType: "text/plain; version=0.0.4",
      errors: [],
      handle: async (_, { metrics }) => ({ text: await metrics() }),
    },
    {
      method: "GET",
      kind: "page",
      open: true,
      path: "/openapi.json",
      name: "getOpenApi",
      summary: "OpenAPI 3.1 document of this API",
      response: { type: "object" },
      errors: [],
      handle: () => options.openApi(),
    },
    {
      method: "GET",
      kind: "page",
      open: true,
      path: "/restli/docs",
      name: "getDocumentation",
      summary: "This page",
      response: { type: "string" },
      responseType: "text/html",
      errors: [],
      handle: (request) => options.docs(request.host),
    },
  ];
}

/** Members and their types are what clients check (`noCode` is text, the capabilities are not). */
function configOf({ version, modelFingerprint }: ServicePagesOptions): unknown {
  // Clients keep what they learn about the model under this; it must change with the model.
  const commit = createHash("sha1").update(`${version} ${modelFingerprint}`).digest("hex");
  return {
    models: {},
    noCode: "true",
    retention: "true",
    statefulIngestionCapable: true,
    patchCapable: true,
    supportsImpactAnalysis: true,
    datasetUrnNameCasing: false,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    versions: { "acryldata/datahub": { version: spokenVersion, commit } },
    // Asks clients to keep their own telemetry to themselves.
    telemetry: { enabledCli: false, enabledIngestion: false },
    managedIngestion: { enabled: false, defaultCliVersion },
    // Anything but "core", or nothing, makes clients believe in another product.
    datahub: { serverType: "annals", serverEnv: "core" },
    annals: { version },
  };
}

function unhealthy(
  logError: string | undefined,
  views: Readonly<Record<string, { readonly error?: string }>>,
): CatalogError {
  const ofViews = Object.entries(views).flatMap(([name, view]) =>
    view.error === undefined ? [] : [`view "${name}": ${view.error}`],
  );
  const faults = logError === undefined ? ofViews : [logError, ...ofViews];
  return new CatalogError("unavailable", faults.length === 0 ? "not ready" : faults.join("; "), {
    hint: "The log of the service has the details",
  });
}

/** Views that answer, but may be wrong. */
function markedViews(views: ServiceStatus["views"]): Readonly<Record<string, object>> {
  const marked = Object.entries(views).flatMap(([name, view]) => {
    const { differences = 0, verifiedPosition, stale } = view;
    if (differences === 0 && stale !== true) return [];
    return [[name, { ...(differences > 0 && { differences, verifiedPosition }), stale }] as const];
  });
  return Object.fromEntries(marked);
}

function notReady(
  stalled: readonly { readonly view: string; readonly position: number; readonly head: number }[],
): CatalogError {
  const texts = stalled.map(
    ({ view, position, head }) => `view "${view}" is stalled at position ${position} of ${head}`,
  );
  return new CatalogError("unavailable", texts.join("; "), {
    hint: "The log of the service and /health have the details",
  });
}
