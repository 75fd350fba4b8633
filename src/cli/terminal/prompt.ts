/** Questions to a person at the terminal. */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { Interrupted } from "../failure.ts";

/**
 * The answer, without blanks around it; undefined where the input ends (Ctrl-D). Throws Interrupted at
 * Ctrl-C, which the terminal sends as a character while it is read, and the signal's reason when that aborts.
 */
export async function ask(
  question: string,
  {
    signal,
    isSecret = false,
  }: {
    readonly signal?: AbortSignal | undefined;
    /** The answer is not echoed. */
    readonly isSecret?: boolean;
  } = {},
): Promise<string | undefined> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = isSecret ? silent : process.stderr;
  const prompt = createInterface({ input: process.stdin, output, terminal: true });
  // The terminal echoes what is typed before the interface is open.
  if (isSecret) process.stderr.write(question);
  let answer: string | undefined;
  try {
    answer = await Promise.race([
      prompt.question(isSecret ? "" : question, signal === undefined ? {} : { signal }),
      once(prompt, "close").then(() => undefined),
      once(prompt, "SIGINT").then(() => {
        throw new Interrupted();
      }),
    ]);
    return answer?.trim();
  } catch (error) {
    signal?.throwIfAborted();
    // Ctrl-D aborts the question.
    if (error instanceof Error && error.name === "AbortError") return undefined;
    throw error;
  } finally {
    prompt.close();
    if (isSecret || answer === undefined) process.stderr.write("\n");
  }
}
