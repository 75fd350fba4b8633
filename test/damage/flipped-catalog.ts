/**
 * The catalog whose files get flipped bits: two copies of one data directory, and the questions for it. One copy
 * is from a closed service, the other from a killed one.
 */
import { cpSync } from "node:fs";
import { openService } from "../../src/app/service.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { caughtUp } from "../support/caught-up.ts";
import { type Client, createClient, encoded, proposal, type Reply } from "../support/client.ts";
import { tokenOf } from "../support/operator.ts";
import { dataset, user, writeHistory } from "../support/random-history.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

const tags = Array.from({ length: 40 }, (_, n) => `urn:li:tag:flip${n}`);
const datasets = Array.from({ length: 12 }, (_, n) => dataset(n));

/** Targets of the writes of a trial: an existing and a new entity. No question is about them. */
const written = {
  existing: "urn:li:tag:present",
  created: "urn:li:tag:created",
  name: "written after the flip",
};

export const configOf = (directory: string) =>
  readConfig({ port: "0", data: directory, logLevel: "silent", builtInEntities: "off" }, {});

/** `onWarning`: called with each message of the service's log that is a warning or an error. */
export const openCatalog = (directory: string, onWarning: (message: string) => void = () => {}) =>
  openService(configOf(directory), {
    logger: createLogger("warn", "json", {
      write: (line) => onWarning(String(JSON.parse(line).msg)),
    }),
  });

export interface FlippedCatalog extends Disposable {
  readonly closed: string;
  readonly killed: string;
  readonly answers: Answers;
  /** Sent with one question. */
  readonly token: Readonly<Record<string, string>>;
}

/** Status and body of the response to each question. */
export type Answers = ReadonlyMap<string, string>;

export async function fillCatalog(): Promise<FlippedCatalog> {
  const closed: TemporaryDirectory = temporaryDirectory("annals-flips-closed");
  const killed: TemporaryDirectory = temporaryDirectory("annals-flips-killed");
  const service = await openCatalog(closed.path);
  const client = createClient(service.address());
  const on = { client, directory: closed.path };
  for (const [n, urn] of tags.entries()) {
    await client.upsert(urn, "tagProperties", {
      name: `mark ${n}`,
      description: `${n} `.repeat(40),
    });
    if (n % 3 === 0) await client.upsert(urn, "tagProperties", { name: `mark ${n} again` });
  }
  await client.upsert(written.existing, "tagProperties", { name: "written before" });
  await writeHistory(on, 150, datasets.length);
  const proposals = datasets.map((urn, n) =>
    proposal(urn, "globalTags", { tags: [{ tag: tags[n] }] }),
  );
  const batch = { proposals };
  await client.call("POST", "/aspects?action=ingestProposalBatch", batch);
  await caughtUp(on);
  // The state after a kill: files and write-ahead logs as they are on disk.
  cpSync(closed.path, killed.path, { recursive: true });
  const token = tokenOf(closed.path);
  const answers = stable(await ask(client, token), await ask(client, token));
  await service.close();
  return {
    ...{ closed: closed.path, killed: killed.path, answers, token },
    [Symbol.dispose]() {
      closed[Symbol.dispose]();
      killed[Symbol.dispose]();
    },
  };
}

type Question = readonly [method: "GET" | "POST", path: string, body?: object];

const series = (urn: string): Question => [
  "POST",
  "/aspects?action=getTimeseriesAspectValues",
  { urn, entity: "dataset", aspect: "datasetProfile", limit: 100 },
];
const searched = (entity: string, input: string): Question => [
  "POST",
  "/entities?action=search",
  { entity, input, start: 0, count: 100 },
];

const questions: readonly Question[] = [
  ["GET", `/entitiesV2?ids=List(${[...tags, ...datasets].map(encoded).join(",")})`],
  ...tags.slice(0, 4).map(urnQuestion("/entitiesV2/", "")),
  ...tags
    .filter((_, n) => n % 9 === 0)
    .map(urnQuestion("/aspects/", "?aspect=tagProperties&version=1")),
  ...[...tags.slice(0, 4), ...datasets.slice(0, 4)].map(
    urnQuestion("/entitiesV2/", "?asOfPosition=200"),
  ),
  ...datasets.slice(0, 6).map(series),
  ...[...tags.slice(0, 3), ...datasets.slice(0, 4), user(1)].map(
    urnQuestion("/relationships?direction=INCOMING&types=List(OwnedBy,TaggedWith)&urn=", ""),
  ),
  ...["mark", '"mark 7"', "again"].map((input) => searched("tag", input)),
  searched("dataset", "*"),
];

function urnQuestion(path: string, query: string): (urn: string) => Question {
  return (urn) => ["GET", `${path}${encoded(urn)}${query}`];
}

/** Asks everything; one question with the token of the root user. */
export async function ask(
  client: Client,
  token: Readonly<Record<string, string>>,
): Promise<Answers> {
  const answers = new Map<string, string>();
  const note = (name: string, { status, body }: Reply) =>
    answers.set(name, `${status} ${JSON.stringify(body)}`);
  for (const [method, path, body] of questions) {
    note(`${path} ${JSON.stringify(body ?? "")}`, await client.call(method, path, body));
  }
  note("token", await client.call("GET", "/config", undefined, token));
  return answers;
}

/** Omits the questions whose responses contain the time of the response. */
const stable = (one: Answers, other: Answers): Answers =>
  new Map([...one].filter(([question, answer]) => other.get(question) === answer));

/** Writes to an existing and to a new entity; returns the urns of the accepted writes. */
export async function write(client: Client): Promise<readonly string[]> {
  const accepted: string[] = [];
  for (const urn of [written.existing, written.created]) {
    const { status } = await client.upsert(urn, "tagProperties", { name: written.name });
    if (status === 200) accepted.push(urn);
  }
  return accepted;
}

/** Filters the entities that have the values of `write`. */
export async function haveWritten(
  client: Client,
  urns: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const urn of urns) {
    const { status, body } = await client.get(`/entitiesV2/${encoded(urn)}`);
    const rejected = status >= 500;
    if (rejected || body.aspects?.tagProperties?.value.name === written.name) found.push(urn);
  }
  return found;
}
