/** The search request that the catalog sends for an autocompletion. */
import type { Expression } from "../../src/views/search/search.ts";

const within = "suggested";

export function completing(typed: string): Expression {
  const words = typed.split(" ");
  const all = words.map((word, n): Expression => {
    const whole = { word, prefix: false, weight: 1 };
    const begun = n === words.length - 1 ? [{ word, prefix: true, weight: 0.5 }] : [];
    return { kind: "word", within, any: [whole, ...begun] };
  });
  return {
    kind: "prefer",
    base: { kind: "and", all },
    preferred: [
      { weight: 16, when: { kind: "whole", text: typed, prefix: false, within } },
      { weight: 4, when: { kind: "whole", text: typed, prefix: true, within } },
    ],
  };
}
