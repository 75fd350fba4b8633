/**
 * Optimistic cache of the view's checkpoint, for queries. A query uses the cached state, and a request
 * in parallel checks that it is still current; otherwise the query is repeated. Concurrent queries share
 * one such request, which is sent when the first of them has its result, or at once for a single one.
 */
interface KnownState<S> {
  /** Runs a query with a state that was current when the query came, or later. */
  ask<T>(question: (state: S) => Promise<T>): Promise<T>;
  /** The state now. */
  read(): Promise<S>;
}

/** One request of the state, shared by all queries before it was sent. */
interface Asking<S> {
  readonly state: Promise<S>;
  /** May be called again. */
  leave(): void;
}

export function createCheckpointCache<S>(load: () => Promise<S>): KnownState<S> {
  let gathering: Asking<S> | undefined;
  /** The last request that left; settles as an empty promise. */
  let onItsWay: Promise<unknown> | undefined;
  let underWay = 0;
  /** As text; whether it was the same twice in a row. */
  let known: { readonly state: S; readonly text: string; readonly steady: boolean } | undefined;

  async function loaded(): Promise<S> {
    const state = await load();
    const text = JSON.stringify(state);
    known = { state, text, steady: text === known?.text };
    return state;
  }

  function gather(): Asking<S> {
    const { promise, resolve } = Promise.withResolvers<S>();
    // The sharing queries handle a failure, some of them later.
    promise.catch(() => {});
    const asking: Asking<S> = {
      state: promise,
      leave() {
        if (gathering !== asking) return;
        gathering = undefined;
        const state = loaded();
        resolve(state);
        const own = state.then(
          () => {},
          () => {},
        );
        onItsWay = own;
        void own.then(() => {
          if (onItsWay === own) onItsWay = undefined;
        });
      },
    };
    return asking;
  }

  /** A request in flight may be too old for this query. */
  function join(): Asking<S> {
    gathering ??= gather();
    return gathering;
  }

  function read(): Promise<S> {
    const asking = join();
    if (onItsWay === undefined) asking.leave();
    else void onItsWay.then(asking.leave);
    return asking.state;
  }

  return {
    read,
    async ask(question) {
      const before = known;
      if (before?.steady !== true) return await question(await read());
      const asking = join();
      if (underWay === 0) asking.leave();
      underWay++;
      const [answer] = await Promise.allSettled([question(before.state)]);
      underWay--;
      asking.leave();
      const state = await asking.state;
      if (JSON.stringify(state) !== before.text) return await question(state);
      if (answer.status === "rejected") throw answer.reason;
      return answer.value;
    },
  };
}
