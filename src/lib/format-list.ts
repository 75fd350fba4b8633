/** How texts are listed in error messages. */

const LISTED_MAX = 5;

/** Texts in an error message: the first few, quoted, and how many more there are. */
export function listed(values: readonly string[]): string {
  if (values.length === 0) return "none";
  const shown = values.slice(0, LISTED_MAX).map((value) => `"${value}"`);
  return values.length > LISTED_MAX
    ? `${shown.join(", ")} and ${values.length - LISTED_MAX} more`
    : shown.join(", ");
}
