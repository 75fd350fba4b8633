/**
 * Where the view is, for questions that must know. While nothing is written, a question is asked
 * with what the last one knew, and the server besides whether that still holds; where it does not,
 * it is asked again. Whether it holds is asked once for all questions that are under way: when the
 * first of those has its answer of whom it was not asked yet, or at once where there is one alone.
 */
interface KnownState<S> {
  /** Answers from a state that held when the question came or came to hold since. */
  ask<T>(question: (state: S) => Promise<T>): Promise<T>;
  /** The state now. */
  read(): Promise<S>;
}

/** One request of the state, for all who came before it left. */
interface Asking<S> {
  readonly state: Promise<S>;
  /** May be called again. */
  leave(): void;
}

export function createKnownState<S>(load: () => Promise<S>): KnownState<S> {
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
    // Whoever gathered it hears of a failure, some of them later.
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

  /** One that is on its way may have left before what the question has to see. */
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
