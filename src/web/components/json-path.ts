/** Finds the place in a JSON text that an error message names, as in `/owners/0/type`. */

/** The steps of the first path in a message of validation; empty without one. */
export function pathInMessage(message: string): readonly string[] {
  const [, path = ""] = /(?:^|\s)((?:\/[\w.$-]+)+)(?=\s|:|$)/.exec(message) ?? [];
  return path.split("/").filter(Boolean);
}

/** The offset of the value at a path in a text made by `JSON.stringify` with indents. */
export function offsetOfPath(text: string, path: readonly string[]): number | undefined {
  let from = 0;
  let found: number | undefined;
  for (const step of path) {
    const next = /^\d+$/.test(step)
      ? offsetOfItem(text, from, Number(step))
      : text.indexOf(`${JSON.stringify(step)}:`, from);
    if (next < 0) return found;
    from = next;
    found = next;
  }
  return found;
}

/** The n-th item of the next list: counts commas of its level. */
function offsetOfItem(text: string, start: number, n: number): number {
  let at = text.indexOf("[", start);
  if (at < 0) return -1;
  let depth = 0;
  let left = n;
  let inText = false;
  for (at += 1; at < text.length; at++) {
    const character = text[at] ?? "";
    if (inText) {
      if (character === "\\") at++;
      else if (character === '"') inText = false;
      continue;
    }
    if (depth === 0 && left === 0 && !/[\s,]/.test(character)) return at;
    if (character === '"') inText = true;
    else if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    else if (character === "," && depth === 0) left--;
    if (depth < 0) return -1;
  }
  return -1;
}
