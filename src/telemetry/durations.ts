/**
 * A Prometheus histogram for measurements of every request: plain numbers by route, formatted when
 * the metrics are read. Prometheus' library validates every label at each observation, which takes
 * longer than routing a request.
 */
import { appendAll } from "../lib/lists.ts";

interface Durations {
  observe(request: { route: string; method: string; status: number; seconds: number }): void;
  /** In the text format, without a final line break. */
  text(): string;
}

interface Series {
  readonly method: string;
  readonly status: number;
  /** Count of each bucket, not cumulative. */
  readonly counts: number[];
  count: number;
  sum: number;
}

/**
 * `buckets`: upper bounds, ascending. Label values come from the service only, so they are not
 * escaped.
 */
export function createDurations(
  name: string,
  options: { readonly help: string; readonly buckets: readonly number[] },
): Durations {
  const { help, buckets } = options;
  const routes = new Map<string, Series[]>();

  function seriesOf(route: string, method: string, status: number): Series {
    let ofRoute = routes.get(route);
    if (ofRoute === undefined) {
      ofRoute = [];
      routes.set(route, ofRoute);
    }
    // A route has few statuses; the most common one is first.
    for (const one of ofRoute) if (one.status === status && one.method === method) return one;
    const own = { method, status, counts: buckets.map(() => 0), count: 0, sum: 0 };
    ofRoute.push(own);
    return own;
  }

  function linesOf(route: string, { method, status, counts, count, sum }: Series): string[] {
    const labels = `route="${route}",method="${method}",status="${status}"`;
    let upTo = 0;
    const within = buckets.map((most, at) => {
      upTo += counts[at] ?? 0;
      return `${name}_bucket{le="${most}",${labels}} ${upTo}`;
    });
    return [
      ...within,
      `${name}_bucket{le="+Inf",${labels}} ${count}`,
      `${name}_sum{${labels}} ${sum}`,
      `${name}_count{${labels}} ${count}`,
    ];
  }

  return {
    observe({ route, method, status, seconds }) {
      const own = seriesOf(route, method, status);
      own.count++;
      own.sum += seconds;
      const at = buckets.findIndex((most) => seconds <= most);
      if (at >= 0) own.counts[at] = (own.counts[at] ?? 0) + 1;
    },

    text() {
      const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`];
      for (const [route, ofRoute] of routes) {
        for (const one of ofRoute) appendAll(lines, linesOf(route, one));
      }
      return lines.join("\n");
    },
  };
}
