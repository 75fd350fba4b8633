/** Text for the documentation page. */

export const escaped = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** Text with `code` in it. */
export const prose = (text: string): string =>
  escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");
