/**
 * Where the view is, for questions that must know. While nothing is written, a question is asked
 * with what the last one knew, and the server meanwhile whether that still holds; where it does not,
 * it is asked again. What several questions want to know at one time is asked once, after they came.
 */
export interface KnownState<S> {
  /** Answers from a state that held when the question came or came to hold since. */
  ask<T>(question: (state: S) => Promise<T>): Promise<T>;
  /** The state now. */
  read(): Promise<S>;
}

export function createKnownState<S>(load: () => Promise<S>): KnownState<S> {
  let running: Promise<S> | undefined;
  let next: Promise<S> | undefined;
  /** As text; whether it was the same twice in a row. */
  let known: { readonly state: S; readonly text: string; readonly steady: boolean } | undefined;

  async function start(): Promise<S> {
    const own = load();
    running = own;
    try {
      const state = await own;
      const text = JSON.stringify(state);
      known = { state, text, steady: text === known?.text };
      return state;
    } finally {
      running = undefined;
    }
  }

  /** One that is on its way may have left before what the question has to see. */
  function read(): Promise<S> {
    if (running === undefined) return start();
    next ??= running
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  }

  return {
    read,
    async ask(question) {
      const before = known;
      if (before?.steady !== true) return await question(await read());
      const [state, answer] = await Promise.allSettled([read(), question(before.state)]);
      if (state.status === "rejected") throw state.reason;
      if (JSON.stringify(state.value) !== before.text) return await question(state.value);
      if (answer.status === "rejected") throw answer.reason;
      return answer.value;
    },
  };
}
