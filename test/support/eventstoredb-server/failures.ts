/** Errors that calls to the EventStoreDB protocol double end with. */
import { Metadata, type StatusObject, status } from "@grpc/grpc-js";

export type Failure = Error & Pick<StatusObject, "code" | "details" | "metadata">;

export function failure(
  code: status,
  details: string,
  trailers: Readonly<Record<string, string>> = {},
): Failure {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, value);
  return Object.assign(new Error(details), { code, details, metadata });
}

export const notLeader = (leader: { readonly host: string; readonly port: number }): Failure =>
  failure(status.NOT_FOUND, "Leader info available", {
    exception: "not-leader",
    "leader-endpoint-host": leader.host,
    "leader-endpoint-port": String(leader.port),
  });

export const accessDenied = (): Failure =>
  failure(status.PERMISSION_DENIED, "Access Denied", { exception: "access-denied" });

/** The error of every call with a wrong user or password. */
export const unauthenticated = (): Failure => failure(status.UNAUTHENTICATED, "Unauthenticated");
