/**
 * The part of a service over its log and views: use cases, access, operations, and the HTTP server that
 * offers them.
 */
import { lineageSteps } from "../../projections/graph/lineage.ts";
import { foldText, tokensOf } from "../../projections/search/words.ts";
import { authorizeCatalog } from "../auth/access/authorized-catalog.ts";
import { admitRegistryWrite } from "../auth/access/registry-writes.ts";
import { openAccess } from "../auth/open-auth.ts";
import { createPolicyExpansion } from "../auth/policies/policy-expansion.ts";
import { filterFields } from "../auth/policies/policy-filter.ts";
import { openSystemClient } from "../auth/sign-in/system-client.ts";
import { openMetricsToken } from "../auth/tokens/metrics-token.ts";
import { openOperatorToken } from "../auth/tokens/operator-token.ts";
import { createBodyClient } from "../bodies/body-client.ts";
import { createCatalog } from "../catalog/create-catalog.ts";
import { removeLeftValuesLater } from "../catalog/references/definition-removal.ts";
import { createHierarchyLookup } from "../catalog/search/filter/hierarchy.ts";
import type { ValueThread } from "../catalog/write/computed-ahead.ts";
import { createProposalUrns } from "../catalog/write/proposals/proposal-urns.ts";
import { isLoopback, requiresTokens } from "../config/addresses.ts";
import type { Config } from "../config/config.ts";
import { createEventTexts } from "../feed/event-texts.ts";
import { createSchemaRegistry } from "../feed/schema-registry.ts";
import { explorerPage } from "../graphql/explorer-page.ts";
import { createLazyGraphqlServer } from "../graphql/lazy-graphql-server.ts";
import { createHostRule } from "../http/hooks/host-check.ts";
import { createHttpServer } from "../http/http-server.ts";
import { listen } from "../http/listen.ts";
import { streamLimits } from "../http/response/streams.ts";
import { noneStale, type StaleViews } from "../http/schemas/endpoint.ts";
import { createAuditTrail } from "../jobs/audit/audit-trail.ts";
import { type OperationsParts, openOperations } from "../jobs/create-operations.ts";
import { staleView } from "../jobs/rebuild.ts";
import { dayMs } from "../lib/calendar.ts";
import { ownCommand } from "../lib/command-hint.ts";
import type { ChangeLog } from "../log/change-log.ts";
import { decodeRecord, encodeChange } from "../log/codecs/record-codec.ts";
import { createLazyMcpEndpoint } from "../mcp/lazy-mcp-endpoint.ts";
import { outlineOf } from "../model/outline.ts";
import { createRebuilding } from "../projector/rebuild/rebuilding.ts";
import { verifyInThread } from "../projector/verify/verifying.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { traceCatalog } from "../telemetry/traced-catalog.ts";
import { openBuiltIns } from "./built-ins.ts";
import {
  authorizes,
  bodyConfig,
  jsonLimitsOf,
  patchRules,
  systemActorOf,
  urnLimitsOf,
} from "./catalog-options.ts";
import type { LogAndViews, Opening } from "./log-and-views.ts";
import { takeProposals } from "./proposals-in-kafka.ts";
import { rebuildingParts, rebuildRounds } from "./rebuild-plan.ts";
import { sharedLog, sharedView, type ViewName, viewNames } from "./store-locations.ts";
import { storeFigures } from "./store-stats.ts";
import { annotatedViews } from "./stores.ts";
import { openVerifiedState, verifyModule } from "./verification/verified-state.ts";
import { statedEdgesOf, timeseriesProjectionOf } from "./view-rules.ts";
import { openWebApp } from "./web-app.ts";

/** How long a read waits until a view has the acknowledged writes. */
const waitMsMax = 10_000;

/** Milliseconds between two checks of the log's indexes. */
const INDEX_CHECK_MS = dayMs;

interface CatalogAndHttpParts extends Opening {
  /** Of the service. */
  readonly version: string;
  /** Called with the file of the admin token if this start creates it. */
  readonly onMadeToken?: ((file: string) => void) | undefined;
}

/** Opens catalog and server, and listens; returns the URL. The caller closes what is in `opened`. */
export async function openCatalogAndHttp(
  config: Config,
  below: LogAndViews,
  { version, onMadeToken, ...opening }: CatalogAndHttpParts,
): Promise<string> {
  const { logger, opened } = opening;
  const bodyThread = createBodyClient({ config: bodyConfig(config), patchRules: patchRules() });
  opened.push(() => bodyThread.close());
  const { catalog, writeDefaults, restoreEdges, removeLeftValues } = await openCatalog(
    config,
    below,
    { ...opening, bodyThread },
  );
  const { fixedPolicies, undeletableEntities } = await openBuiltIns(config, below, {
    catalog,
    logger,
    systemActor: systemActorOf(config),
  });
  const audit = createAuditTrail({
    log: below.log,
    decode: decodeRecord,
    days: config.auditDays,
    now: Date.now,
    logger,
    onAppended: below.projector.notifyAppended,
  });
  opened.push(() => audit.close());
  const operations = await openOperations({
    ...operationsParts(config, below, opening),
    audit,
    writeDefaults,
    restoreEdges,
    status: {
      version,
      health: catalog.health,
      figures: (store) => storeFigures(config, store),
    },
  });
  opened.push(() => operations.close());
  const operator = openOperatorToken({
    data: config.data,
    configuredFile: config.operatorTokenFile,
    logger,
  });
  if (operator.made) onMadeToken?.(operator.file);
  else logger.info({ file: operator.file }, "operations ask for this token");

  const systemClient = openSystemClient({
    data: config.data,
    configuredFile: config.systemClientFile,
    logger,
  });
  const required = requiresTokens(config);
  const access = openAccess({
    catalog,
    peek: catalog.peek,
    entitiesVersion: catalog.entitiesVersion,
    data: config.data,
    signingKeyFile: config.signingKeyFile,
    secretKeyFile: config.secretKeyFile,
    operatorToken: operator,
    systemClient,
    required,
    namespace: config.urnNamespace,
    fixedPolicies,
    tokenDurationMax: config.tokenDurationMax,
    requestsPerSecondMax: config.requestsPerSecondMax,
    audit,
    logger,
    now: Date.now,
  });
  const authorized = authorizeCatalog({
    catalog,
    access,
    required,
    ...{ fixedPolicies, undeletableEntities },
    ...authorizationParts(config, below, { required, logger }),
  });
  const graphql = createLazyGraphqlServer({
    ...access,
    namespace: config.urnNamespace,
    version,
    lastUse: audit.lastUse,
    entityNames: below.model.entities.keys(),
    now: Date.now,
    catalogFor: authorized.catalogFor,
    onFault: (fault) => logger.error({ err: fault }, "GraphQL request failed"),
  });
  const schemaRegistry = createSchemaRegistry({
    log: below.log,
    now: Date.now,
    systemActor: systemActorOf(config),
    authorize: required ? (actor) => admitRegistryWrite(access.authority, actor) : undefined,
  });
  // Write access to the topic does not grant privileges here: proposals are authorized.
  const proposals = takeProposals(config, { catalog: authorized.catalog, schemaRegistry, logger });
  opened.push(() => proposals?.close());

  const web = openWebApp(config, logger);
  opened.push(() => web?.close());
  const server = createHttpServer({
    largeBodies: bodyThread,
    ...authorized,
    access: { ...access, admitsMetrics: openMetricsToken(config.metricsTokenFile, logger) },
    audit,
    operations,
    signIn: access.signIn,
    admitsOperator: operator.admits,
    graphql: {
      server: graphql,
      explorer: config.graphqlExplorer === "on" ? explorerPage : undefined,
    },
    mcp: createLazyMcpEndpoint({
      version,
      entityTypes: [...below.model.entities.keys()],
      mutations: config.mcpWrites === "on" ? graphql : undefined,
      onFault: (fault) => logger.error({ err: fault }, "MCP tool failed"),
    }),
    schemaRegistry: { registry: schemaRegistry },
    events: { texts: createEventTexts() },
    web: web?.app,
    proposals: proposals?.offsets,
    streamLimits: {
      ...streamLimits,
      atOnceMax: config.streamsMax,
      perUserMax: config.streamsPerUserMax,
    },
    metrics: createMetrics(operations.getStatus),
    stale: () => staleViewsOf(below.projector.stale()),
    traces: opening.traces,
    config: {
      bodyBytesMax: config.bodyBytesMax,
      hosts: createHostRule({ loopback: isLoopback(config.host), allowed: config.allowedHost }),
      corsOrigins: config.corsOrigin,
      heldBytesMax: Math.max(config.bodiesBytesMax, config.bodyBytesMax),
      responseLimits: { bytesMax: config.responsesBytesMax },
      jsonLimits: jsonLimitsOf(config),
      actorHeaderTrusted: isLoopback(config.host) && !required,
      writeAuthorization: authorizes("write", config, required),
      urnNamespace: config.urnNamespace,
      recordPrefix: config.recordPrefix,
      version,
      modelFingerprint: below.model.fingerprint,
      servesApi: config.roles.includes("api"),
      entities: outlineOf(below.model, below.rules.graph),
    },
    logger,
  });
  opened.push(() => server.close());
  const address = await listen(server, config);
  web?.build();
  if (!isLoopback(config.host) && !required) logger.warn({ address }, openToAll);
  opened.push(removeLeftValuesLater({ removeLeftValues }, logger));
  opened.push(watchIndexes(below.log, logger));
  return address;
}

/** Checks the log's indexes in the background, now and then every day. Returns a function that stops it. */
function watchIndexes(log: ChangeLog, logger: Opening["logger"]): () => void {
  let ended = false;
  const check = async (): Promise<void> => {
    try {
      await log.checkIndexes?.();
    } catch (err) {
      // Closing the log ends a check.
      if (!ended) logger.error({ err }, "cannot verify the indexes of the log");
    }
  };
  void check();
  const timer = setInterval(() => void check(), INDEX_CHECK_MS).unref();
  return () => {
    ended = true;
    clearInterval(timer);
  };
}

/** The use cases over the log and its views. */
async function openCatalog(
  config: Config,
  below: LogAndViews,
  { logger, traces, bodyThread }: Opening & { readonly bodyThread: ValueThread },
) {
  const { model, rules, log, projector, readers } = below;
  const catalog = await createCatalog({
    model,
    patchRules: patchRules(),
    valueThread: bodyThread,
    log,
    encode: encodeChange,
    decode: decodeRecord,
    aspects: readers.aspects,
    timeseries: readers.timeseries,
    graph: readers.graph,
    lineage: lineageSteps(model),
    references: rules.graph,
    projectTimeseries: timeseriesProjectionOf(rules),
    statedEdges: statedEdgesOf(rules),
    search: { reader: readers.search, rules: rules.search, words: { tokensOf, foldText } },
    progress: {
      ...projector,
      errors: () => ({ ...below.readErrors(), ...projector.errors() }),
    },
    namespace: config.urnNamespace,
    urnLimits: urnLimitsOf(config),
    aspectBytesMax: config.aspectBytesMax,
    jsonLimits: jsonLimitsOf(config),
    cacheBytesMax: config.cacheBytes,
    sharedLog: sharedLog(config),
    lagMax: config.projectorLagMax,
    waitMsMax,
    now: Date.now,
    onContradictedKey: (urn) => logger.debug({ urn }, "a sent key contradicts its urn"),
  });
  return {
    catalog: traces === undefined ? catalog : traceCatalog(catalog, traces),
    writeDefaults: catalog.writeDefaults,
    restoreEdges: catalog.restoreEdges,
    removeLeftValues: catalog.removeLeftValues,
  };
}

const rebuildCommand = (view: string): string => ownCommand(`rebuild ${view}`);

function staleViewsOf(views: readonly string[]): StaleViews {
  if (views.length === 0) return noneStale;
  return new Map(
    views.flatMap((view) => {
      const read = annotatedViews[view];
      return read === undefined ? [] : [[read, rebuildCommand(view)] as const];
    }),
  );
}

/** Dependencies of the operations that come from the log and the views. */
function operationsParts(
  config: Config,
  { model, rules, log, stores, projector, generations, readers, onRebuilt }: LogAndViews,
  { logger, traces }: Opening,
): Omit<OperationsParts, "audit" | "writeDefaults" | "restoreEdges" | "status"> {
  const isShared = (view: string) => sharedView(config, view as ViewName);
  return {
    model,
    log,
    encode: encodeChange,
    timeseries: readers.timeseries,
    projectTimeseries: timeseriesProjectionOf(rules),
    projector,
    data: config.data,
    namespace: config.urnNamespace,
    urnLimits: urnLimitsOf(config),
    waitMsMax,
    now: Date.now,
    logger,
    rebuilds: {
      rebuilding: createRebuilding({
        generationSwap: projector,
        readers: generations.generations,
        ...rebuildingParts(config, stores, log),
      }),
      views: viewNames,
      rounds: rebuildRounds(config),
      logger,
      ofAnotherModel: config.onModelChange === "rebuild",
      onStale(view, stale) {
        // The model has little effect on the other views, which also hold the users.
        if (config.onModelChange !== "refuse" || annotatedViews[view] === undefined) return;
        const why = "of another model";
        if (stale) generations.rejectReads(view, why, staleView(view, rebuildCommand(view)));
        else generations.admit(view, why);
      },
      onRebuilt,
    },
    handing: sharedLog(config)
      ? { isShared, leads: config.roles.includes("projector") }
      : undefined,
    verifying: {
      views: viewNames,
      verify: (asked, options) =>
        verifyInThread({ ...verifyModule, config: stores, ...asked }, options),
      openState: () => openVerifiedState(stores),
      intervalSeconds: config.verifyIntervalSeconds,
    },
    aroundJob:
      traces && (({ id, kind }, work) => traces.span(`job ${kind}`, { "annals.job": id }, work)),
  };
}

/** The authorization of reads and writes. Throws `invalid` for settings that exclude that. */
function authorizationParts(
  config: Config,
  { model, rules, readers }: LogAndViews,
  { required, logger }: { readonly required: boolean; readonly logger: Opening["logger"] },
) {
  const namespace = config.urnNamespace;
  return {
    model,
    namespace,
    urnOf: createProposalUrns(model, namespace),
    patchRules: authorizes("write", config, required) ? patchRules() : undefined,
    filterFields: authorizes("read", config, required)
      ? filterFields(rules.search.rules, model)
      : undefined,
    policyExpansion: createPolicyExpansion(createHierarchyLookup(readers.search), {
      now: Date.now,
      logger,
    }),
    now: Date.now,
  };
}

const openToAll =
  "everyone who reaches it may read and write everything: --auth is off. Leave it on, or bind the service to 127.0.0.1";
