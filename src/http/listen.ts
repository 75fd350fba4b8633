/** The address of the HTTP server: checked before the start opens anything, and bound at its end. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { CatalogError } from "../core/errors.ts";

interface Address {
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
}

/**
 * Binds the address and releases it. A start that cannot listen fails here, before it opens a store.
 * Throws CatalogError `unavailable` for a port in use, and `invalid` for an address that this machine
 * does not have or a port that needs other rights.
 */
export async function checkAddress(address: Address): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen({ host: address.host, port: address.port }), "listening");
  } catch (cause) {
    throw cannotListen(address, cause);
  }
  server.close();
  await once(server, "close");
}

/** Binds the address and returns the URL of the server. Throws as checkAddress does. */
export async function listen(
  http: { readonly server: Server; listen(address: Address): PromiseLike<unknown> },
  address: Address,
): Promise<string> {
  try {
    // Fastify adds properties to its options.
    await http.listen({ host: address.host, port: address.port });
  } catch (cause) {
    throw cannotListen(address, cause);
  }
  const { address: bound, port } = http.server.address() as AddressInfo;
  const shown = address.host === "localhost" ? address.host : bound;
  return `http://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}

function cannotListen({ host, port }: Address, cause: unknown): CatalogError {
  const { code, message } = cause as NodeJS.ErrnoException;
  // Another program may release the port; any other error is a wrong setting.
  const inUse = code === "EADDRINUSE";
  return new CatalogError(inUse ? "unavailable" : "invalid", `cannot listen on ${host}:${port}`, {
    hint: inUse
      ? `${message}. Name another port with --port, or 0 for a free one`
      : `${message}. Name an address of this machine with --host, and a port that you may use`,
    cause,
  });
}
