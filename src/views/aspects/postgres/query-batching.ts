/**
 * Batches concurrent queries: a statement for ten entities costs little more than one for one. While
 * few statements are in flight, a query is sent at once; otherwise it waits for the next batch. A
 * statement always starts after its queries were requested.
 */

/** With so many statements in flight, queries are batched: half of a reader's connections. */
const STATEMENTS_MAX = 4;

interface Waiting<T> {
  readonly keys: readonly string[];
  readonly resolve: (answers: readonly T[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * `put` returns one result per key, in order. It gets at most `keysMax` keys, unless a single query has
 * more. If it fails, all queries of the batch fail.
 */
export function gatherQuestions<T>(
  put: (keys: readonly string[]) => Promise<readonly T[]>,
  keysMax: number,
): (keys: readonly string[]) => Promise<readonly T[]> {
  const waiting: Waiting<T>[] = [];
  let onTheirWay = 0;

  /** Removes the next batch from the queue. */
  function take(): readonly Waiting<T>[] {
    let size = 0;
    const end = waiting.findIndex(({ keys }, n) => {
      size += keys.length;
      return n > 0 && size > keysMax;
    });
    return waiting.splice(0, end < 0 ? waiting.length : end);
  }

  async function answer(asked: readonly Waiting<T>[]): Promise<void> {
    try {
      const answers = await put(asked.flatMap(({ keys }) => keys));
      let from = 0;
      for (const { keys, resolve } of asked) {
        resolve(answers.slice(from, from + keys.length));
        from += keys.length;
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }

  async function go(): Promise<void> {
    onTheirWay++;
    while (waiting.length > 0) await answer(take());
    onTheirWay--;
  }

  return (keys) =>
    new Promise((resolve, reject) => {
      waiting.push({ keys, resolve, reject });
      if (onTheirWay < STATEMENTS_MAX) void go();
    });
}
