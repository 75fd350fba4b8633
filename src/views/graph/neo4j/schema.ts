/**
 * The graph in Neo4j.
 *
 *   (:annals_graph_1 {urn, type})              a node for every urn that is an end of an edge, or
 *                                              states one; each generation has its own label
 *   -[:OwnedBy {aspect, path, position, …}]->  an edge that an aspect states, by its type
 *   -[:OwnedBy_also_ {…}]->                    a further edge with the same type and ends
 *   -[:<STATES> {by}]->                        a pointer from an entity to the source (not itself) of
 *                                              edges that its aspect `by` states
 *   (:annals_graph {part: "live"})             the view: its generation, position, and origin
 *
 * "annals" is the catalog's name in the server. Of several edges with the same type and ends the first
 * one leads and has the type's own name, so that each neighbour exists once and their number is the
 * node's degree. The property `entity` of an edge is only stored if it is not the source.
 *
 * Types become names of relationships in the text of queries. Characters other than letters and digits
 * are encoded as numbers, so that a type cannot be anything but a name.
 */
export const VIEW = "graph";

/** Version of the stored format; a view of another version is rejected. */
export const VERSION = 1;

/** Type of the pointers. A stored name. */
export const STATES = "_tells_";
const ALSO = "_also_";

export interface Names {
  /** Label of the metadata nodes. */
  readonly view: string;
  /** Label of a generation's nodes, and the name of the constraint on them. */
  label(generation: number): string;
  /** The generation in a constraint's name; undefined for other names. */
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

/** The name of relationships of a type: OwnedBy, or r_60_Type for r`Type. */
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

/** A pattern for several names of relationships; `names` is not empty. */
export const anyOf = (names: readonly string[]): string =>
  names.map((name) => `\`${name}\``).join("|");
