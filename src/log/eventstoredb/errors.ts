/**
 * Translates errors of the client and of gRPC into errors of the catalog, and distinguishes transient
 * errors from permanent ones. An error here does not mean that an append did not happen.
 */
import {
  AccessDeniedError,
  CancelledError,
  convertToCommandError,
  DeadlineExceededError,
  NotLeaderError,
  StreamDeletedError,
  StreamNotFoundError,
  TimeoutError,
  UnavailableError,
} from "@eventstore/db-client";
import { CatalogError } from "../../core/errors.ts";
import { isUntrusted, speaksNoTls } from "../../lib/connection-string.ts";
import { WrongRevision } from "../change-log.ts";

/** True if a retry may succeed, on this server or on a new leader. */
export function isTransient(error: unknown): boolean {
  if (error instanceof WrongRevision) return false;
  if (error instanceof CatalogError) return error.cause !== undefined && isTransient(error.cause);
  const known = asCommandError(error);
  if (known instanceof AccessDeniedError || known instanceof StreamDeletedError) return false;
  return (
    known instanceof UnavailableError ||
    known instanceof CancelledError ||
    known instanceof NotLeaderError ||
    known instanceof TimeoutError ||
    known instanceof DeadlineExceededError ||
    /server is (not ready|busy)|no leader|discover|channel|deadline|not handled/i.test(
      messageOf(known),
    )
  );
}

/** True for a user without permission; false for an unknown user or a wrong password. */
export const isAccessDenied = (error: unknown): boolean => {
  if (error instanceof CatalogError)
    return error.cause !== undefined && isAccessDenied(error.cause);
  const known = asCommandError(error);
  // The client throws the same error for both.
  if (codeOf(known) === status.unauthenticated) return false;
  return known instanceof AccessDeniedError || codeOf(known) === status.denied;
};

/** True for a read of $all from a position that no record has. */
export const isInvalidPosition = (error: unknown): boolean => {
  if (error instanceof CatalogError)
    return error.cause !== undefined && isInvalidPosition(error.cause);
  return INVALID_POSITION.test(messageOf(asCommandError(error)));
};

/** The server reports it only in the message. */
const INVALID_POSITION =
  /Unexpected (Filtered)?ReadAllResult: InvalidPosition|read from an invalid position/;

export const noSuchPosition = (at: number, cause: unknown): CatalogError =>
  new CatalogError("invalid", `position ${at} is not the position of a record of this log`, {
    hint: "Continue with a position that the service returned",
    cause,
  });

export const streamDeleted = (stream: string, hosts: string, cause?: unknown): CatalogError =>
  new CatalogError("gone", `stream "${stream}" is tombstoned in eventstoredb at ${hosts}`, {
    hint: "A tombstone is permanent: do not send the request again; to get the stream back, restore the log from a backup",
    cause,
  });

/** True for a stream that does not exist, or was deleted for good. */
export const isNoStream = (error: unknown): boolean => {
  const known = asCommandError(error);
  return known instanceof StreamNotFoundError || known instanceof StreamDeletedError;
};

/** True for a stream that was deleted for good. */
export const isStreamDeleted = (error: unknown): boolean =>
  asCommandError(error) instanceof StreamDeletedError;

/** `hosts`: the hosts of the address, without credentials. */
export function translated(error: unknown, hosts: string): CatalogError | WrongRevision {
  if (error instanceof CatalogError || error instanceof WrongRevision) return error;
  const cause = asCommandError(error);
  const unavailable = (message: string, hint: string): CatalogError =>
    new CatalogError("unavailable", message, { hint, cause });
  if (codeOf(cause) === status.unauthenticated) {
    return unavailable(
      `eventstoredb at ${hosts} rejects the user or the password`,
      "Correct user:password@ in --log, with special characters percent-encoded",
    );
  }
  if (isAccessDenied(cause)) {
    return unavailable(
      `eventstoredb at ${hosts} denies access`,
      "Use a user that may read $all and write streams, over TLS: a member of $admins, or one that the server's access lists allow",
    );
  }
  if (cause instanceof NotLeaderError) {
    return unavailable(
      `eventstoredb at ${hosts} has no leader yet`,
      "Try again when one is elected",
    );
  }
  if (cause instanceof DeadlineExceededError || cause instanceof TimeoutError) {
    return unavailable(
      `eventstoredb at ${hosts} did not answer in time`,
      "Check the load of the server and the network; defaultDeadline in the log's address sets the timeout",
    );
  }
  if (cause instanceof StreamDeletedError) return streamDeleted(cause.streamName, hosts, cause);
  if (speaksNoTls(new Error(messageOf(cause)))) {
    return unavailable(
      `cannot reach eventstoredb at ${hosts}: the server does not use TLS on this port`,
      "Add ?tls=false to the log's address, or switch TLS on in the server",
    );
  }
  if (isUntrusted(new Error(messageOf(cause)))) {
    return unavailable(
      `cannot reach eventstoredb at ${hosts}: certificate signed by an unknown authority`,
      "Add tlsCAFile=<file with the authority's certificate> to the log's address",
    );
  }
  const said = messageOf(cause).replace(/[.\s]+$/, "");
  if (isResponse(cause)) {
    return unavailable(
      `eventstoredb at ${hosts} answered with an error: ${said}`,
      "See the log of the server for the cause",
    );
  }
  return unavailable(
    `cannot reach eventstoredb at ${hosts}: ${said}`,
    "Check that the server runs, and that the host, TLS and certificates in the log's address are right",
  );
}

export const accessDenied = (hosts: string): Error =>
  translated(new AccessDeniedError(undefined), hosts);

export const lostResponse = (hosts: string, cause: CatalogError): CatalogError =>
  new CatalogError("unavailable", `the response of eventstoredb at ${hosts} was lost`, {
    hint: "The records may be in the log or not. Read them back, or send the request again with the same idempotency key",
    cause,
  });

export const appendTooLarge = (stream: string, bytes: number, max: number): CatalogError =>
  new CatalogError(
    "too_large",
    `an append to "${stream}" has ${bytes} bytes; at most ${max} are allowed`,
    {
      hint: "Raise MaxAppendSize of the EventStoreDB server, and set maxAppendSize=<bytes> in the log's address",
    },
  );

/** Status codes of gRPC. */
const status = { cancelled: 1, denied: 7, unavailable: 14, unauthenticated: 16 };

const codeOf = (error: Error): number | undefined => {
  const { code } = error as { code?: unknown };
  return typeof code === "number" ? code : undefined;
};

/** True if a server sent the error. Without a server, gRPC uses these codes; discovery has none. */
const isResponse = (error: Error): boolean =>
  ![undefined, status.cancelled, status.unavailable].includes(codeOf(error));

export const asCommandError = (error: unknown): Error =>
  error instanceof Error ? convertToCommandError(error) : new Error(String(error));

const messageOf = (error: Error): string => {
  const details = (error as { _raw?: { details?: string } })._raw?.details;
  // Removes a note that gRPC appends if it has no resolution for the error.
  return (details || error.message || error.name).replace(/[\s.]*Resolution note:[\s.]*$/, "");
};
