/** Translates errors of the driver into CatalogErrors with a hint. */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../../core/errors.ts";
import { speaksNoTls } from "../../lib/connection-string.ts";
import type { KafkaAddress } from "./kafka-address.ts";

/** The protocol's name of an error; undefined for connection failures and the like. */
export function errorTypeOf(error: unknown): string | undefined {
  return innermost(error).type;
}

/**
 * A newer producer with the same transactional id took over; 90 is the driver's unknown
 * PRODUCER_FENCED.
 */
export function isFenced(error: unknown): boolean {
  const { type, message } = innermost(error);
  return type === "INVALID_PRODUCER_EPOCH" || /\berror code 90\b/.test(message);
}

export const isTooLarge = (error: unknown): boolean =>
  error instanceof CatalogError
    ? error.code === "too_large"
    : ["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"].includes(errorTypeOf(error) ?? "");

/** True for transient errors. */
export const isTransient = (error: unknown): boolean =>
  !(error instanceof CatalogError || isFenced(error) || isTooLarge(error) || isDenied(error));

const LOADING: ReadonlySet<string> = new Set([
  "GROUP_LOAD_IN_PROGRESS",
  "GROUP_COORDINATOR_NOT_AVAILABLE",
  "NOT_COORDINATOR_FOR_GROUP",
]);
const LOADING_PAUSE_MS = 250;

/** Retries while a broker reports that it is not ready yet, for at most `msMax`. */
export async function retryWhileLoading<T>(work: () => Promise<T>, msMax: number): Promise<T> {
  const end = Date.now() + msMax;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!LOADING.has(errorTypeOf(error) ?? "") || Date.now() > end) throw error;
      await delay(LOADING_PAUSE_MS);
    }
  }
}

/** `doing`: the failed operation; continues the message "Kafka at host:port". */
export function kafkaFailure(
  error: unknown,
  address: Pick<KafkaAddress, "brokers">,
  doing: string,
): CatalogError {
  if (error instanceof CatalogError) return error;
  const { message } = innermost(error);
  const server = `Kafka at ${address.brokers.join(",")}`;
  return new CatalogError("unavailable", `${server} ${doing}: ${message}`, {
    hint: hintFor(error),
    cause: error,
  });
}

function hintFor(error: unknown): string {
  const type = errorTypeOf(error) ?? "";
  if (isSaslFailure(error)) return "Check user, password and mechanism in ANNALS_KAFKA";
  if (type.endsWith("_AUTHORIZATION_FAILED")) {
    return "Grant the user of ANNALS_KAFKA the missing permission; annals check lists the required ones";
  }
  if (type === "KAFKA_STORAGE_ERROR") {
    return "Fix the cause in the broker's log, such as a full disk, and restart it; the feed continues by itself";
  }
  if (/\bcertificate\b/.test(innermost(error).message)) {
    return "Name the file with their authority's certificate in --store-certificates-file";
  }
  if (speaksNoTls(error)) {
    return "The brokers do not use TLS on this port: remove tls=true from ANNALS_KAFKA, or use their TLS port";
  }
  return "Check that the brokers run and that ANNALS_KAFKA has their addresses; the service retries";
}

const isSaslFailure = (error: unknown): boolean => {
  const { type = "", name } = innermost(error);
  return name.startsWith("KafkaJSSASL") || type.includes("SASL") || type === "ILLEGAL_SASL_STATE";
};

const isDenied = (error: unknown): boolean =>
  isSaslFailure(error) || (errorTypeOf(error) ?? "").endsWith("_AUTHORIZATION_FAILED");

/** The driver's message. */
export const reasonOf = (error: unknown): string => innermost(error).message;

interface DriverError {
  readonly name: string;
  readonly message: string;
  readonly type?: string | undefined;
}

/** The driver wraps errors in those of its retries, and several in one. */
function innermost(error: unknown): DriverError {
  if (!(error instanceof Error)) return { name: "", message: String(error) };
  if ("errors" in error && Array.isArray(error.errors) && error.errors.length > 0) {
    return innermost(error.errors[0]);
  }
  if (error.cause instanceof Error) return innermost(error.cause);
  return error as DriverError;
}
