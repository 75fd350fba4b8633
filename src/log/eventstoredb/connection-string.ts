/**
 * Parses a connection string: `esdb://[user:password@]host[:2113][,host…][?key=value&…]`, or
 * `esdb+discover://` with one DNS name for the whole cluster. `kurrentdb` and `kdb` are other names
 * of the scheme.
 *
 * | key | meaning |
 * | --- | --- |
 * | tls | `false`: no TLS; the client then sends no credentials either |
 * | tlsCAFile | certificate of the authority that signed the servers' certificates |
 * | userCertFile, userKeyFile | client certificate |
 * | defaultDeadline | timeout of a call, in milliseconds; 10,000 |
 * | keepAliveInterval, keepAliveTimeout | heartbeat, in milliseconds; 10,000 each, -1: none |
 * | nodePreference, discoveryInterval, gossipTimeout, maxDiscoverAttempts | discovery of a cluster |
 * | connectionName | name of this client in the server's log |
 * | maxAppendSize | the server's MaxAppendSize in bytes, where it is not the default of 1 MiB |
 *
 * Annals reads `maxAppendSize`; the client gets the rest. `tlsVerifyCert=false` is rejected, because the
 * client ignores it.
 */
import { CatalogError } from "../../core/errors.ts";
import { eventStoreSchemes } from "../../lib/connection-string.ts";

export interface Address {
  /** For the client. Contains the password, so it must not be logged. */
  readonly connection: string;
  /** Hosts without credentials, for messages. */
  readonly hosts: string;
  /** Maximum size of one append in bytes, as the server counts them. */
  readonly appendBytesMax: number;
  readonly secure: boolean;
  readonly withCredentials: boolean;
}

/** The server's default. */
export const appendBytesMaxByDefault = 1024 * 1024;

const KEYS = new Set(
  [
    "connectionName",
    "defaultDeadline",
    "discoveryInterval",
    "gossipTimeout",
    "keepAliveInterval",
    "keepAliveTimeout",
    "maxDiscoverAttempts",
    "nodePreference",
    "throwOnAppendFailure",
    "tls",
    "tlsCAFile",
    "tlsVerifyCert",
    "userCertFile",
    "userKeyFile",
  ].map((key) => key.toLowerCase()),
);
const OWN = "maxappendsize";
const FORM = /^([a-z]+)(\+discover)?:\/\/(?:([^@/?]*)@)?([^/?]+)\/?(?:\?(.*))?$/;

/** Throws CatalogError `invalid`. The client's own errors contain the password. */
export function parseAddress(connection: string): Address {
  const match = FORM.exec(connection.trim());
  if (match === null || !eventStoreSchemes.includes(match[1] ?? "")) {
    throw new CatalogError("invalid", "--log is not an EventStoreDB connection string", {
      hint: "Write it as esdb://user:password@host:2113?tls=true, or esdb://host:2113?tls=false",
    });
  }
  const [, , discover = "", credentials, hosts = "", query = ""] = match;
  let appendBytesMax = appendBytesMaxByDefault;
  let secure = true;
  const kept: string[] = [];
  for (const pair of query.split("&").filter((each) => each !== "")) {
    const [written = "", value = ""] = pair.split("=");
    // The client ignores letter case, underscores and hyphens in keys.
    const key = written.toLowerCase().replace(/[_-]/g, "");
    if (key === OWN) appendBytesMax = bytesOf(value);
    else if (KEYS.has(key)) kept.push(pair);
    else {
      throw new CatalogError("invalid", `the log's address has an unknown key "${written}"`, {
        hint: `Use one of ${[...KEYS, OWN].join(", ")}`,
      });
    }
    if (key === "tls") secure = value !== "false";
    if (key === "tlsverifycert" && value.trim() === "false") throw unverified();
  }
  const user = credentials === undefined ? "" : `${credentials}@`;
  return {
    // The client accepts only the scheme esdb.
    connection: `esdb${discover}://${user}${hosts}${kept.length === 0 ? "" : `?${kept.join("&")}`}`,
    hosts,
    appendBytesMax,
    secure,
    withCredentials: credentials !== undefined,
  };
}

const unverified = (): CatalogError =>
  new CatalogError("invalid", "--log has tlsVerifyCert=false, which the client does not support", {
    hint: "Name the authority's certificate with tlsCAFile=ca.crt; without TLS write tls=false",
  });

function bytesOf(value: string): number {
  const bytes = Number(value);
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw new CatalogError("invalid", `the log's address has the maxAppendSize "${value}"`, {
    hint: "Give the value of the server's MaxAppendSize in bytes",
  });
}
