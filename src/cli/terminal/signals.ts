/** Signals to stop: SIGINT and SIGTERM. */
import { exitCodes, Interrupted } from "../failure.ts";

/** One Ctrl-C arrives up to three times: from the terminal, from npm and from annals.mjs. */
const repeatedMsMax = 500;

/** Calls `first` at the first signal, and `again` at later ones that are not copies of it. */
export function onSignals(
  first: (signal: NodeJS.Signals) => void,
  again: (signal: NodeJS.Signals) => void,
): void {
  let firstAt: number | undefined;
  const heard = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      first(signal);
    } else if (now - firstAt > repeatedMsMax) again(signal);
  };
  process.on("SIGINT", heard).on("SIGTERM", heard);
}

/** Aborts at the first signal; the next one ends the process at once. */
export function interrupted(): AbortSignal {
  const controller = new AbortController();
  onSignals(
    () => controller.abort(new Interrupted()),
    () => process.exit(exitCodes.interrupted),
  );
  return controller.signal;
}
