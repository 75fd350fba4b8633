import { describe, expect, test } from "vitest";
import { createCheckpointCache } from "../../../src/views/search/elasticsearch/checkpoint-cache.ts";

/** A server that answers when the test lets it. */
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
    /** Returns the checkpoint it was given, and the position of the view when it was answered. */
    question: (asked: { readonly at: number }) => ask(() => ({ asked: asked.at, saw: state })),
    /** Answers this many requests in their order. */
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

/** A cache that has read the same checkpoint twice. */
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

describe("a checkpoint cache", () => {
  test("concurrent queries share one read of the checkpoint", async () => {
    const { server, known, before } = await createSteady();
    const first = known.run(server.question);
    const others = Array.from({ length: 8 }, () => known.run(server.question));
    await server.answer();
    for (const answer of await Promise.all([first, ...others])) {
      expect(answer).toEqual({ asked: 1, saw: 1 });
    }
    // One read for the first query, which was alone, and one for the queries that came meanwhile.
    expect(server.loads - before).toBe(2);
  });

  test("a query that comes after a read of the checkpoint starts another read", async () => {
    const { server, known } = await createSteady();
    const alone = known.run(server.question);
    // The checkpoint of the first query is read; the query itself still waits.
    await server.answer(1);
    server.set(2);
    const late = known.run(server.question);
    await server.answer();
    expect(await late).toEqual({ asked: 2, saw: 2 });
    await alone;
  });

  test("a query never gets a checkpoint later than the state that it sees", async () => {
    const { server, known } = await createSteady();
    const answers: { asked: number; saw: number; from: number }[] = [];
    let at = 1;
    for (let n = 0; n < 400; n++) {
      const from = at;
      const question = known.run(server.question);
      void question.then((answer) => answers.push({ ...answer, from }));
      if (n % 3 === 0) await server.answer(1 + (n % 5));
      if (n % 7 === 0) server.set(++at);
    }
    await server.answer();
    expect(answers).toHaveLength(400);
    expect(answers.filter(({ asked, saw }) => asked > saw)).toEqual([]);
    // Nor a checkpoint earlier than the start of the query.
    expect(answers.filter(({ asked, from }) => asked < from)).toEqual([]);
  });

  test("a failed read of the checkpoint fails its queries, and no later ones", async () => {
    const { server, known } = await createSteady();
    server.fail(new Error("gone"));
    const failed = Promise.allSettled([known.run(server.question), known.run(server.question)]);
    await server.answer();
    expect((await failed).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    server.fail(undefined);
    const question = known.run(server.question);
    await server.answer();
    expect(await question).toEqual({ asked: 1, saw: 1 });
  });

  test("a failed query is rejected only while its checkpoint is current", async () => {
    const { server, known } = await createSteady();
    const lost = async (asked: { readonly at: number }) => {
      const answer = await server.question(asked);
      if (asked.at === 1) throw new Error("an index is gone");
      return answer;
    };
    const settled = Promise.allSettled([known.run(lost)]);
    await server.answer();
    expect((await settled)[0]?.status).toBe("rejected");
    server.set(2);
    const answer = known.run(lost);
    await server.answer();
    expect(await answer).toEqual({ asked: 2, saw: 2 });
  });
});
