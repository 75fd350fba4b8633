/**
 * The requests that users wait for: schemas of 12,000 columns, entities with 20,000 versions, long
 * polls, exports, change feeds, and the first request of each kind after a start.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { caughtUp } from "../support/caught-up.ts";
import { type Client, createClient, encoded, proposal } from "../support/client.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { benchFeeds } from "./feeds.ts";
import { type Figure, type Figures, medianMs, milliseconds } from "./figures.ts";
import { batch, propertiesOf, urnOf } from "./sample.ts";

const documents = Number(process.env.BENCH_ENTITIES ?? 100_000);
const columns = 12_000;
const columnsOfPage = 200;
const versions = 20_000;
const proposalsOfBatch = 500;
const polled = 5_000;
const main = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));

const wide = "urn:li:dataset:(urn:li:dataPlatform:snowflake,warehouse.wide,PROD)";
const old = "urn:li:dataset:(urn:li:dataPlatform:snowflake,warehouse.old,PROD)";
const batches = "/aspects?action=ingestProposalBatch";

const options = {
  asInstalled: true,
  args: ["--streams-max", "1000", "--streams-per-user-max", "0", "--projector-lag-max", "1000000"],
};

export async function* benchWaits(): Figures {
  using directory = temporaryDirectory("annals-bench");
  const data = directory.path;
  await using service = await startService(data, options);
  yield* benchUse(service, data);
  await service.stop();
  await using again = await startService(data, options);
  yield* benchFirst(createClient(again.address));
  await again.stop();
}

async function* benchUse(service: ServiceProcess, directory: string): Figures {
  const client = createClient(service.address);
  yield* benchColumns(client);
  yield* benchVersions(client);
  const { position } = await client.upsert(wide, "status", { removed: false });
  for (let first = 0; first < documents; first += proposalsOfBatch / 2) {
    await succeed(client.call("POST", batches, batch(first, proposalsOfBatch, 0)));
  }
  await caughtUp({ client, directory }, { secondsMax: 600 });
  yield* benchPolls(client, position);
  yield* benchExport(service, directory);
  yield* benchFeeds(service, 2 * documents);
}

async function succeed(reply: ReturnType<Client["call"]>) {
  const { status, body } = await reply;
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body).slice(0, 1_000)}`);
  if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors).slice(0, 1_000));
  return body;
}

const graphql = (client: Client, query: string) =>
  succeed(client.call("POST", "/api/graphql", { query }));

const atMost = (name: string, value: number, goal: number, note?: string): Figure => ({
  ...{ name, value, unit: "ms", goal, note },
});

const schemaOf = (version: number) => ({
  ...{ schemaName: "wide", platform: "urn:li:dataPlatform:snowflake", version: 0, hash: "" },
  platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
  fields: Array.from({ length: columns }, (_, n) => ({
    ...{ fieldPath: `column_${n}`, nativeDataType: "varchar(40)" },
    description: `Value number ${n} of an event, as of version ${n % 10 === 0 ? version : 0}`,
    type: { type: { "com.linkedin.schema.StringType": {} } },
  })),
});

/** Each write changes the text of one column in ten. */
async function* benchColumns(client: Client): Figures {
  const name = `${columns.toLocaleString("en")} columns`;
  let version = 0;
  const put = () => succeed(client.upsert(wide, "schemaMetadata", schemaOf(version++)));
  yield atMost(`${name}: write`, await medianMs(put), 400);
  const read = () => succeed(client.get(`/entitiesV2/${encoded(wide)}`));
  yield atMost(`${name}: read`, await medianMs(read), 100);
  const timeline = `/openapi/v2/timeline/v1/${encoded(wide)}?categories=TECHNICAL_SCHEMA,DOCUMENTATION`;
  const changes = () => succeed(client.get(timeline));
  yield atMost(`${name}: timeline`, await medianMs(changes), 500, `${version} versions`);
  const page = `{ dataset(urn: "${wide}") { schemaMetadata {
    fields(start: 6000, count: ${columnsOfPage}) { fieldPath description nativeDataType } } } }`;
  const columnsInPage = () => graphql(client, page);
  yield atMost(`${name}: GraphQL page of ${columnsOfPage}`, await medianMs(columnsInPage), 100);
}

async function* benchVersions(client: Client): Figures {
  for (let first = 0; first < versions; first += proposalsOfBatch) {
    const proposals = Array.from({ length: proposalsOfBatch }, (_, n) =>
      proposal(old, "datasetProperties", propertiesOf(0, first + n)),
    );
    await succeed(client.call("POST", batches, { proposals }));
  }
  const name = `${versions.toLocaleString("en")} versions`;
  const entity = encoded(old);
  const path = `/aspects/${entity}?aspect=datasetProperties&version=${versions / 2}`;
  yield atMost(`${name}: version n`, await medianMs(() => succeed(client.get(path))), 20);
  const { position = 0 } = await client.upsert(old, "status", { removed: false });
  const past = `/entitiesV2/${entity}?asOfPosition=${position - versions / 10}`;
  yield atMost(`${name}: as of a position`, await medianMs(() => succeed(client.get(past))), 300);
  const changes = `/changes?urn=${entity}&limit=100&from=start`;
  yield atMost(`${name}: page of changes`, await medianMs(() => succeed(client.get(changes))), 50);
}

/** Events of the datasets that were written after `offset`. */
async function* benchPolls(client: Client, offset = 0): Figures {
  const name = `events/poll of ${polled.toLocaleString("en")} events`;
  for (const topic of ["MetadataChangeLog_Versioned_v1", "PlatformEvent_v1"]) {
    const path = `/openapi/v1/events/poll?topic=${topic}&offsetId=${offset}&limit=${polled}`;
    let count = 0;
    const poll = async () => {
      ({ count } = await succeed(client.get(path)));
    };
    yield atMost(`${name}, ${topic}`, await medianMs(poll), 300, `${count} events`);
  }
}

/** `annals export` of the whole catalog into a file, as a process. */
async function* benchExport({ address }: ServiceProcess, data: string): Figures {
  let text = "";
  const ms = await milliseconds(async () => {
    const file = join(data, "export.jsonl");
    const args = [main, "export", "--server", address, "--file", file, "--json", "--quiet"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`export ended with ${code}: ${text}`);
  });
  const { aspects } = JSON.parse(text);
  const value = (aspects * 1_000) / ms;
  const note = `${aspects.toLocaleString("en")} aspects in one file`;
  yield { name: "export of the whole catalog", value, unit: "/s", goal: 30_000, note };
}

/** Each request is the first of its kind in the process. */
async function* benchFirst(client: Client): Figures {
  const urn = encoded(urnOf(7));
  const search = { entity: "dataset", input: "events warehouse", start: 0, count: 10 };
  const lineage = { urn: urnOf(7), direction: "UPSTREAM", maxHops: 3 };
  const upsert = () => client.upsert(urnOf(7), "status", { removed: false });
  const kinds: readonly (readonly [string, number, () => ReturnType<Client["call"]>])[] = [
    ["read of an entity", 150, () => client.get(`/entitiesV2/${urn}`)],
    ["read of an aspect", 150, () => client.get(`/aspects/${urn}?aspect=ownership&version=0`)],
    ["write", 150, upsert],
    [
      "relationships",
      150,
      () => client.get(`/relationships?direction=OUTGOING&types=OwnedBy&urn=${urn}`),
    ],
    ["lineage", 150, () => client.call("POST", "/relationships?action=getLineage", lineage)],
    ["OpenAPI read", 150, () => client.get(`/openapi/v3/entity/dataset/${urn}`)],
    ["timeline", 150, () => client.get(`/openapi/v2/timeline/v1/${urn}?categories=OWNERSHIP`)],
    // The first changes of this log are schemas of 12,000 columns.
    ["page of changes", 150, () => client.get("/changes?from=end&limit=100")],
    ["search", 300, () => client.call("POST", "/entities?action=search", search)],
    [
      "completion",
      300,
      () =>
        client.call("POST", "/entities?action=autocomplete", {
          ...{ entity: "dataset", query: "table_1", limit: 10 },
        }),
    ],
    [
      "GraphQL read",
      500,
      () =>
        client.call("POST", "/api/graphql", {
          query: `{ dataset(urn: "${urnOf(7)}") { name properties { name } } }`,
        }),
    ],
  ];
  for (const [kind, goal, request] of kinds) {
    const ms = await milliseconds(() => succeed(request()));
    yield atMost(`first request after a start: ${kind}`, ms, goal);
  }
}
