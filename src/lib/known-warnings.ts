/**
 * Suppresses warnings of Node about drivers that work as intended. Node prints each of them once per
 * process, into the output of any command.
 */

/** `stack`: the stack of the call that warns. */
type IsKnown = (warning: {
  readonly name: unknown;
  readonly code: unknown;
  readonly stack: string;
}) => boolean;

const known = new Set<IsKnown>();

/** Drops later warnings for which `isKnown` returns true. */
export function dropWarnings(isKnown: IsKnown): void {
  const first = known.size === 0;
  known.add(isKnown);
  if (!first) return;
  const { emitWarning } = process;
  process.emitWarning = ((...args: Parameters<typeof emitWarning>) => {
    const [, name, code] = args as readonly unknown[];
    const warning = { name, code, stack: new Error().stack ?? "" };
    if ([...known].some((each) => each(warning))) return;
    Reflect.apply(emitWarning, process, args);
  }) as typeof emitWarning;
}
