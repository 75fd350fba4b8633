/** The text for a message; one of more than `lengthMax` characters is cut and ends with "…". */
export const shortened = (text: string, lengthMax = 120): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;

/** The text without its middle where both ends together are shorter: messages quote values, and end with the reason. */
export const withoutMiddle = (text: string, endMax: number): string =>
  text.length > 2 * endMax ? `${text.slice(0, endMax)}…${text.slice(-endMax)}` : text;
