/** Reads the selections of a query: whether a field needs more of its entities than their urns. */
import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from "graphql";

/** Fields that the urn answers. */
const fromUrn: ReadonlySet<string> = new Set(["__typename", "urn", "type"]);

/** By field of a document; documents of repeated queries are cached. */
const answers = new WeakMap<FieldNode, boolean>();

/** True if the field selects anything of its entities that their urns do not answer. */
export function asksForMoreThanUrn({
  fieldNodes,
  fragments,
}: Pick<GraphQLResolveInfo, "fieldNodes" | "fragments">): boolean {
  return fieldNodes.some((node) => {
    let answer = answers.get(node);
    if (answer === undefined) {
      answer = selectsMore(node.selectionSet, fragments);
      answers.set(node, answer);
    }
    return answer;
  });
}

/** Valid documents have no cycles of fragments. */
const selectsMore = (
  set: SelectionSetNode | undefined,
  fragments: GraphQLResolveInfo["fragments"],
): boolean =>
  set?.selections.some((selection) => {
    if (selection.kind === Kind.FIELD) return !fromUrn.has(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      return selectsMore(selection.selectionSet, fragments);
    }
    // Safe lookup: in a valid document, each spread names a fragment.
    return selectsMore(fragments[selection.name.value]?.selectionSet, fragments);
  }) ?? false;
