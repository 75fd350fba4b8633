/**
 * Sends a request again after a transient failure, a bounded number of times. Only safe requests are
 * repeated: reads, writes with an `Idempotency-Key`, and any request that was rejected with 429,
 * which the service rejects before it does anything.
 */

export interface RetryOptions {
  /** Attempts in total; 1 for no retries. Default: 4. */
  readonly attemptsMax?: number | undefined;
  /** Delay before the second attempt, in milliseconds; doubles with each attempt. Default: 250. */
  readonly retryDelayMs?: number | undefined;
  /** Longest delay, in milliseconds; also of a `Retry-After`. Default: 10,000. */
  readonly retryDelayMsMax?: number | undefined;
  /** Called before each wait with the reason. */
  readonly onRetry?: ((reason: string) => void) | undefined;
}

/** 502 and 504 come from proxies in front of the service. */
const transient: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export const isTransient = ({ status }: Response): boolean => transient.has(status);

/** Sends with `fetch` or in its place. */
export const retryingFetch =
  (send: (request: Request) => Promise<Response>, options: RetryOptions) =>
  (request: Request): Promise<Response> => {
    const isSafe = isRead(request) || request.headers.has("idempotency-key");
    // A body can be sent once: each attempt sends a copy.
    return retrying(() => send(request.clone()), { ...options, isSafe, signal: request.signal });
  };

/** The response of the last attempt, also where that is transient. Throws what the last attempt throws. */
export async function retrying(
  attempt: () => Promise<Response>,
  options: RetryOptions & { readonly isSafe: boolean; readonly signal: AbortSignal },
): Promise<Response> {
  const { attemptsMax = 4, onRetry, isSafe, signal } = options;
  for (let number = 1; ; number++) {
    const last = number >= attemptsMax;
    try {
      const response = await attempt();
      const again = isTransient(response) && (isSafe || response.status === 429);
      if (last || !again) return response;
      onRetry?.(await statusOf(response));
      await pause(delayOf(number, options, response), signal);
    } catch (error) {
      if (last || !isSafe || signal.aborted || isPermanent(error)) throw error;
      onRetry?.(reasonOf(error));
      await pause(delayOf(number, options), signal);
    }
  }
}

/** A server that does not speak TLS, or has a wrong certificate, has it after a delay, too. */
const isPermanent = (error: unknown): boolean => /^ERR_(SSL|TLS)_/.test(reasonOf(error));

/** `status 503: disk full`; reads the body, which frees the connection. */
export async function statusOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined);
  const { status } = response;
  if (typeof body !== "object" || body === null || !("message" in body)) return `status ${status}`;
  return `status ${status}: ${String(body.message)}`;
}

const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD";

function delayOf(attempt: number, options: RetryOptions, response?: Response): number {
  const { retryDelayMs = 250, retryDelayMsMax = 10_000 } = options;
  const asked = retryAfterMs(response?.headers.get("retry-after") ?? null);
  const delay = asked ?? retryDelayMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2);
  return Math.min(delay, retryDelayMsMax);
}

/** Seconds or an HTTP date; undefined when absent or malformed. */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Rejects with the signal's reason when it aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

/** `fetch` says "fetch failed" and has the reason as its cause. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}
