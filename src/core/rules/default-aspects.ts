/**
 * The default aspects of a new entity: its browse paths and its platform, if its proposals do not
 * write them. Only aspects of the entity type are created. A key from which no default follows
 * creates none, so a default never fails a write.
 *
 * browsePaths (v1) has the folder of the entity, without the entity itself. Types without a rule
 * get no browsePaths: an empty path would list them at the root without a name.
 */
import type { JsonObject } from "../../lib/json.ts";

interface DefaultAspects {
  readonly browsePaths?: { readonly paths: readonly string[] };
  readonly browsePathsV2?: { readonly path: readonly BrowsePathEntry[] };
  readonly dataPlatformInstance?: { readonly platform: string };
}

interface BrowsePathEntry {
  readonly id: string;
  readonly urn?: string;
}

interface DefaultAspectsOptions {
  /** Namespace of the generated urns. */
  readonly namespace: string;
  /** `datasetNameDelimiter` of the platform's dataPlatformInfo; undefined: a full stop. */
  readonly delimiterOf?: ((platformUrn: string) => string | undefined) | undefined;
}

/** The members of the model's Entity that the defaults depend on. */
interface EntityType {
  readonly name: string;
  readonly aspects: readonly string[];
}

const DELIMITER = ".";
/** The browse path of an entity without a known folder. */
const NO_FOLDER: readonly BrowsePathEntry[] = [{ id: "Default" }];

/** `key` is the entity's key record as JSON. */
export function defaultAspects(
  entity: EntityType,
  key: JsonObject,
  options: DefaultAspectsOptions,
): DefaultAspects {
  const has = (aspect: string) => entity.aspects.includes(aspect);
  const folder = has("browsePaths") ? browseFolder(entity.name, key, options) : undefined;
  const platform = has("dataPlatformInstance")
    ? platformOf(entity.name, key, options.namespace)
    : undefined;
  return {
    ...(folder !== undefined && { browsePaths: { paths: [folder] } }),
    ...(has("browsePathsV2") && {
      browsePathsV2: { path: browseEntries(entity.name, key, options) },
    }),
    ...(platform !== undefined && { dataPlatformInstance: { platform } }),
  };
}

function browseFolder(
  entityName: string,
  key: JsonObject,
  options: DefaultAspectsOptions,
): string | undefined {
  switch (entityName) {
    case "dataset": {
      const platform = idOf(text(key, "platform"));
      return path([text(key, "origin"), platform, ...folderNames(key, options)])?.toLowerCase();
    }
    case "chart":
      // As in DataHub, only the tool of a dashboard or chart keeps its letter case.
      return path([text(key, "dashboardTool")]);
    case "dashboard":
      return path([text(key, "dashboardTool")])?.toLowerCase();
    case "dataFlow":
      return path([text(key, "orchestrator"), text(key, "cluster")])?.toLowerCase();
    case "dataJob": {
      const flow = flowOf(key);
      return flow && path([flow.orchestrator, flow.cluster])?.toLowerCase();
    }
    default:
      return undefined;
  }
}

function browseEntries(
  entityName: string,
  key: JsonObject,
  options: DefaultAspectsOptions,
): readonly BrowsePathEntry[] {
  const flow = entityName === "dataJob" ? text(key, "flow") : "";
  if (flow !== "") return [{ id: flow, urn: flow }];
  const folders = entityName === "dataset" ? folderNames(key, options) : [];
  return folders.length === 0 ? NO_FOLDER : folders.map((id) => ({ id }));
}

function platformOf(entityName: string, key: JsonObject, namespace: string): string | undefined {
  const named = (name: string | undefined) =>
    name ? `urn:${namespace}:dataPlatform:${name.toLowerCase()}` : undefined;
  switch (entityName) {
    case "chart":
    case "dashboard":
      return named(text(key, "dashboardTool"));
    case "dataFlow":
    case "dataProcess":
      return named(text(key, "orchestrator"));
    case "dataJob":
      return named(flowOf(key)?.orchestrator);
    default: {
      // Datasets, models, feature tables and custom types have the platform in their key.
      const platform = text(key, "platform");
      return /^urn:[^:]+:dataPlatform:./.test(platform) ? platform : undefined;
    }
  }
}

/** The parts of a dataset's name but the last: `db.schema.table` gives db and schema. */
function folderNames(key: JsonObject, { delimiterOf }: DefaultAspectsOptions): readonly string[] {
  const delimiter = delimiterOf?.(text(key, "platform")) || DELIMITER;
  // A name such as /a/b/c begins with an empty part: it names no folder.
  const parts = text(key, "name").split(delimiter);
  return parts.slice(0, -1).filter((part) => part !== "");
}

/** Of a job's flow, `urn:li:dataFlow:(orchestrator,flow id,cluster)`; the id may hold commas. */
function flowOf(key: JsonObject): { orchestrator: string; cluster: string } | undefined {
  const [, orchestrator, cluster] =
    /^urn:[^:]+:dataFlow:\(([^,]*),.*,([^,]*)\)$/s.exec(text(key, "flow")) ?? [];
  return orchestrator === undefined || cluster === undefined
    ? undefined
    : { orchestrator, cluster };
}

/** `/a/b`; undefined when a folder has no name. */
const path = (folders: readonly string[]): string | undefined =>
  folders.includes("") ? undefined : `/${folders.join("/")}`;

/** `urn:li:dataPlatform:hive` → hive. */
const idOf = (urn: string): string => /^urn:[^:]*:[^:]*:(.*)$/s.exec(urn)?.[1] ?? urn;

function text(key: JsonObject, field: string): string {
  const value = key[field];
  return typeof value === "string" ? value : "";
}
