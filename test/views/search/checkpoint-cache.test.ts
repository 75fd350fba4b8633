import { describe, expect, test } from "vitest";
import { createCheckpointCache } from "../../../src/views/search/elasticsearch/checkpoint-cache.ts";

/** A server whose answers come when the test says so. */
function createServer() {
  let state = 1;
  const waiting: (() => void)[] = [];
  let loads = 0;
  let failure: Error | undefined;

  function ask<T>(answer: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    waiting.push(() => {
      try {
        resolve(answer());
      } catch (error) {
        reject(error);
      }
    });
    return promise;
  }

  return {
    get loads() {
      return loads;
    },
    set(to: number) {
      state = to;
    },
    fail(error: Error | undefined) {
      failure = error;
    },
    load: () => {
      loads++;
      return ask(() => {
        if (failure !== undefined) throw failure;
        return { at: state };
      });
    },
    /** Tells with what it was asked, and where the view was when it was answered. */
    question: (asked: { readonly at: number }) => ask(() => ({ asked: asked.at, saw: state })),
    /** Answers requests in their order, and those that follow. */
    async answer(count = Number.POSITIVE_INFINITY) {
      for (let n = 0; n < count; n++) {
        await new Promise((done) => setImmediate(done));
        const next = waiting.shift();
        if (next === undefined) return;
        next();
      }
    },
  };
}

/** One that has been asked before, and found the view twice where it is. */
async function createSteady() {
  const server = createServer();
  const known = createCheckpointCache(server.load);
  for (let n = 0; n < 2; n++) {
    const read = known.read();
    await server.answer();
    await read;
  }
  return { server, known, before: server.loads };
}

describe("where the view is", () => {
  test("is asked once for questions that are under way together", async () => {
    const { server, known, before } = await createSteady();
    const first = known.ask(server.question);
    const others = Array.from({ length: 8 }, () => known.ask(server.question));
    await server.answer();
    for (const answer of await Promise.all([first, ...others])) {
      expect(answer).toEqual({ asked: 1, saw: 1 });
    }
    // At once for the first, which was alone, and once for those that came while it was.
    expect(server.loads - before).toBe(2);
  });

  test("is asked anew for a question that came after it was asked", async () => {
    const { server, known } = await createSteady();
    const alone = known.ask(server.question);
    // Where the view is has been answered for the first question, which still waits.
    await server.answer(1);
    server.set(2);
    const late = known.ask(server.question);
    await server.answer();
    expect(await late).toEqual({ asked: 2, saw: 2 });
    await alone;
  });

  test("is never told later than what the question saw", async () => {
    const { server, known } = await createSteady();
    const answers: { asked: number; saw: number; from: number }[] = [];
    let at = 1;
    for (let n = 0; n < 400; n++) {
      const from = at;
      const question = known.ask(server.question);
      void question.then((answer) => answers.push({ ...answer, from }));
      if (n % 3 === 0) await server.answer(1 + (n % 5));
      if (n % 7 === 0) server.set(++at);
    }
    await server.answer();
    expect(answers).toHaveLength(400);
    expect(answers.filter(({ asked, saw }) => asked > saw)).toEqual([]);
    // Nor earlier than when it came.
    expect(answers.filter(({ asked, from }) => asked < from)).toEqual([]);
  });

  test("that cannot be told fails its questions, and no later ones", async () => {
    const { server, known } = await createSteady();
    server.fail(new Error("gone"));
    const failed = Promise.allSettled([known.ask(server.question), known.ask(server.question)]);
    await server.answer();
    expect((await failed).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    server.fail(undefined);
    const question = known.ask(server.question);
    await server.answer();
    expect(await question).toEqual({ asked: 1, saw: 1 });
  });

  test("fails a question whose own answer failed only where it still holds", async () => {
    const { server, known } = await createSteady();
    const lost = async (asked: { readonly at: number }) => {
      const answer = await server.question(asked);
      if (asked.at === 1) throw new Error("an index is gone");
      return answer;
    };
    const settled = Promise.allSettled([known.ask(lost)]);
    await server.answer();
    expect((await settled)[0]?.status).toBe("rejected");
    server.set(2);
    const answer = known.ask(lost);
    await server.answer();
    expect(await answer).toEqual({ asked: 2, saw: 2 });
  });
});
