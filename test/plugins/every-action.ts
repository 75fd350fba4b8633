/** Every action of DataHub's actions framework in one process, and the effects that each must have. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type TestContext } from "vitest";
import { topics } from "../../src/feed/topic-names.ts";
import { pythonWith } from "../support/python-packages.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { openVendors, type Vendors } from "./vendors.ts";

// The action for Snowflake imports sqlparse, which no extra of the package names.
const PACKAGES = ["acryl-datahub-actions[all]==1.7.0.17", "sqlparse==0.5.3"];

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:snowflake,${name},PROD)`;
const SEEDS = dataset("vault.public.seeds");
const HARVEST = dataset("vault.public.harvest");
const INGESTED = dataset("vault.public.ingested");
const field = (urn: string) => `urn:li:schemaField:(${urn},name)`;
const ASSERTION = "urn:li:assertion:seeds";
const TAG = "urn:li:tag:pii";
const TERM = "urn:li:glossaryTerm:viable";
const ADA = "urn:li:corpuser:ada";
const ROOT = { "X-DataHub-Actor": "urn:li:corpuser:datahub" };
const waiting = { timeout: 120_000, interval: 500 };

/** The source of a pipeline that reads the topics from their beginning. */
export type SourceFor = (service: RunningService, topicNames: readonly string[]) => object;

/** Runs all actions until each had its effect. `prefix` begins the names of the pipelines. */
export async function runEveryAction(
  context: TestContext,
  service: RunningService,
  { sourceFor, prefix }: { readonly sourceFor: SourceFor; readonly prefix: string },
): Promise<void> {
  const python = await pythonWith(PACKAGES, context);
  await using mirror = await runningService();
  await using vendors = await openVendors(service.directory);
  const request = await prepare(service);
  const pipelines = pipelinesFor({ service, mirror, vendors }).map(({ name, topic, ...rest }) => ({
    ...{ name: `${prefix}${name}`, datahub: { server: service.address, extra_headers: ROOT } },
    source: sourceFor(service, [topic ?? topics.platformEvents]),
    ...rest,
  }));
  const configs = pipelines.flatMap((pipeline) => {
    const file = join(service.directory, `${pipeline.name}.yaml`);
    writeFileSync(file, JSON.stringify(pipeline));
    return ["-c", file];
  });
  const main = "from datahub_actions.entrypoints import main; main()";
  const run = spawn(python, ["-u", "-c", main, "actions", ...configs], {
    env: { ...process.env, ...vendors.environment, DATAHUB_TELEMETRY_ENABLED: "false" },
    signal: context.signal,
  });
  run.on("error", () => {});
  let output = "";
  for (const stream of [run.stdout, run.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += String(chunk);
    });
  }
  const ended = new Promise((resolve) => run.on("close", resolve));
  // A pipeline that cannot start ends the process.
  const early = ended.then(() => Promise.reject(new Error("the actions ended")));
  const effects = expectEffects({ service, mirror, vendors, request, output: () => output });
  try {
    await Promise.race([effects, early]);
  } catch (error) {
    console.error(output);
    throw error;
  } finally {
    run.kill("SIGKILL");
    await Promise.allSettled([early, effects]);
  }
}

interface Places {
  readonly service: RunningService;
  readonly mirror: RunningService;
  readonly vendors: Vendors;
}

function pipelinesFor({ service, mirror, vendors }: Places) {
  const tagged = {
    event_type: "EntityChangeEvent_v1",
    event: { category: "TAG", entityUrn: SEEDS },
  };
  const snowflake = {
    ...{ account_id: "vault", username: "ada", password: "seeds", warehouse: "w", role: "r" },
  };
  const task = {
    name: "RUN_INGEST",
    type: "datahub.executor.execution.sub_process_ingestion_task.SubProcessIngestionTask",
    configs: {
      tmp_dir: join(service.directory, "ingest"),
      log_dir: join(service.directory, "logs"),
    },
  };
  const slack = { bot_token: "xoxb-1", signing_secret: "s", default_channel: "C1" };
  return [
    { name: "hello", action: { type: "hello_world" } },
    { name: "tags", action: { type: "tag_propagation", config: { tag_prefixes: [TAG] } } },
    { name: "terms", action: { type: "term_propagation", config: { target_terms: [TERM] } } },
    { name: "docs", action: { type: "doc_propagation", config: { enabled: true } } },
    {
      ...{ name: "snowflake", filter: tagged },
      action: {
        type: "snowflake_tag_propagation",
        config: {
          ...{ snowflake, tag_propagation: { enabled: true }, term_propagation: { enabled: true } },
        },
      },
    },
    {
      ...{ name: "teams", filter: tagged },
      action: {
        type: "teams",
        config: { webhook_url: vendors.webhook },
      },
    },
    { ...{ name: "slack", filter: tagged }, action: { type: "slack", config: slack } },
    {
      ...{ name: "mirror", topic: topics.versioned },
      action: {
        type: "metadata_change_sync",
        config: { gms_server: mirror.address, urn_regex: ".*seeds.*" },
      },
    },
    {
      ...{ name: "executor", topic: topics.versioned },
      action: { type: "executor", config: { executor_id: "default", task_configs: [task] } },
    },
  ] as readonly { name: string; topic?: string; action: object; filter?: object }[];
}

/** Writes what the actions react to; returns the urn of the request to ingest. */
async function prepare({ client, address, directory }: RunningService): Promise<string> {
  const ada = { "X-DataHub-Actor": ADA };
  const write = async (urn: string, aspect: string, value: object) => {
    const proposal = {
      ...{ entityType: urn.split(":")[2], entityUrn: urn, aspectName: aspect },
      ...{ changeType: "UPSERT" },
      aspect: { value: JSON.stringify(value), contentType: "application/json" },
    };
    const reply = await client.call("POST", "/aspects?action=ingestProposal", { proposal }, ada);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  };
  const auditStamp = { time: 1_772_409_600_000, actor: ADA };
  await write(HARVEST, "upstreamLineage", {
    upstreams: [{ dataset: SEEDS, type: "TRANSFORMED", auditStamp }],
    fineGrainedLineages: [
      {
        ...{ upstreamType: "FIELD_SET", upstreams: [field(SEEDS)] },
        ...{ downstreamType: "FIELD", downstreams: [field(HARVEST)] },
      },
    ],
  });
  await write(SEEDS, "globalTags", { tags: [{ tag: TAG }] });
  await write(SEEDS, "glossaryTerms", { terms: [{ urn: TERM }], auditStamp });
  await write(SEEDS, "editableSchemaMetadata", {
    editableSchemaFieldInfo: [{ fieldPath: "name", description: "Latin name" }],
  });
  await write(ASSERTION, "assertionRunEvent", {
    ...{ timestampMillis: 1_772_409_600_000, runId: "1", asserteeUrn: SEEDS },
    ...{ status: "COMPLETE", assertionUrn: ASSERTION, result: { type: "SUCCESS" } },
  });

  const file = join(directory, "ingested.json");
  const proposal = {
    ...{ entityType: "dataset", entityUrn: INGESTED, changeType: "UPSERT" },
    ...{ aspectName: "datasetProperties", aspect: { json: { name: "ingested" } } },
  };
  writeFileSync(file, JSON.stringify([proposal]));
  const recipe = {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the executor replaces the name of the secret.
    source: { type: "file", config: { path: "${SEEDS_FILE}" } },
    sink: { type: "datahub-rest", config: { server: address } },
  };
  const mutate = async (name: string, type: string, input: object): Promise<string> => {
    const query = `mutation($input: ${type}!) { ${name}(input: $input) }`;
    const { body } = await client.call(
      "POST",
      "/api/graphql",
      { query, variables: { input } },
      ROOT,
    );
    expect(body.errors).toBeUndefined();
    return body.data[name];
  };
  await mutate("createSecret", "CreateSecretInput", { name: "SEEDS_FILE", value: file });
  const ingestionSourceUrn = await mutate("createIngestionSource", "UpdateIngestionSourceInput", {
    ...{ name: "Seeds", type: "file" },
    config: { recipe: JSON.stringify(recipe), executorId: "default", version: "native" },
  });
  const request = { ingestionSourceUrn };
  return mutate("createIngestionExecutionRequest", "CreateIngestionExecutionRequestInput", request);
}

interface Effects extends Places {
  /** Urn of the request to ingest. */
  readonly request: string;
  /** What the process has printed. */
  readonly output: () => string;
}

async function expectEffects(places: Effects): Promise<void> {
  const { service, mirror, vendors, request, output } = places;
  const aspectOf = async (of: RunningService, urn: string, aspect: string) => {
    const { body } = await of.client.get(`/entitiesV2/${encodeURIComponent(urn)}`);
    return body.aspects?.[aspect]?.value;
  };
  const tags = () => aspectOf(service, HARVEST, "globalTags");
  await expect.poll(tags, waiting).toMatchObject({ tags: [{ tag: TAG }] });
  const terms = () => aspectOf(service, HARVEST, "glossaryTerms");
  await expect.poll(terms, waiting).toMatchObject({ terms: [{ urn: TERM }] });
  const docs = () => aspectOf(service, field(HARVEST), "documentation");
  await expect
    .poll(docs, waiting)
    .toMatchObject({ documentations: [{ documentation: "Latin name" }] });
  const mirrored = () => aspectOf(mirror, SEEDS, "globalTags");
  await expect.poll(mirrored, waiting).toEqual({ tags: [{ tag: TAG }] });
  // This release never sends a statement: it compares the urn of the platform with its name.
  await expect.poll(output, waiting).toMatch(`Will add ${TAG} on Snowflake ${SEEDS}`);
  await expect.poll(() => vendors.teams.at(-1), waiting).toMatch(/ada.*added.*pii.*seeds/s);
  await expect.poll(() => vendors.slack.at(-1), waiting).toMatch(/ada.*added.*pii.*seeds/s);
  await expect.poll(output, waiting).toMatch(/"category": "TAG"[\s\S]*urn:li:tag:pii/);
  await expect.poll(output, waiting).toMatch(/"relationshipType": "TaggedWith"/);
  await expect.poll(output, waiting).toMatch(/"category": "RUN"[\s\S]*COMPLETED/);
  const result = () => aspectOf(service, request, "dataHubExecutionRequestResult");
  await expect.poll(result, waiting).toMatchObject({ status: "SUCCESS" });
  expect(await aspectOf(service, INGESTED, "datasetProperties")).toMatchObject({
    name: "ingested",
  });
}
