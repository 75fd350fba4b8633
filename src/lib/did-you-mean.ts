/** Names that a mistyped one may have meant, as a hint for an error. */
import { distance } from "fastest-levenshtein";

const shownMax = 3;

/** `Did you mean "a", "b"?`; undefined when nothing is near. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase().slice(0, 100);
  const near = [...known]
    .map((candidate) => ({ candidate, steps: distance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, steps }) => steps <= Math.max(2, candidate.length / 3))
    .sort((a, b) => a.steps - b.steps || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, shownMax);
  if (near.length === 0) return undefined;
  return `Did you mean ${near.map(({ candidate }) => `"${candidate}"`).join(" or ")}?`;
}
