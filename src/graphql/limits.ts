/**
 * Limits on the size of a query, checked before validation and execution. Fields of a fragment count
 * wherever it is spread, but each fragment is measured once, so that nested spreads stay cheap.
 */
import { type DocumentNode, Kind, type SelectionSetNode } from "graphql";
import { CatalogError } from "../core/errors.ts";

const queryCharactersMax = 50_000;
/** Limit of the parser. */
export const tokensMax = 5_000;
/** The parser recurses into brackets; sixteen levels of fields use about two brackets each. */
const bracketsMax = 200;
/** The introspection query is fifteen levels deep. */
const depthMax = 16;
const aliasesMax = 30;
const fieldsMax = 1_000;
/** Maximum number of root fields of a request; each is a separate operation. */
const rootFieldsMax = 20;

interface Size {
  readonly depth: number;
  readonly aliases: number;
  readonly fields: number;
}

const NOTHING: Size = { depth: 0, aliases: 0, fields: 0 };

/** Throws `malformed` for text that would overflow the parser's stack. */
export function checkText(query: string): void {
  refuseOver("has", query.length, queryCharactersMax, "characters");
  refuseOver("goes", bracketsWithinEachOther(query), bracketsMax, "brackets deep");
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
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    fragments.set(definition.name.value, definition.selectionSet);
  }
  const sizes = new Map<string, Size>();

  function sizeOfFragment(name: string): Size {
    const known = sizes.get(name);
    if (known !== undefined) return known;
    // A fragment that spreads itself counts as empty; validation rejects the cycle.
    sizes.set(name, NOTHING);
    const selections = fragments.get(name);
    const size = selections === undefined ? NOTHING : sizeOf(selections);
    sizes.set(name, size);
    return size;
  }

  function sizeOf({ selections }: SelectionSetNode): Size {
    let { depth, aliases, fields } = NOTHING;
    for (const selection of selections) {
      const field = selection.kind === Kind.FIELD;
      const inner = field
        ? selection.selectionSet && sizeOf(selection.selectionSet)
        : selection.kind === Kind.FRAGMENT_SPREAD
          ? sizeOfFragment(selection.name.value)
          : sizeOf(selection.selectionSet);
      const own = field ? 1 : 0;
      depth = Math.max(depth, own + (inner?.depth ?? 0));
      fields += own + (inner?.fields ?? 0);
      aliases += (field && selection.alias !== undefined ? 1 : 0) + (inner?.aliases ?? 0);
    }
    return { depth, aliases, fields };
  }

  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const { depth, aliases, fields } = sizeOf(definition.selectionSet);
    refuseOver("goes", depth, depthMax, "levels deep");
    refuseOver("has", aliases, aliasesMax, "aliases");
    refuseOver("has", fields, fieldsMax, "fields");
    refuseOver("has", rootFieldsOf(definition.selectionSet), rootFieldsMax, "root fields");
  }

  function rootFieldsOf({ selections }: SelectionSetNode, seen = new Set<string>()): number {
    let count = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) count++;
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        count += rootFieldsOf(selection.selectionSet, seen);
      } else if (!seen.has(selection.name.value)) {
        // The same fields spread again are merged.
        seen.add(selection.name.value);
        const spread = fragments.get(selection.name.value);
        count += spread === undefined ? 0 : rootFieldsOf(spread, seen);
      }
    }
    return count;
  }
}

function refuseOver(verb: string, found: number, max: number, what: string): void {
  if (found <= max) return;
  throw new CatalogError("malformed", `the query ${verb} ${found} ${what} of at most ${max}`, {
    hint: "Ask in several requests",
  });
}
