/**
 * The service's interface to a tracer. open-traces.ts sends spans to a collector; without a
 * configured collector there are no traces, and OpenTelemetry is not loaded.
 */
type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface Traces {
  /** Runs the work in a span below the active one. */
  span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>;
  /** Records a span of work done elsewhere; times in epoch milliseconds. */
  note(name: string, attributes: Attributes, done: Done): void;
  /** Continues within the span of a request, which may belong to a trace named in its headers. */
  request(
    request: {
      readonly method: string;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    },
    go: () => void,
  ): EndRequest;
  /** Sends the remaining spans to the collector; gives up after some seconds. */
  close(): Promise<void>;
}

interface Done {
  readonly start: number;
  readonly end: number;
  readonly error?: string | undefined;
}

/** `route` is a path of the route table. */
type EndRequest = (ended: { readonly route: string; readonly status: number }) => void;
