/**
 * Removes HTML, Markdown and inline pictures from a text, for search and display. It does not make the
 * text safe: a page must still escape it.
 */

/** Takes linear time. Returns text without markup unchanged. */
export function plainText(text: string): string {
  if (!/[<&[`>#]|\*\*|~~|data:/.test(text)) return text;
  return text
    .replace(/data:[\w.+-]{1,99}\/[\w.+-]{1,99};base64,[\w+/=-]*/g, "")
    .replace(/!?\[([^[\]]*)\]\([^()\s]*(?:[ \t]+"[^"\n]*")?\)/g, "$1")
    .replace(/<[/!]?[A-Za-z-][^<>]*>/g, " ")
    .replace(/^[ \t]*(?:#{1,6}|>)[ \t]+/gm, "")
    .replace(/\*\*|~~|`/g, "")
    .replace(/&(?:nbsp|amp|lt|gt|quot|#39);/g, (entity) => characters.get(entity) ?? entity)
    .trim();
}

const characters: ReadonlyMap<string, string> = new Map([
  ["&nbsp;", " "],
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&#39;", "'"],
]);
