/** CSV as in RFC 4180. */

export const csvOf = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, ...rows].map((row) => row.map(cellOf).join(",")).join("\r\n");

/** A spreadsheet runs cells that begin like a formula: an apostrophe keeps them text. */
function cellOf(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
