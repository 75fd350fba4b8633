/** Errors of the client: an error response, or a service that does not answer. */

export class AnnalsError extends Error {
  override readonly name = "AnnalsError";
  /** HTTP status; 0 when no response arrived. */
  readonly status: number;
  /** Stable code of the service, like `not_found`; `unavailable` when no response arrived. */
  readonly code: string;

  constructor(message: string, status: number, code: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

/** No response arrived: the service is down, or the connection was lost. */
export const unreachable = (address: string, reason: string, cause: unknown): AnnalsError =>
  new AnnalsError(`${address} did not answer (${reason})`, 0, "unavailable", {
    cause: cause instanceof Error ? (cause.cause ?? cause) : cause,
  });

/** `body`: the parsed body of an error response. */
export function errorOf(response: Response, body: unknown): AnnalsError {
  const { message, code } = membersOf(body);
  const text = message ?? `status ${response.status} ${response.statusText}`.trim();
  return new AnnalsError(text, response.status, code ?? "internal");
}

function membersOf(body: unknown): { readonly message?: string; readonly code?: string } {
  if (typeof body !== "object" || body === null) return {};
  const { message, code } = body as Readonly<Record<string, unknown>>;
  return {
    ...(typeof message === "string" && { message }),
    ...(typeof code === "string" && { code }),
  };
}
