/**
 * Formats a number of a request for messages. From 2^53 on the sent digits are unknown, so the result
 * only has an approximation.
 */
export const formatNumber = (number: number): string =>
  Number.isInteger(number) && !Number.isSafeInteger(number)
    ? `a number near ${number}`
    : String(number);
