/**
 * Urns of the datasets, jobs and runs of OpenLineage. They equal those of DataHub's endpoint wherever these
 * depend only on the event. Pure.
 */
import { ownValue } from "../lib/own-value.ts";
import type { DatasetName, JobName } from "./event.ts";

export interface Urns {
  readonly dataset: (dataset: DatasetName) => string;
  readonly job: (job: JobName) => string;
  readonly flow: (job: JobName) => string;
  readonly run: (runId: string) => string;
  readonly column: (dataset: DatasetName, column: string) => string;
  readonly platform: (name: string) => string;
  readonly of: (entityType: string, id: string) => string;
}

/** Platforms by the scheme of a dataset's namespace, where the names differ. */
const platformOfScheme: Readonly<Record<string, string>> = {
  sqlserver: "mssql",
  awsathena: "athena",
  s3a: "s3",
  s3n: "s3",
  gs: "gcs",
  abfs: "abs",
  abfss: "abs",
  wasb: "abs",
  wasbs: "abs",
};

/**
 * Platforms whose names are paths. `authority`: the name includes the authority of the namespace, such
 * as a bucket.
 */
const pathPlatforms: Readonly<Record<string, { readonly authority: boolean }>> = {
  s3: { authority: true },
  gcs: { authority: true },
  abs: { authority: true },
  dbfs: { authority: true },
  file: { authority: true },
  hdfs: { authority: false },
};

const GLUE = "arn:aws:glue:";
const DEFAULT_ENV = "PROD";

interface PlatformName {
  readonly platform: string;
  readonly name: string;
}

/** The platform and the name of a dataset; a table's name where `symlinks` has one. */
export function platformName({ namespace, name, facets }: DatasetName): PlatformName {
  const table = facets?.symlinks?.identifiers?.findLast(({ type }) => /^table$/i.test(type));
  if (table !== undefined) {
    const platform = table.namespace.startsWith(GLUE) ? "glue" : "hive";
    return { platform, name: dotted(table.name) };
  }
  return physicalName({ namespace, name });
}

/** The platform and the name of a dataset, without its symlinks. */
function physicalName({ namespace, name }: DatasetName): PlatformName {
  if (namespace.startsWith(GLUE)) return { platform: "glue", name: dotted(name) };
  const [scheme = "", rest] = namespace.split("://", 2);
  const platform = ownValue(platformOfScheme, scheme) ?? scheme;
  const path = ownValue(pathPlatforms, platform);
  if (path === undefined) return { platform, name };
  const trimmed = withoutSlashes(name) || name.slice(0, 1);
  if (!path.authority || rest === undefined || rest === "") return { platform, name: trimmed };
  const root = withoutSlashes(rest);
  const inside = trimmed.replace(/^\/+/, "");
  return { platform, name: inside === "" ? root : `${root}/${inside}` };
}

/** Without the slashes at the end. A regular expression would take time in the square of their number. */
function withoutSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end--;
  return text.slice(0, end);
}

/** `table/db/orders` of Glue is `db.orders`. */
const dotted = (name: string): string =>
  name.startsWith("table/") ? name.slice("table/".length).replaceAll("/", ".") : name;

/** Producers whose repository names the orchestrator. */
const orchestratorOfRepository = [
  ["https://github.com/apache/airflow/", "airflow"],
  ["https://github.com/trinodb/trino/", "trino"],
] as const;

/**
 * The orchestrator from the URI of the producer: the last segment of its path. Facets do not count, because
 * the events of a run need not have the same ones.
 */
function orchestratorOf(producer: string): string {
  const known = orchestratorOfRepository.find(([begin]) => producer.startsWith(begin));
  if (known !== undefined) return known[1];
  const plain = producer.replace(/[?#].*$/s, "").replace(/^[A-Za-z][\w+.-]*:\/*/, "");
  const segments = plain.split("/").filter((segment) => segment !== "");
  const named = segments.findLast((segment) => !/^v?\d+([.-]\d+)*$/.test(segment));
  return (named ?? "openlineage").toLowerCase();
}

/** A job's flow is its name up to the first dot. */
export const flowOf = (name: string): string => {
  const dot = name.indexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
};

/** Encodes the characters that separate the parts of a urn. */
const part = (text: string): string =>
  text.replace(/[,()]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

export function createUrns(namespace: string, producer: string): Urns {
  const of = (entityType: string, id: string) => `urn:${namespace}:${entityType}:${id}`;
  const platform = (name: string) => of("dataPlatform", part(name));
  const orchestrator = part(orchestratorOf(producer));
  const dataset = (named: DatasetName) => {
    const { platform: system, name } = platformName(named);
    return of("dataset", `(${platform(system)},${part(name)},${DEFAULT_ENV})`);
  };
  const flow = (job: JobName) =>
    of("dataFlow", `(${orchestrator},${part(flowOf(job.name))},${part(job.namespace)})`);
  return {
    of,
    platform,
    dataset,
    flow,
    job: (job) => of("dataJob", `(${flow(job)},${part(job.name)})`),
    run: (runId) => of("dataProcessInstance", runId.toLowerCase()),
    column: (named, column) => of("schemaField", `(${dataset(named)},${part(column)})`),
  };
}
