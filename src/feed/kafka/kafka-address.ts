/**
 * Parses the address of Kafka: `host:port,host:port`, or a URL with options, such as
 * `kafka://user:password@host:port,host:port?tls=true&mechanism=scram-sha-512&topicPrefix=test.`.
 * User name and password are percent-encoded in the URL.
 */
import { CatalogError } from "../../core/errors.ts";
import { withoutPassword } from "../../lib/connection-string.ts";

const mechanisms = ["scram-sha-512", "scram-sha-256", "plain"] as const;
const compressions = ["none", "gzip"] as const;

export interface KafkaAddress {
  /** `host:port`, at least one. */
  readonly brokers: readonly string[];
  readonly tls: boolean;
  readonly login:
    | {
        readonly mechanism: (typeof mechanisms)[number];
        readonly username: string;
        readonly password: string;
      }
    | undefined;
  /** Prefix of the names of topics, groups and transactions; usually empty. */
  readonly topicPrefix: string;
  readonly compression: (typeof compressions)[number];
  /** Number of partitions of created topics; undefined: the feed's default. */
  readonly partitions: number | undefined;
}

const DEFAULT_PORT = 9092;
const PARTITIONS_MAX = 1_000;
const topicCharacters = /^[A-Za-z0-9._-]{0,100}$/;
const options = ["tls", "mechanism", "topicPrefix", "compression", "partitions"];

/** Throws `invalid`; the message never contains the password. */
export function parseKafkaAddress(text: string): KafkaAddress {
  const reject = (why: string): never => {
    throw new CatalogError("invalid", `the Kafka address "${withoutPassword(text)}" ${why}`, {
      hint: "Write host:port,host:port or kafka://user:password@host:port,host:port?tls=true&mechanism=scram-sha-512",
    });
  };
  const url = /^kafka:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/?(?:\?([^#]*))?$/.exec(text);
  if (url === null && text.includes("/")) return reject("is not a URL of the scheme kafka://");
  const [, user, hosts = text, query = ""] = url ?? [];

  const parameters = new URLSearchParams(query);
  const oneOf = <const T extends string>(name: string, allowed: readonly T[], usual: T): T => {
    const given = parameters.get(name) ?? usual;
    return (
      allowed.find((each) => each === given) ??
      reject(`has ${name}=${given}, of which ${allowed.join(", ")} are known`)
    );
  };
  for (const name of parameters.keys()) {
    if (!options.includes(name)) {
      return reject(`has an unknown option "${name}"; there are ${options.join(", ")}`);
    }
  }
  const topicPrefix = parameters.get("topicPrefix") ?? "";
  if (!topicCharacters.test(topicPrefix)) {
    return reject(`has the topicPrefix "${topicPrefix}", which is no beginning of a topic's name`);
  }
  const mechanism = oneOf("mechanism", mechanisms, "scram-sha-512");
  if (user === undefined && parameters.has("mechanism"))
    return reject("has a mechanism but no user");
  return {
    brokers: hosts.split(",").map((host) => brokerOf(host.trim(), reject)),
    tls: oneOf("tls", ["true", "false"], "false") === "true",
    login: user === undefined ? undefined : { mechanism, ...loginOf(user, reject) },
    topicPrefix,
    compression: oneOf("compression", compressions, "none"),
    partitions: partitionsOf(parameters.get("partitions"), reject),
  };
}

type Reject = (why: string) => never;

function brokerOf(text: string, reject: Reject): string {
  const [, host, port] = /^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (host === undefined) return reject(`names no host in "${withoutPassword(text)}"`);
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (number < 1 || number > 65_535) return reject(`has the port ${port} of 1 to 65535`);
  return `${host}:${number}`;
}

function loginOf(user: string, reject: Reject): { username: string; password: string } {
  const [, name = "", password] = /^([^:]*)(?::(.*))?$/s.exec(user) ?? [];
  if (name === "" || password === undefined) return reject("has a user without name or password");
  try {
    return { username: decodeURIComponent(name), password: decodeURIComponent(password) };
  } catch {
    return reject("has a user or password that is not percent-encoded");
  }
}

function partitionsOf(text: string | null, reject: Reject): number | undefined {
  if (text === null) return undefined;
  const number = Number(text);
  const fits = Number.isInteger(number) && number >= 1 && number <= PARTITIONS_MAX;
  return fits ? number : reject(`has partitions=${text} of 1 to ${PARTITIONS_MAX}`);
}
