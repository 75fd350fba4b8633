/** Actions in hooks of the framework, which get a callback instead of a promise. */
export type Done = (error: Error | null, value?: unknown) => void;

/** Passes the result or error of the action to `done`, outside its own try. */
export function attempt(action: () => unknown, done: Done): void {
  let value: unknown;
  try {
    value = action();
  } catch (error) {
    done(asError(error));
    return;
  }
  done(null, value);
}

export const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));
