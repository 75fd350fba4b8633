/**
 * Builds the tree of a search query from its parts: operators, brackets and runs of words. Without
 * recursion, so that deeply nested queries do not overflow the stack (search-query.ts).
 */
import type { Ends } from "./search-query-values.ts";

export type QueryTree =
  | { readonly kind: "all" }
  /** All of the words. `text`: the run, unchanged from the query. */
  | { readonly kind: "words"; readonly text: string; readonly words: readonly QueryWord[] }
  | { readonly kind: "phrase"; readonly text: string }
  | { readonly kind: "field"; readonly field: string; readonly value: FieldQuery }
  | { readonly kind: "and"; readonly all: readonly QueryTree[] }
  | { readonly kind: "or"; readonly any: readonly QueryTree[] }
  | { readonly kind: "not"; readonly not: QueryTree };

export interface QueryWord {
  readonly text: string;
  /** True for the prefix of a word. */
  readonly open: boolean;
}

export type FieldQuery =
  | { readonly kind: "exists" }
  /** `typed`: the text of the query, searched as words if it does not fit the type of the field. */
  | {
      readonly kind: "text";
      readonly text: string;
      readonly how: "equals" | "starts" | "ends" | "contains";
      readonly typed: string;
    }
  | { readonly kind: "range"; readonly ends: Ends; readonly typed: string };

/** MUST (+) changes nothing: adjacent parts must all match. */
export type Operator = "AND" | "OR" | "NOT" | "MUST";

export interface QueryBuilder {
  /** Opens a bracket; with a field, the bracket has values of the field. */
  open(field: string | undefined): void;
  close(): void;
  operator(name: Operator, text: string): void;
  word(word: QueryWord): void;
  phrase(text: string): void;
  fieldQuery(field: string, value: FieldQuery): void;
  all(): void;
  /** The field of the open bracket. */
  fieldAround(): string | undefined;
  /** Undefined for a query of only operators and brackets. */
  finish(): QueryTree | undefined;
}

/** Maximum depth of brackets; deeper ones are ignored. */
const depthMax = 20;

interface Run {
  readonly kind: "words";
  text: string;
  readonly words: QueryWord[];
}

/** A bracket: matches any of `groups` and of `list`; each of these matches by all of its members. */
interface Frame {
  readonly field: string | undefined;
  readonly groups: QueryTree[][];
  list: QueryTree[];
  /** AND or OR, until its right operand is added. */
  joining: { readonly name: Operator; readonly text: string } | undefined;
  /** The text of a NOT, until its operand is added. */
  negating: string | undefined;
  /** The run that the next word is added to. */
  run: Run | undefined;
}

export function createQueryBuilder(): QueryBuilder {
  const outer: Frame[] = [];
  let frame = frameOf(undefined);
  /** Open brackets that were too deep. */
  let ignored = 0;

  function close(): void {
    const around = outer.pop();
    if (around === undefined) return;
    const whole = treeOf(frame);
    frame = around;
    if (whole === undefined) frame.negating = undefined;
    else add(frame, whole);
  }

  return {
    open(field) {
      if (outer.length >= depthMax) {
        ignored++;
        return;
      }
      outer.push(frame);
      frame = frameOf(field ?? frame.field);
    },
    close() {
      if (ignored > 0) ignored--;
      else close();
    },
    operator(name, text) {
      if (name === "MUST") return;
      if (name === "NOT") {
        frame.negating = frame.negating === undefined ? text : undefined;
        frame.run = undefined;
        return;
      }
      const joins =
        frame.joining === undefined && frame.negating === undefined && frame.list.length > 0;
      if (joins) frame.joining = { name, text };
      else addWordOf(frame, text);
    },
    word: (word) => addWord(frame, word),
    phrase: (text) => add(frame, { kind: "phrase", text }),
    fieldQuery: (field, value) => add(frame, { kind: "field", field, value }),
    all: () => add(frame, { kind: "all" }),
    fieldAround: () => frame.field,
    finish() {
      while (outer.length > 0) close();
      return treeOf(frame);
    },
  };
}

const frameOf = (field: string | undefined): Frame => ({
  field,
  groups: [],
  list: [],
  joining: undefined,
  negating: undefined,
  run: undefined,
});

function add(frame: Frame, part: QueryTree): void {
  const tree: QueryTree = frame.negating === undefined ? part : { kind: "not", not: part };
  if (frame.joining?.name === "OR") {
    frame.groups.push(frame.list);
    frame.list = [tree];
  } else frame.list.push(tree);
  frame.joining = undefined;
  frame.negating = undefined;
  frame.run = undefined;
}

function addWord(frame: Frame, word: QueryWord): void {
  if (frame.run !== undefined && frame.joining === undefined) {
    frame.run.text += ` ${word.text}`;
    frame.run.words.push(word);
    return;
  }
  const run: Run = { kind: "words", text: word.text, words: [word] };
  const negated = frame.negating !== undefined;
  add(frame, run);
  if (!negated) frame.run = run;
}

/** An operator that joins nothing is a word, if it is one. */
function addWordOf(frame: Frame, operator: string): void {
  if (/^[A-Z]/.test(operator)) addWord(frame, { text: operator, open: false });
}

function treeOf(frame: Frame): QueryTree | undefined {
  const { joining, negating } = frame;
  frame.joining = undefined;
  frame.negating = undefined;
  if (joining !== undefined) addWordOf(frame, joining.text);
  if (negating !== undefined) addWordOf(frame, negating);
  const any = [...frame.groups, frame.list].flatMap((all): QueryTree[] => {
    const [first, second] = all;
    if (first === undefined) return [];
    return second === undefined ? [first] : [{ kind: "and", all }];
  });
  return any.length > 1 ? { kind: "or", any } : any[0];
}
