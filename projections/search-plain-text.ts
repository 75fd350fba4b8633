/**
 * What a text with mark-up says: without HTML and Markdown, and without pictures that are written
 * into it. For finding and for showing, not for safety: who puts it on a page has to escape it.
 */

/** Takes time in proportion to the text's length. Text without mark-up is answered as it is. */
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
