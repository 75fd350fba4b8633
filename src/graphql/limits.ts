/**
 * Limits on the size of a query, checked before validation and execution. Fields count as they are
 * written, each fragment once, and as they are in the response, where fields of the same name are merged.
 */
import { type DocumentNode, Kind, type SelectionSetNode } from "graphql";
import { CatalogError } from "../core/errors.ts";

const queryCharactersMax = 100_000;
/** Limit of the parser. */
export const tokensMax = 15_000;
/** The parser recurses into brackets; the levels of fields use about two brackets each. */
const bracketsMax = 200;
/** The largest queries of DataHub's web app are twenty levels deep. */
const depthMax = 24;
const aliasesMax = 100;
const writtenFieldsMax = 3_000;
const responseFieldsMax = 10_000;
/** Selections that are read to merge the fields of the response. */
const mergedSelectionsMax = 200_000;
/** Validation compares all fields of the same name with each other. */
const comparisonsMax = 400_000;
/** Maximum number of root fields of a request; each is a separate operation. */
const rootFieldsMax = 20;

/** Throws `malformed` for text that would overflow the parser's stack. */
export function checkText(query: string): void {
  rejectOver("has", query.length, queryCharactersMax, "characters");
  rejectOver("goes", bracketsWithinEachOther(query), bracketsMax, "brackets deep");
}

/** Matches strings and comments (unterminated ones up to the end) and brackets. */
const tokens =
  /"""(?:[^"\\]|\\"""|\\|"(?!""))*(?:"""|$)|"(?:[^"\\\n\r]|\\.)*"?|#[^\n\r]*|[[{(]|[\]})]/g;

function bracketsWithinEachOther(query: string): number {
  let open = 0;
  let most = 0;
  for (const [token] of query.matchAll(tokens)) {
    if (token === "[" || token === "{" || token === "(") most = Math.max(most, ++open);
    else if (token === "]" || token === "}" || token === ")") open--;
  }
  return most;
}

/** Throws `malformed` and names the exceeded limit. */
export function checkLimits(document: DocumentNode): void {
  checkWritten(document);
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    fragments.set(definition.name.value, definition.selectionSet);
  }
  let selections = 0;
  let fields = 0;

  /** The merged fields of one level, with the selections below each. */
  function merged(sets: readonly SelectionSetNode[]): ReadonlyMap<string, SelectionSetNode[]> {
    const found = new Map<string, SelectionSetNode[]>();
    const spread = new Set<string>();
    const open = [...sets];
    for (let set = open.pop(); set !== undefined; set = open.pop()) {
      selections += set.selections.length;
      rejectOver("merges", selections, mergedSelectionsMax, "selections");
      for (const selection of set.selections) {
        if (selection.kind === Kind.FIELD) {
          const name = (selection.alias ?? selection.name).value;
          const below = found.get(name) ?? [];
          if (selection.selectionSet !== undefined) below.push(selection.selectionSet);
          found.set(name, below);
        } else if (selection.kind === Kind.INLINE_FRAGMENT) open.push(selection.selectionSet);
        else if (!spread.has(selection.name.value)) {
          spread.add(selection.name.value);
          const fragment = fragments.get(selection.name.value);
          if (fragment !== undefined) open.push(fragment);
        }
      }
    }
    return found;
  }

  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    let level = [merged([definition.selectionSet])];
    rejectOver("has", level[0]?.size ?? 0, rootFieldsMax, "root fields");
    for (let depth = 1; level.length > 0; depth++) {
      rejectOver("goes", depth, depthMax, "levels deep");
      const next = [];
      for (const of of level) {
        fields += of.size;
        rejectOver("has", fields, responseFieldsMax, "fields in its response");
        for (const below of of.values()) if (below.length > 0) next.push(merged(below));
      }
      level = next;
    }
  }
}

/** Checks the fields as they are written; each definition counts once. */
function checkWritten({ definitions }: DocumentNode): void {
  const names = new Map<string, number>();
  let fields = 0;
  let aliases = 0;
  const open = definitions.flatMap((one) => ("selectionSet" in one ? [one.selectionSet] : []));
  for (let set = open.pop(); set !== undefined; set = open.pop()) {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        fields++;
        if (selection.alias !== undefined) aliases++;
        const name = (selection.alias ?? selection.name).value;
        names.set(name, (names.get(name) ?? 0) + 1);
      }
      if ("selectionSet" in selection && selection.selectionSet !== undefined) {
        open.push(selection.selectionSet);
      }
    }
  }
  rejectOver("has", fields, writtenFieldsMax, "fields");
  rejectOver("has", aliases, aliasesMax, "aliases");
  const comparisons = [...names.values()].reduce((sum, count) => sum + count * count, 0);
  rejectOver("needs", comparisons, comparisonsMax, "comparisons of fields of the same name");
}

function rejectOver(verb: string, found: number, max: number, what: string): void {
  rejectMore(found, max, `the query ${verb}`, what, "Send several smaller queries");
}

/** Throws `malformed` for more than `max`: `urns has 1001 members; at most 1000 are allowed`. */
export function rejectMore(
  found: number,
  max: number,
  subject: string,
  what: string,
  hint: string,
): void {
  if (found <= max) return;
  const why = `${subject} ${found} ${what}; at most ${max} are allowed`;
  throw new CatalogError("malformed", why, { hint });
}
