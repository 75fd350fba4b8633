/**
 * What the service tells a tracer of its work. open-traces.ts tells it to a collector; where none is
 * configured there are no traces at all, and nothing of OpenTelemetry is loaded.
 */
type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface Traces {
  /** Does the work within a span, below the one that is active where this is called. */
  span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>;
  /** Something that was done elsewhere; times in epoch milliseconds. */
  note(name: string, attributes: Attributes, done: Done): void;
  /** Goes on within the span of a request, which may belong to a trace that its headers name. */
  request(
    request: {
      readonly method: string;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    },
    go: () => void,
  ): EndRequest;
  /** What was told reaches the collector, or is given up after some seconds. */
  close(): Promise<void>;
}

interface Done {
  readonly start: number;
  readonly end: number;
  readonly error?: string | undefined;
}

/** `route` is one of the route table's. */
type EndRequest = (ended: { readonly route: string; readonly status: number }) => void;
