/**
 * Questions that come while others are on their way go together: a statement for ten entities costs
 * little more than one for one. As long as few statements are on their way, a question goes at once;
 * each is put after it was asked.
 */

/** Statements on their way before questions are gathered: half of a reader's connections. */
const STATEMENTS_MAX = 4;

interface Waiting<T> {
  readonly keys: readonly string[];
  readonly resolve: (answers: readonly T[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * `put` answers keys in their order. It is given `keysMax` at most, unless one question has more;
 * when it fails, so do the questions that went together.
 */
export function gatherQuestions<T>(
  put: (keys: readonly string[]) => Promise<readonly T[]>,
  keysMax: number,
): (keys: readonly string[]) => Promise<readonly T[]> {
  const waiting: Waiting<T>[] = [];
  let onTheirWay = 0;

  /** The first of those that wait, as many as fit. */
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
