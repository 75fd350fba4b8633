/** Formats numbers and lists of texts for messages and documentation. */

/** 1000000 → 1,000,000. For texts made at the start, where toLocaleString would first load ICU data. */
export const groupDigits = (whole: number): string =>
  String(whole).replace(/\B(?=(\d{3})+$)/g, ",");

/**
 * Formats a number of a request for messages. From 2^53 on the sent digits are unknown, so the result
 * only has an approximation.
 */
export const formatNumber = (number: number): string =>
  Number.isInteger(number) && !Number.isSafeInteger(number)
    ? `a number near ${number}`
    : String(number);

const LISTED_MAX = 5;

/** Texts in an error message: the first few, quoted, and how many more there are. */
export function listed(values: readonly string[]): string {
  if (values.length === 0) return "none";
  const shown = values.slice(0, LISTED_MAX).map((value) => `"${value}"`);
  return values.length > LISTED_MAX
    ? `${shown.join(", ")} and ${values.length - LISTED_MAX} more`
    : shown.join(", ");
}
