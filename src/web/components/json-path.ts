/** Finds the place in a JSON text that an error message names, as in `/owners/0/type`. */
import { jsonLanguage } from "@codemirror/lang-json";

/** The steps of the first path in a message of validation; empty without one. */
export function pathInMessage(message: string): readonly string[] {
  const [, path = ""] = /(?:^|\s)((?:\/[\w.$-]+)+)(?=\s|:|$)/.exec(message) ?? [];
  return path.split("/").filter(Boolean);
}

/** The offset of the member or item at a path in a text, or of the last step that the text has. */
export function offsetOfPath(text: string, path: readonly string[]): number | undefined {
  let value = jsonLanguage.parser.parse(text).topNode.firstChild;
  let found: number | undefined;
  for (const step of path) {
    const next = value && memberOf(value, step, text);
    if (!next) return found;
    found = next.from;
    // A property ends with its value; an item is its value.
    value = next.name === "Property" ? next.lastChild : next;
  }
  return found;
}

export type SyntaxNode = ReturnType<typeof jsonLanguage.parser.parse>["topNode"];

function memberOf(value: SyntaxNode, step: string, text: string): SyntaxNode | undefined {
  if (value.name === "Array") return childrenOf(value).filter(isValue)[Number(step)];
  const name = JSON.stringify(step);
  return value
    .getChildren("Property")
    .find(({ firstChild }) => text.slice(firstChild?.from, firstChild?.to) === name);
}

export function childrenOf(value: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = value.firstChild; child !== null; child = child.nextSibling) {
    children.push(child);
  }
  return children;
}

const values: ReadonlySet<string> = new Set(
  "True False Null Number String Object Array".split(" "),
);
export const isValue = ({ name }: SyntaxNode): boolean => values.has(name);
