/**
 * What the client and gRPC say, in the log's own words. What may be tried again is told apart from
 * what will fail for ever; nothing here tells whether an append happened.
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
import { isUntrusted, speaksNoTls } from "../../core/server-address.ts";
import { WrongRevision } from "../change-log.ts";

/** Whether the server, or another that leads by then, may answer when it is asked again. */
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

export const isAccessDenied = (error: unknown): boolean => {
  if (error instanceof CatalogError)
    return error.cause !== undefined && isAccessDenied(error.cause);
  const known = asCommandError(error);
  return known instanceof AccessDeniedError || (known as { code?: number }).code === DENIED;
};

/** Of an unknown stream, and of one that was deleted for good. */
export const isNoStream = (error: unknown): boolean => {
  const known = asCommandError(error);
  return known instanceof StreamNotFoundError || known instanceof StreamDeletedError;
};

/** `hosts`: of the address, without credentials. */
export function translated(error: unknown, hosts: string): CatalogError | WrongRevision {
  if (error instanceof CatalogError || error instanceof WrongRevision) return error;
  const cause = asCommandError(error);
  const told = (message: string, hint: string): CatalogError =>
    new CatalogError("unavailable", message, { hint, cause });
  if (isAccessDenied(cause)) {
    return told(
      `eventstoredb at ${hosts} denies access`,
      "Give the log's address a user that may read $all and write streams, over TLS: one of $admins, or one that the server's access lists let in",
    );
  }
  if (cause instanceof NotLeaderError) {
    return told(`eventstoredb at ${hosts} has no leader yet`, "Try again when one is elected");
  }
  if (cause instanceof DeadlineExceededError || cause instanceof TimeoutError) {
    return told(
      `eventstoredb at ${hosts} did not answer in time`,
      "Look whether it is busy or far away; defaultDeadline in the log's address says how long we wait",
    );
  }
  if (cause instanceof StreamDeletedError) {
    return told(
      `stream "${cause.streamName}" was deleted for good in eventstoredb at ${hosts}`,
      "A tombstone cannot be taken away: restore the log from a backup",
    );
  }
  if (speaksNoTls(new Error(messageOf(cause)))) {
    return told(
      `cannot reach eventstoredb at ${hosts}: it speaks no TLS there`,
      "Add ?tls=false to the log's address, or switch TLS on in the server",
    );
  }
  if (isUntrusted(new Error(messageOf(cause)))) {
    return told(
      `cannot reach eventstoredb at ${hosts}: it shows a certificate that nobody known has signed`,
      "Name the file with its authority's certificate by tlsCAFile=… in the log's address",
    );
  }
  return told(
    `cannot reach eventstoredb at ${hosts}: ${messageOf(cause).replace(/[.\s]+$/, "")}`,
    "Look whether it runs, and whether address, TLS and certificates in the log's address are right",
  );
}

export const accessDenied = (hosts: string): Error =>
  translated(new AccessDeniedError(undefined), hosts);

export const lostAnswer = (hosts: string, cause: CatalogError): CatalogError =>
  new CatalogError("unavailable", `the answer of eventstoredb at ${hosts} was lost`, {
    hint: "The records may be in the log or not; send the request again with the same idempotency key, or look",
    cause,
  });

export const appendTooLarge = (stream: string, bytes: number, max: number): CatalogError =>
  new CatalogError("too_large", `an append to "${stream}" has ${bytes} bytes of at most ${max}`, {
    hint: "Raise MaxAppendSize of the EventStoreDB server, and say it with maxAppendSize=<bytes> in the log's address",
  });

const DENIED = 7;

export const asCommandError = (error: unknown): Error =>
  error instanceof Error ? convertToCommandError(error) : new Error(String(error));

const messageOf = (error: Error): string => {
  const details = (error as { _raw?: { details?: string } })._raw?.details;
  // What gRPC adds where nobody told it how to mend it.
  return (details || error.message || error.name).replace(/[\s.]*Resolution note:[\s.]*$/, "");
};
