/** Parsers of arguments and options that several commands have. */
import { InvalidArgumentError, Option } from "commander";

export function wholeNumber(given: string): number {
  if (!/^\d{1,15}$/.test(given)) throw new InvalidArgumentError("It is a whole number.");
  return Number(given);
}

/** Also below zero: `-1` is the version before the latest. */
export function version(given: string): number {
  if (!/^-?\d{1,15}$/.test(given)) {
    throw new InvalidArgumentError(
      "It is a number: 3, 0 for the latest, or -1 for the one before.",
    );
  }
  return Number(given);
}

export function limit(
  flags: string,
  about: string,
  fallback?: number,
  max = Number.MAX_SAFE_INTEGER,
): Option {
  const option = new Option(flags, about).argParser((given: string) => {
    const value = wholeNumber(given);
    if (value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`It is a whole number from 1 to ${max}.`);
  });
  return fallback === undefined ? option : option.default(fallback);
}

/** An option that may be repeated; each value is kept. */
export const repeated = (flags: string, about: string): Option =>
  new Option(flags, about).argParser((given: string, before: readonly string[] | undefined) => [
    ...(before ?? []),
    given,
  ]);
