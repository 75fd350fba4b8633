/**
 * The table of all settings. Flags, variables, `--help`, docs/settings.md and the type
 * Config follow from it: the key `bodyBytesMax` is the flag `--body-bytes-max` and the variable
 * ANNALS_BODY_BYTES_MAX.
 */
import { fileURLToPath } from "node:url";
import { jsonDepthMax } from "../core/json-text.ts";
import { eventStoreSchemes } from "../lib/connection-string.ts";
import { tokenDurations } from "../lib/token-durations.ts";
import {
  bytes,
  choice,
  choices,
  directories,
  directory,
  embedded,
  hostNames,
  type Kind,
  optionalFile,
  origins,
  secret,
  servers,
  store,
  text,
  wholeNumber,
} from "./kinds.ts";

export interface Setting<T> {
  readonly kind: Kind<T>;
  /** As a user would give it. */
  readonly fallback: string;
  /** How `--help` and docs/settings.md show the default where that is not `fallback`. */
  readonly shownDefault?: string | undefined;
  /** One sentence without a full stop. */
  readonly about: string;
  /** A variable that other programs read as well; counts where the setting's own is not set. */
  readonly standardVariable?: string | undefined;
  /** The commands that have a flag for it; its variable is read by all. */
  readonly commands: readonly Command[];
}

export type Command =
  | "serve"
  | "ingest"
  | "rebuild"
  | "log"
  | "token"
  | "status"
  | "jobs"
  | "parked"
  | "restore"
  | "truncate"
  | "scavenge"
  | "backup"
  | "check"
  | "copy-log"
  | "verify"
  | ClientCommand;

/** Stands for all commands that send requests to a running service; their flags are in cli/client/session.ts. */
type ClientCommand = "client commands";

const ownModel = fileURLToPath(new URL("../../avro", import.meta.url));

const elasticsearch = ["http", "https", "opensearch+http", "opensearch+https"];
const neo4j = ["bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"];

const server: readonly Command[] = ["serve"];
const clients: readonly Command[] = ["client commands"];
/** Commands that send the admin token to a running service. */
const operating = ["token", "status", "jobs", "parked", "restore", "truncate", "scavenge"] as const;
const offline: readonly Command[] = ["serve", "rebuild", "verify", "log", "copy-log"];
const modelled: readonly Command[] = ["serve", "rebuild", "verify"];
const logged: readonly Command[] = [
  "serve",
  "rebuild",
  "verify",
  "log",
  "backup",
  "check",
  "copy-log",
];
const placed: readonly Command[] = [...logged, ...operating];
const viewed: readonly Command[] = ["serve", "rebuild", "verify", "check"];

export const settings = {
  host: setting(text("host", "a host name or an IP address", /^[\w.:-]{1,255}$/), "127.0.0.1", {
    about: "Address to listen on; only programs on this machine reach the default",
    commands: server,
  }),
  port: setting(wholeNumber("port", 0, 65_535), "8080", {
    about: "Port to listen on; 0 picks a free one, which the first line of the output names",
    commands: server,
  }),
  data: setting(directory, "./data", {
    about: "Directory of the log and its views; serve creates it",
    commands: placed,
  }),
  log: setting(store(eventStoreSchemes, "esdb://localhost:2113?tls=false"), embedded, {
    about: "Store of the log: the data directory, or an EventStoreDB",
    commands: logged,
  }),
  aspects: setting(
    store(["postgres", "postgresql"], "postgres://user@localhost/annals"),
    embedded,
    {
      about: "Store of the aspect table: the data directory, or a PostgreSQL",
      commands: viewed,
    },
  ),
  timeseries: setting(store(elasticsearch, "http://localhost:9200"), embedded, {
    about: "Store of timeseries: the data directory, or an Elasticsearch or OpenSearch",
    commands: viewed,
  }),
  search: setting(store(elasticsearch, "http://localhost:9200"), embedded, {
    about: "Store of search documents: the data directory, or an Elasticsearch or OpenSearch",
    commands: viewed,
  }),
  graph: setting(store(neo4j, "bolt://neo4j:password@localhost:7687"), embedded, {
    about: "Store of relationships: the data directory, or a Neo4j",
    commands: viewed,
  }),
  kafka: setting(servers("localhost:9092,localhost:9093"), "", {
    shownDefault: "none",
    about: "Kafka brokers to send changes to and to receive proposals from",
    commands: ["serve", "check"],
  }),
  roles: setting(choices("roles", ["api", "projector", "feed"]), "api,projector,feed", {
    about:
      "Roles of this node: api answers requests, projector builds views in servers, feed serves Kafka",
    commands: server,
  }),
  storeName: setting(
    text(
      "name",
      "a small letter, then small letters, digits and _, at most 31",
      /^[a-z][a-z0-9_]{0,30}$/,
    ),
    "annals",
    {
      about: "The catalog's name in servers: its indices, tables, labels and groups begin with it",
      commands: ["serve", "rebuild", "verify", "check"],
    },
  ),
  storeCertificatesFile: setting(optionalFile, "", {
    shownDefault: "those of the system",
    about:
      "File with certificate authorities (PEM) of servers; for EventStoreDB, tlsCAFile=<file> in its address",
    commands: ["serve", "rebuild", "verify", "check"],
  }),
  model: setting(directory, ownModel, {
    shownDefault: "the project's own avro/",
    about: "Directory of the metadata model; another one replaces the project's own",
    commands: modelled,
  }),
  modelExtension: setting(directories, "", {
    shownDefault: "none",
    about:
      "Directories of models that add entities and aspects; the flag may be repeated, in the variable they are separated by : (on Windows by ;)",
    commands: modelled,
  }),
  urnNamespace: setting(
    text("name", "letters, digits and hyphens, at most 32", /^[A-Za-z0-9][A-Za-z0-9-]{0,31}$/),
    "li",
    {
      about: "Namespace of the urns that are stored and returned; any is accepted on input",
      commands: modelled,
    },
  ),
  recordPrefix: setting(
    text("prefix", "names joined by dots", /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/),
    "com.linkedin",
    {
      about: "Prefix of the record names that are returned; any is accepted on input",
      commands: modelled,
    },
  ),
  operatorTokenFile: setting(optionalFile, "", {
    shownDefault: "operator.token in the data directory",
    about: "File with the admin token; the first start creates the default one",
    commands: ["serve", ...operating],
  }),
  systemClientFile: setting(optionalFile, "", {
    shownDefault: "system.client in the data directory",
    about:
      "File with the Basic credentials <id>:<secret> of programs that act for the system, such as DataHub's web container; the first start creates the default one",
    commands: server,
  }),
  metricsTokenFile: setting(optionalFile, "", {
    shownDefault: "none",
    about:
      "File with a bearer token that may read /metrics and nothing else; /metrics also accepts every access token",
    commands: server,
  }),
  auth: setting(choice("when", ["auto", "on", "off"]), "auto", {
    shownDefault: "on, unless bound to loopback",
    about:
      "Whether every request needs a bearer token (health, /config and documentation never do); on, off or auto",
    commands: server,
  }),
  allowedHost: setting(hostNames, "", {
    shownDefault: "none",
    about:
      "Host names that requests may use besides those of loopback; bound to loopback, the service accepts no others; bound elsewhere, it accepts all unless this is set; separated by commas, and the flag may be repeated",
    commands: server,
  }),
  corsOrigin: setting(origins, "", {
    shownDefault: "none",
    about:
      "Origins whose web pages may use the service, like https://catalog.example.org; requests of all other origins need an Authorization header; separated by commas, and the flag may be repeated",
    commands: server,
  }),
  signingKeyFile: setting(optionalFile, "", {
    shownDefault: "signing.key in the data directory",
    about: "File with the keys of access tokens, one on each line: the first signs, all verify",
    commands: server,
  }),
  secretKeyFile: setting(optionalFile, "", {
    shownDefault: "secret.key in the data directory",
    about:
      "File with the keys of stored secrets, one on each line: the first encrypts, all decrypt; nodes of a cluster need the same file",
    commands: server,
  }),
  tokenDurationMax: setting(choice("duration", tokenDurations), "NO_EXPIRY", {
    about: "Longest lifetime of access tokens; older tokens are not valid; NO_EXPIRY for no limit",
    commands: server,
  }),
  requestsPerSecondMax: setting(wholeNumber("requests", 0, 1_000_000), "0", {
    about:
      "Requests a second of one user, or of one address without a token, before 429; 0 for no limit",
    commands: server,
  }),
  streamsMax: setting(wholeNumber("streams", 1, 10_000), "100", {
    about: "Open change feeds of all users together; one more is answered with 429",
    commands: server,
  }),
  streamsPerUserMax: setting(wholeNumber("streams", 0, 10_000), "20", {
    about:
      "Open change feeds of one user, or of one address without a token; one more is answered with 429; 0 for no limit of its own",
    commands: server,
  }),
  onModelChange: setting(choice("what", ["rebuild", "refuse"]), "rebuild", {
    about:
      "Large views of another model: rebuild (they answer meanwhile), or refuse (search and graph answer 503 until an operator rebuilds them)",
    commands: server,
  }),
  readAuthorization: setting(choice("when", ["off", "on"]), "off", {
    about:
      "Whether policies decide which entities a user may read (View Entity Page and the like); on or off",
    commands: server,
  }),
  writeAuthorization: setting(choice("when", ["off", "on"]), "off", {
    about:
      "Whether policies decide which entities a user may write (Edit Entity and the like); on or off",
    commands: server,
  }),
  searchSecondsMax: setting(wholeNumber("seconds", 1, 3_600), "2", {
    about: "Computing time of one search in the data directory; a longer one is answered with 413",
    commands: server,
  }),
  auditDays: setting(wholeNumber("days", 0, 36_500), "0", {
    about: "Days of audit history to serve; 0 for all",
    commands: server,
  }),
  builtInEntities: setting(choice("when", ["on", "off"]), "on", {
    about:
      "Write the data platforms, types, roles, policies and root user that the log lacks at the start; on or off",
    commands: server,
  }),
  mcpWrites: setting(choice("when", ["off", "on"]), "off", {
    about: "Whether the tools at /mcp may write, with the privileges of the caller; on or off",
    commands: server,
  }),
  graphqlExplorer: setting(choice("when", ["off", "on"]), "off", {
    about: "Whether /api/graphql shows browsers a page to try queries on; on or off",
    commands: server,
  }),
  web: setting(choice("when", ["on", "off", "build"]), "on", {
    about:
      "Whether / shows the browser application; build also builds it at the start if its sources have changed (`npm start` sets it); on, off or build",
    commands: server,
  }),
  bodyBytesMax: setting(bytes(2 ** 10, 2 ** 29), "32MiB", {
    about: "Largest body of a request, after decompression; a larger one is answered with 413",
    commands: server,
  }),
  bodyMembersMax: setting(wholeNumber("members", 1_000, 100_000_000), "1000000", {
    about:
      "Maximum number of members of all objects and lists in a request body, or in an aspect value sent as text; more are answered with 413",
    commands: server,
  }),
  bodyDepthMax: setting(wholeNumber("levels", 8, jsonDepthMax), "128", {
    about:
      "Maximum nesting of a request body, or of an aspect value sent as text; deeper ones are answered with 400",
    commands: server,
  }),
  bodiesBytesMax: setting(bytes(2 ** 20, 2 ** 36), "32MiB", {
    about:
      "Maximum total size of the bodies of all requests in flight; a body over 1 MiB that exceeds it is answered with 503",
    commands: server,
  }),
  responsesBytesMax: setting(bytes(2 ** 20, 2 ** 36), "128MiB", {
    about:
      "Maximum total size of the responses over 1 MiB that clients have not read yet; a read that exceeds it is answered with 503",
    commands: server,
  }),
  aspectBytesMax: setting(bytes(2 ** 10, 16_000_000), "16000000", {
    about: "Largest value of an aspect, as JSON text; a larger one is answered with 413",
    commands: server,
  }),
  urnBytesMax: setting(bytes(32, 2 ** 14), "512", {
    about: "Longest urn, in bytes of UTF-8",
    commands: server,
  }),
  schemaFieldUrnBytesMax: setting(bytes(32, 2 ** 14), "2048", {
    about: "Longest urn of a schemaField, which holds the urn of its dataset",
    commands: server,
  }),
  cacheBytes: setting(bytes(0, 2 ** 36), "128MiB", {
    about: "Memory for the states of recently used entities",
    commands: server,
  }),
  projectorLagMax: setting(wholeNumber("records", 1, 10_000_000), "100000", {
    about: "Records that a view may lag behind the log before writes wait for it",
    commands: server,
  }),
  verifyIntervalSeconds: setting(wholeNumber("seconds", 0, 2_592_000), "21600", {
    about: "Time between two background verifications of the views; 0 for none",
    commands: server,
  }),
  tracesEndpoint: setting(text("url", "an http or https URL", /^(https?:\/\/[^\s]+)?$/), "", {
    shownDefault: "none",
    about:
      "OpenTelemetry collector that traces are sent to (OTLP over HTTP, like http://localhost:4318); OTEL_EXPORTER_OTLP_ENDPOINT also sets it",
    standardVariable: "OTEL_EXPORTER_OTLP_ENDPOINT",
    commands: server,
  }),
  shutdownTimeoutSeconds: setting(wholeNumber("seconds", 0, 86_400), "30", {
    about: "Time that requests in flight have to finish after a signal to stop",
    commands: server,
  }),
  server: setting(text("url", "a URL like http://127.0.0.1:8080", /^(https?:\/\/[^\s]+)?$/), "", {
    shownDefault: "of annals login, or that of --host and --port",
    about: "Address of the service that commands send requests to",
    commands: clients,
  }),
  tokenFile: setting(optionalFile, "", {
    shownDefault: "none",
    about: "File with the access token that commands send",
    commands: clients,
  }),
  token: setting(secret, "", {
    shownDefault: "of annals login",
    about: "Access token that commands send, unless --token-file names a file",
    commands: [],
  }),
  logLevel: setting(
    choice("level", ["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
    "info",
    { about: "Least level of the log lines on stderr", commands: offline },
  ),
  logFormat: setting(choice("format", ["auto", "json", "text"]), "auto", {
    shownDefault: "text on a terminal, json elsewhere",
    about: "Format of the log lines on stderr: json, text for people to read, or auto",
    commands: offline,
  }),
} as const;

export type SettingKey = keyof typeof settings;

export const settingKeys = Object.keys(settings) as readonly SettingKey[];

/** Type of a setting's value. */
export type Value<S> = S extends Setting<infer T> ? T : never;

/** `bodyBytesMax` → `--body-bytes-max` */
export const flagOf = (key: SettingKey): string => `--${words(key).join("-")}`;

/** `bodyBytesMax` → `ANNALS_BODY_BYTES_MAX` */
export const variableOf = (key: SettingKey): string =>
  variablePrefix + words(key).join("_").toUpperCase();

export const variablePrefix = "ANNALS_";

/** The default as people read it. */
export function defaultOf(key: SettingKey): string {
  const { fallback, shownDefault } = settings[key];
  return shownDefault ?? fallback;
}

const words = (key: string): readonly string[] =>
  key.split(/(?=[A-Z])/).map((word) => word.toLowerCase());

function setting<T>(
  kind: Kind<T>,
  fallback: string,
  rest: Pick<Setting<T>, "about" | "commands" | "shownDefault" | "standardVariable">,
): Setting<T> {
  return { kind, fallback, ...rest };
}
