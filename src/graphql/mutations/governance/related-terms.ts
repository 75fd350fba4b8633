/** Relations between glossary terms: a term is, or has, other terms. */
import { CatalogError } from "../../../core/errors.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import { distinct } from "../declared.ts";
import { patchOf, rejectMissing, urnOf, write } from "../writing.ts";

interface RelatedTerms {
  readonly urn: string;
  readonly termUrns: readonly string[];
  readonly relationshipType: "isA" | "hasA";
}

const lists = { isA: "isRelatedTerms", hasA: "hasRelatedTerms" } as const;

const relating =
  (op: "add" | "remove") =>
  async ({ input }: InputArgs<RelatedTerms>, viewer: Viewer): Promise<true> => {
    const urn = urnOf(input.urn, ["glossaryTerm"], viewer);
    const terms = distinct(input.termUrns.map((one) => urnOf(one, ["glossaryTerm"], viewer)));
    if (terms.includes(urn)) {
      throw new CatalogError("malformed", `term "${urn}" cannot be related to itself`, {
        hint: "Leave it out of termUrns",
      });
    }
    await rejectMissing(op === "add" ? [urn, ...terms] : [urn], viewer);
    // Safe lookup: the schema checks the enum.
    const list = lists[input.relationshipType];
    const operations = terms.map((term) => ({ op, path: [list, term], value: term }));
    return write(
      terms.length === 0 ? [] : [patchOf(urn, "glossaryRelatedTerms", operations)],
      viewer,
    );
  };

export const relatedTermMutations = {
  addRelatedTerms: relating("add"),
  removeRelatedTerms: relating("remove"),
};
