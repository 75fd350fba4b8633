/**
 * Sends operations to a running service. Nothing is retried: an operation whose response was lost may
 * have begun, which `annals jobs` shows.
 */
import { type components, createAnnalsClient } from "../../client/client.ts";
import { CatalogError } from "../../core/errors.ts";
import { reach } from "./connection.ts";
import { noAnswer } from "./connection-error.ts";

type Schemas = components["schemas"];

type ActionOf<Name> = Name extends `Operations${infer Action}Reply` ? Uncapitalize<Action> : never;
type OperatorAction = ActionOf<keyof Schemas>;

export type ResultOf<Action extends OperatorAction> =
  Schemas[`Operations${Capitalize<Action>}Reply` & keyof Schemas] extends { value: infer Value }
    ? Value
    : never;

export interface OperatorClient {
  /**
   * The result of an action. Throws CatalogError: `unavailable` if no service responds. For a
   * rejected request, it has the message of the service.
   */
  act<Action extends OperatorAction>(action: Action, body?: object): Promise<ResultOf<Action>>;
}

/** The service responds within seconds; restoring waits for its job for some. */
const requestMsMax = 60_000;
/** `server` without a slash at the end. */
export function createOperatorClient(server: string, token: string | undefined): OperatorClient {
  let reached: Promise<void> | undefined;
  return {
    async act<Action extends OperatorAction>(action: Action, body: object = {}) {
      const signal = AbortSignal.timeout(requestMsMax);
      const client = createAnnalsClient({ address: server, token, signal, attemptsMax: 1 });
      reached ??= reach(server);
      await reached;
      const path = `/operations?action=${action}` as "/operations?action=getStatus";
      const { data, error, response } = await client
        .POST(path, { body: Object.fromEntries(Object.entries(body)) })
        .catch((cause: unknown) => {
          throw noAnswer(server, cause);
        });
      const payload: unknown = data ?? error;
      if (response.ok && hasValue<ResultOf<Action>>(payload)) return payload.value;
      throw rejection(server, response.status, messageOf(payload));
    },
  };
}

const hasValue = <T>(payload: unknown): payload is { readonly value: T } =>
  typeof payload === "object" && payload !== null && "value" in payload;

function messageOf(payload: unknown): string | undefined {
  const has = typeof payload === "object" && payload !== null && "message" in payload;
  return has && typeof payload.message === "string" ? payload.message : undefined;
}

function rejection(server: string, status: number, message: string | undefined): CatalogError {
  const text = message ?? `status ${status}, which no catalog gives`;
  if (status === 401 || status === 403) {
    return new CatalogError("invalid", `${server} rejected the request: ${text}`, {
      hint: "Name the data directory of the service with --data, or a file with a token with --token-file",
    });
  }
  // For other 4xx statuses another attempt with the same request fails again.
  const isRequestError = status >= 400 && status < 500 && status !== 409 && status !== 429;
  return new CatalogError(isRequestError ? "invalid" : "unavailable", text);
}
