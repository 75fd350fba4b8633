/**
 * A number that came as JSON, for an error that names it: from 2^53 on it is not certain which digits
 * were sent, so that none are claimed.
 */
export const toldNumber = (number: number): string =>
  Number.isInteger(number) && !Number.isSafeInteger(number)
    ? `a number near ${number}`
    : String(number);
