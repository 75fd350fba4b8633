/** The text for a message; one of more than `lengthMax` characters is cut and ends with "…". */
export const shortened = (text: string, lengthMax = 120): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
