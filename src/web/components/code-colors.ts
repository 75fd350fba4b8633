/** Colors of code in editors, from the design tokens, so that they follow the theme. */
import { HighlightStyle } from "@codemirror/language";
import { tags } from "@lezer/highlight";

export const codeColors = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent-text)" },
  { tag: [tags.propertyName, tags.attributeName], color: "var(--ink)" },
  { tag: [tags.typeName, tags.atom, tags.bool, tags.null], color: "var(--accent-text)" },
  { tag: [tags.variableName, tags.number], color: "var(--warn)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: tags.comment, color: "var(--ink-3)" },
]);
