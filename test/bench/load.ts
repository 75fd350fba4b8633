/** HTTP load from one process: requests per second and latencies, by autocannon. */
import { setTimeout as pause } from "node:timers/promises";
import autocannon from "autocannon";

export interface Load {
  readonly url: string;
  readonly method: "GET" | "POST";
  /** Paths and bodies, used in turn. */
  readonly requests: readonly { readonly path: string; readonly body?: string }[];
  /** Headers in addition to the content type. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly connections: number;
  readonly seconds: number;
  /** The rate of all connections together; unlimited if absent. */
  readonly perSecondMax?: number | undefined;
}

export interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Warm-up with a rate limit, until all connections have prepared their requests. */
export const beginMs = 3_000;

/** A response that takes longer is an error; long enough for a busy machine. */
const answerSecondsMax = 60;

/** Throws for a response other than 2xx, because a benchmark of errors is meaningless. */
export async function load({
  url,
  method,
  requests,
  headers: more,
  connections,
  seconds,
  perSecondMax,
}: Load): Promise<Measured> {
  const headers = { "content-type": "application/json", ...more };
  const own = connectionShares(
    requests.map(({ path, body }) => ({ method, path, body, headers })),
    connections,
  );
  const run = async (options: Partial<autocannon.Options>) => {
    const setupClient = (client: autocannon.Client) => client.setRequests(own());
    const timeout = answerSecondsMax;
    const result = await autocannon({ url, duration: seconds, timeout, setupClient, ...options });
    if (result.non2xx > 0 || result.errors > 0) {
      throw new Error(
        `${result.non2xx} answers were no success, ${result.errors} errors, at ${url}`,
      );
    }
    return {
      perSecond: result["2xx"] / result.duration,
      p50Ms: result.latency.p50,
      p99Ms: result.latency.p99,
    };
  };
  if (perSecondMax === undefined) return run({ connections });
  // A connection sends its requests of a second at once, so the connections begin at different
  // times.
  const parts = await Promise.all(
    Array.from({ length: connections }, async (_, n) => {
      await pause((n * beginMs) / connections);
      return run({ connections: 1, overallRate: Math.round(perSecondMax / connections) });
    }),
  );
  const [first, ...others] = parts as [Measured, ...Measured[]];
  return others.reduce(
    (all, one) => ({
      perSecond: all.perSecond + one.perSecond,
      p50Ms: Math.max(all.p50Ms, one.p50Ms),
      p99Ms: Math.max(all.p99Ms, one.p99Ms),
    }),
    first,
  );
}

/** Each connection gets its own share of the requests, so that no two send the same one at once. */
function connectionShares<T>(requests: readonly T[], connections: number): () => T[] {
  const size = Math.max(1, Math.floor(requests.length / connections));
  let next = 0;
  return () => {
    const share = requests.slice(next * size, (next + 1) * size);
    next = (next + 1) % connections;
    return share.length === 0 ? [...requests] : share;
  };
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
