/**
 * A histogram of Prometheus for what is counted with each request: plain numbers by the text of their
 * labels, made lines of when somebody reads. Prometheus' library looks up and checks every label anew, which
 * costs a request more than routing it.
 */
export interface Durations {
  observe(request: { route: string; method: string; status: number; seconds: number }): void;
  /** In the text format, without a line's end at the end. */
  text(): string;
}

interface Series {
  /** Of each bucket alone. */
  readonly counts: number[];
  count: number;
  sum: number;
}

/** `buckets`: their upper bounds, growing. Labels are the service's own words: nothing in them is escaped. */
export function createDurations(
  name: string,
  options: { readonly help: string; readonly buckets: readonly number[] },
): Durations {
  const { help, buckets } = options;
  const series = new Map<string, Series>();

  return {
    observe({ route, method, status, seconds }) {
      const labels = `route="${route}",method="${method}",status="${status}"`;
      let own = series.get(labels);
      if (own === undefined) {
        own = { counts: buckets.map(() => 0), count: 0, sum: 0 };
        series.set(labels, own);
      }
      own.count++;
      own.sum += seconds;
      const at = buckets.findIndex((most) => seconds <= most);
      if (at >= 0) own.counts[at] = (own.counts[at] ?? 0) + 1;
    },

    text() {
      const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`];
      for (const [labels, { counts, count, sum }] of series) {
        let upTo = 0;
        for (const [at, most] of buckets.entries()) {
          upTo += counts[at] ?? 0;
          lines.push(`${name}_bucket{le="${most}",${labels}} ${upTo}`);
        }
        lines.push(`${name}_bucket{le="+Inf",${labels}} ${count}`);
        lines.push(`${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${count}`);
      }
      return lines.join("\n");
    },
  };
}
