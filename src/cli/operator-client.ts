/**
 * Asks the operations of a running service. Nothing is tried again by itself: an operation whose
 * answer was lost may have begun, which `annals jobs` tells.
 */
import { CatalogError } from "../core/errors.ts";
import { noAnswer } from "./no-answer.ts";

export interface OperatorClient {
  /**
   * The result of an action. Throws CatalogError: `unavailable` when nobody answers, otherwise as
   * the service refused, in its words.
   */
  act<T>(action: string, body?: object): Promise<T>;
}

/** The service answers of itself within seconds; restoring waits for its job for some. */
const requestMsMax = 60_000;
/** Whoever sends this is answered as clients of the reference are: pages, and no limit of ten rows. */
const protocol = { "x-restli-protocol-version": "2.0.0" };

/** `server` without a slash at the end. */
export function createOperatorClient(server: string, token: string): OperatorClient {
  return {
    async act<T>(action: string, body: object = {}): Promise<T> {
      const response = await fetch(`${server}/operations?action=${action}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${token}`,
          ...protocol,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(requestMsMax),
      }).catch((cause: unknown) => {
        throw noAnswer(server, cause);
      });
      const answer = (await response.json().catch(() => undefined)) as Answer | undefined;
      if (response.ok && answer !== undefined && "value" in answer) return answer.value as T;
      throw refusal(server, response.status, answer?.message);
    },
  };
}

interface Answer {
  readonly value?: unknown;
  readonly message?: string;
}

function refusal(server: string, status: number, message: string | undefined): CatalogError {
  const text = message ?? `status ${status}, which no catalog gives`;
  if (status === 401 || status === 403) {
    return new CatalogError("invalid", `${server} refused: ${text}`, {
      hint: "Name the data directory of the service with --data, or a file with a token with --token-file",
    });
  }
  // Who asked for what is not there, or may not be, has to ask something else.
  const told = status >= 400 && status < 500 && status !== 409 && status !== 429;
  return new CatalogError(told ? "invalid" : "unavailable", text);
}
