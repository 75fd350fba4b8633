/**
 * Addresses of servers, which may contain credentials: `scheme://user:password@host`. Messages never
 * show the password, even if the address is invalid.
 */

/** `scheme://user:password@host` → `scheme://user:***@host` */
export const withoutPassword = (address: string): string =>
  address.replace(/^([\w+.-]*:\/\/|)([^:@/?#]*):(?!\/\/).*@/s, "$1$2:***@");

/** Schemes of an EventStoreDB address; KurrentDB is the newer name of EventStoreDB. */
export const eventStoreSchemes: readonly string[] = [
  ...["esdb", "esdb+discover"],
  ...["kurrentdb", "kurrentdb+discover", "kdb", "kdb+discover"],
];

/** A part of an address; as it stands where its percent signs are none that encode. */
export function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The driver's error says that the client used TLS and the server does not. */
export const speaksNoTls = (error: unknown): boolean =>
  error instanceof Error && (PLAIN.test(error.message) || speaksNoTls(error.cause));

const PLAIN =
  /wrong version number|before secure TLS connection was established|does not support SSL|error establishing an SSL connection|packet length too long/;

/** The driver's error says that the server's certificate is signed by an unknown authority. */
export const isUntrusted = (error: unknown): boolean =>
  error instanceof Error && (UNTRUSTED.test(error.message) || isUntrusted(error.cause));

const UNTRUSTED =
  /self[- ]signed certificate|unable to (verify the first|get (local )?issuer) certificate/;
