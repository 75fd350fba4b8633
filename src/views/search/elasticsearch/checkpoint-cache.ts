/**
 * Optimistic cache of the view's checkpoint, for queries. A query runs with the cached state, while
 * another request reads the current one. If they differ, the query runs again with the current
 * state. Concurrent queries share one request. It is sent when the first query has its result, or
 * at once if no other query runs.
 */
interface CheckpointCache<S> {
  /** Runs a query with the state as of the call, or a later one. */
  run<T>(query: (state: S) => Promise<T>): Promise<T>;
  /** Reads the current state. */
  read(): Promise<S>;
}

/** A request for the state. All queries that start before it is sent share it. */
interface StateRequest<S> {
  readonly state: Promise<S>;
  /** Idempotent. */
  send(): void;
}

export function createCheckpointCache<S>(load: () => Promise<S>): CheckpointCache<S> {
  let pending: StateRequest<S> | undefined;
  /** The last request that was sent; never rejects. */
  let inFlight: Promise<unknown> | undefined;
  let running = 0;
  /** `text`: the state as JSON. `stable`: the load before returned the same state. */
  let cached: { readonly state: S; readonly text: string; readonly stable: boolean } | undefined;

  async function loadAndCache(): Promise<S> {
    const state = await load();
    const text = JSON.stringify(state);
    cached = { state, text, stable: text === cached?.text };
    return state;
  }

  function createRequest(): StateRequest<S> {
    const { promise, resolve } = Promise.withResolvers<S>();
    // Each query handles the rejection when it awaits the state.
    promise.catch(() => {});
    const request: StateRequest<S> = {
      state: promise,
      send() {
        if (pending !== request) return;
        pending = undefined;
        const state = loadAndCache();
        resolve(state);
        const settled = state.then(
          () => {},
          () => {},
        );
        inFlight = settled;
        void settled.then(() => {
          if (inFlight === settled) inFlight = undefined;
        });
      },
    };
    return request;
  }

  /** Joins the request that is not sent yet: the result of one in flight may be too old. */
  function joinRequest(): StateRequest<S> {
    pending ??= createRequest();
    return pending;
  }

  function read(): Promise<S> {
    const request = joinRequest();
    if (inFlight === undefined) request.send();
    else void inFlight.then(request.send);
    return request.state;
  }

  return {
    read,
    async run(query) {
      const before = cached;
      if (before?.stable !== true) return await query(await read());
      const request = joinRequest();
      if (running === 0) request.send();
      running++;
      const [result] = await Promise.allSettled([query(before.state)]);
      running--;
      request.send();
      const state = await request.state;
      if (JSON.stringify(state) !== before.text) return await query(state);
      if (result.status === "rejected") throw result.reason;
      return result.value;
    },
  };
}
