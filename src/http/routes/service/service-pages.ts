/** Pages about the service: configuration for clients, health, documentation. */
import { createHash } from "node:crypto";
import { CatalogError } from "../../../core/errors.ts";
import { spokenVersion } from "../../../feed/topic-names.ts";
import type { ServiceStatus } from "../../../jobs/operations.ts";
import type { ApiResponse, Endpoint } from "../../schemas/endpoint.ts";

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

const row = { method: "GET", kind: "page", open: true } as const;

export function servicePages(options: ServicePagesOptions): readonly Endpoint[] {
  const config = JSON.stringify(configOf(options));
  return [
    {
      ...row,
      path: "/config",
      name: "getConfig",
      exampleResponse: JSON.parse(config),
      handle: () => ({ json: config }),
    },
    {
      ...row,
      path: "/health",
      name: "getHealth",
      async handle(_, { catalog, operations }) {
        const { ok, logError, views } = await catalog.health();
        if (!ok) throw unhealthy(logError, views);
        const marked = markedViews((await operations.getStatus()).views);
        const remarks = Object.keys(marked).length === 0 ? {} : { views: marked };
        return { json: JSON.stringify(remarks) };
      },
    },
    {
      ...row,
      path: "/health/live",
      name: "getLiveness",
      handle: () => ({ json: "{}" }),
    },
    {
      ...row,
      path: "/health/ready",
      name: "getReadiness",
      handle(_, { operations }) {
        const stalled = operations.stalledViews();
        if (stalled.length > 0) throw notReady(stalled);
        return { json: "{}" };
      },
    },
    {
      ...row,
      open: false,
      path: "/metrics",
      name: "getMetrics",
      responseType: "text/plain; version=0.0.4",
      handle: async (_, { metrics }) => ({ text: await metrics() }),
    },
    {
      ...row,
      path: "/openapi.json",
      name: "getOpenApi",
      handle: () => options.openApi(),
    },
    {
      ...row,
      path: "/restli/docs",
      name: "getDocumentation",
      responseType: "text/html",
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
