/**
 * The address of an EventStoreDB: `esdb://[user:password@]host[:2113][,host…][?key=value&…]`, or
 * `esdb+discover://` with one DNS name for the whole cluster. `kurrentdb` and `kdb` are other names
 * of the scheme.
 *
 * | key | meaning |
 * | --- | --- |
 * | tls | `false`: no TLS, and no credentials either, because the client sends none then |
 * | tlsCAFile | file of the authority that signed the servers' certificates |
 * | userCertFile, userKeyFile | client certificate |
 * | defaultDeadline | longest time of a call, in milliseconds; 10,000 |
 * | keepAliveInterval, keepAliveTimeout | heartbeat, in milliseconds; 10,000 each, -1: none |
 * | nodePreference, discoveryInterval, gossipTimeout, maxDiscoverAttempts | discovery of a cluster |
 * | connectionName | name of this client in the server's log |
 * | maxAppendSize | the server's MaxAppendSize in bytes, where it is not the default of 1 MiB |
 *
 * Annals reads `maxAppendSize`; the client gets the rest. `tlsVerifyCert=false` is rejected, because the
 * client ignores it.
 */
import { CatalogError } from "../../core/errors.ts";
import { eventStoreSchemes } from "../../core/server-address.ts";

export interface Address {
  /** For the client. Holds the password: never to be shown. */
  readonly connection: string;
  /** Hosts without credentials, as messages name them. */
  readonly hosts: string;
  /** What one append may carry in bytes, as the server counts it. */
  readonly appendBytesMax: number;
  readonly secure: boolean;
  readonly withCredentials: boolean;
}

/** What a server takes where nobody has set it. */
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

/** Throws CatalogError `invalid`. The client would say the same, but with the password in it. */
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
    // The client takes keys in any letter case, with underscores and hyphens or without.
    const key = written.toLowerCase().replace(/[_-]/g, "");
    if (key === OWN) appendBytesMax = bytesOf(value);
    else if (KEYS.has(key)) kept.push(pair);
    else {
      throw new CatalogError("invalid", `the log's address has an unknown key "${written}"`, {
        hint: `Known are ${[...KEYS, OWN].join(", ")}`,
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
    hint: "Give the number of bytes that the server is set to",
  });
}
