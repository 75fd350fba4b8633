/** Parsers of arguments and options that several commands have. */
import { type Command, InvalidArgumentError, Option } from "commander";

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

/** The part of a list that a command prints. */
export interface PageArguments {
  /** Members to skip. */
  readonly start: number;
  /** Members of the page, at most. */
  readonly count: number;
}

/** Adds the options of a page: `--count` with its default and largest value, and `--start`. */
export const paged = (command: Command, members: string, count: number, max?: number): Command =>
  command
    .addOption(limit(`--count <${members}>`, "at most so many", count, max))
    .addOption(
      new Option(`--start <${members}>`, "skip so many").argParser(wholeNumber).default(0),
    );

/** An option that may be repeated; each value is kept. */
export const repeated = (flags: string, about: string): Option =>
  new Option(flags, about).argParser((given: string, before: readonly string[] | undefined) => [
    ...(before ?? []),
    given,
  ]);
