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

type Send = (request: Request) => Promise<Response>;

/** 502 and 504 come from proxies in front of the service. */
const transient: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export function retryingFetch(send: Send, options: RetryOptions): Send {
  const { attemptsMax = 4, onRetry } = options;
  return async (request) => {
    const isSafe = isRead(request) || request.headers.has("idempotency-key");
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= attemptsMax;
      // A request with a body can be sent once.
      const copy = last ? request : request.clone();
      try {
        const response = await send(copy);
        const again = transient.has(response.status) && (isSafe || response.status === 429);
        if (last || !again) return response;
        onRetry?.(`status ${response.status}`);
        await response.body?.cancel();
        await pause(delayOf(attempt, options, response), request.signal);
      } catch (error) {
        if (last || !isSafe || request.signal.aborted) throw error;
        onRetry?.(reasonOf(error));
        await pause(delayOf(attempt, options), request.signal);
      }
    }
  };
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
