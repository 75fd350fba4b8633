/**
 * The graph in Neo4j.
 *
 *   (:annals_graph_1 {urn, type})              a node for every urn that is an end of an edge, or
 *                                              tells one; its label is the generation's own
 *   -[:OwnedBy {aspect, path, position, …}]->  an edge, by its type: as one aspect tells it
 *   -[:OwnedBy_also_ {…}]->                    another telling of the same type between the same ends
 *   -[:_tells_ {by}]->                         from an entity to the sources, other than itself, of
 *                                              edges that its aspect `by` tells
 *   (:annals_graph {part: "live"})             the view: its generation, position, and origin
 *
 * "annals" is the catalog's name in the server. Of several tellings of a pair of ends the first one
 * leads and has the type's own name, so that every neighbour is there once and their number is the
 * node's degree. An edge's `entity` is told only where it is not the source.
 *
 * Types become names of relationships, which stand in the text of queries: whatever is not a letter
 * or a digit in them is written as a number, so that no type can be anything but a name.
 */
export const VIEW = "graph";

/** Raised when what is kept changes its shape: a view of another version is refused. */
export const VERSION = 1;

export const TELLS = "_tells_";
const ALSO = "_also_";

export interface Names {
  /** Label of the nodes that say what there is. */
  readonly view: string;
  /** Label of a generation's nodes, and the name of the constraint on them. */
  label(generation: number): string;
  /** The generation that a constraint's name tells; undefined for the name of something else. */
  generationOf(constraint: string): number | undefined;
}

export function namesOf(catalog: string): Names {
  const view = `${catalog}_${VIEW}`;
  return {
    view,
    label: (generation) => `${view}_${generation}`,
    generationOf(constraint) {
      if (!constraint.startsWith(`${view}_`)) return undefined;
      const rest = constraint.slice(view.length + 1);
      return /^\d{1,9}$/.test(rest) ? Number(rest) : undefined;
    },
  };
}

/** What relationships of a type are called: OwnedBy, or r_60_Type for r`Type. */
export const relationshipOf = (type: string): string =>
  type.replace(/[^A-Za-z0-9]/gu, (one) => `_${(one.codePointAt(0) ?? 0).toString(16)}_`);

export const alsoOf = (relationship: string): string => `${relationship}${ALSO}`;

export const leads = (relationship: string): boolean => !relationship.endsWith(ALSO);

export function typeOfRelationship(relationship: string): string {
  const name = leads(relationship) ? relationship : relationship.slice(0, -ALSO.length);
  return name.replace(/_([0-9a-f]+)_/g, (_, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  );
}

/** Several names of relationships as a pattern takes them; `names` is not empty. */
export const anyOf = (names: readonly string[]): string =>
  names.map((name) => `\`${name}\``).join("|");
