/** Completes the names of fields and the symbols of enums in a JSON text, from its schema. */
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  pickedCompletion,
  startCompletion,
} from "@codemirror/autocomplete";
import { ensureSyntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { listAt, textAt, textsAt } from "../api/json.ts";
import type { SyntaxNode } from "./json-path.ts";
import { type JsonSchema, propertiesOf, type SchemaSteps } from "./json-schema.ts";

const parseMs = 200;
/** Searched for the sign before the caret, such as the colon before a value. */
const spaceMax = 1000;
const word = /^[\w.$-]*$/;

/** Completions at the caret; null where the schema has none. */
export function completeJson(
  { state, pos, explicit }: CompletionContext,
  steps: SchemaSteps,
): CompletionResult | null {
  const line = state.doc.lineAt(pos);
  const typed = /[\w.$-]*$/.exec(state.sliceDoc(line.from, pos))?.[0] ?? "";
  const from = pos - typed.length;
  const quoted = isQuoted(state, from);
  if (!explicit && typed === "" && !quoted) return null;
  const options = optionsAt(state, { start: quoted ? from - 1 : from, pos }, steps);
  return options.length === 0 ? null : { from, options, validFor: word };
}

const isQuoted = (state: EditorState, from: number): boolean =>
  from > 0 && state.sliceDoc(from - 1, from) === '"';

/** Completions of a word that begins at `start`. */
function optionsAt(
  state: EditorState,
  { start, pos }: { readonly start: number; readonly pos: number },
  steps: SchemaSteps,
): readonly Completion[] {
  const before = state.sliceDoc(Math.max(0, start - spaceMax), start);
  const space = before.length - before.trimEnd().length;
  const tree = ensureSyntaxTree(state, pos, parseMs);
  const node = tree?.resolveInner(start - space, -1);
  if (node === undefined || node.name === "String" || node.name === "PropertyName") return [];
  const text = state.doc.toString();
  const sign = before.trimEnd().at(-1);
  if (sign === ":") {
    const property = enclosing(node, ["Property"]);
    return property === undefined ? [] : valueOptions(schemaAt(property, text, steps));
  }
  const holder = enclosing(node, ["Object", "Array"]);
  if (holder === undefined || sign === undefined || !"{[,".includes(sign)) return [];
  const schema = schemaAt(holder, text, steps);
  if (holder.name === "Array") return valueOptions(steps.item(schema));
  const present = propertiesOf(holder, text)
    .filter(({ label }) => pos < label.from || pos > label.to)
    .map(({ name }) => name);
  return nameOptions(schema, steps).filter(({ label }) => !present.includes(label));
}

function enclosing(node: SyntaxNode, names: readonly string[]): SyntaxNode | undefined {
  for (let one: SyntaxNode | null = node; one !== null; one = one.parent) {
    if (names.includes(one.name)) return one;
  }
  return undefined;
}

/** The schema of a value or of the value of a property, by the way to it from the root. */
function schemaAt(node: SyntaxNode, text: string, steps: SchemaSteps): JsonSchema | undefined {
  const { parent } = node;
  if (parent === null || parent.name === "JsonText") return steps.root;
  const outer = schemaAt(parent, text, steps);
  if (node.name === "Property") {
    const own = propertiesOf(parent, text).find(({ label }) => label.from === node.from);
    return own && steps.member(outer, own.name);
  }
  return parent.name === "Array" ? steps.item(outer) : outer;
}

function nameOptions(schema: JsonSchema | undefined, steps: SchemaSteps): readonly Completion[] {
  const required = textsAt(listAt(schema, "required"));
  return steps.members(schema).map(([name, member]) => ({
    label: name,
    type: "property",
    info: textAt(member, "description") ?? "",
    // The space is for screen readers, which get one text.
    ...(required.includes(name) && { detail: " required", boost: 1 }),
    apply: (view: EditorView, completion: Completion, from: number, to: number) => {
      const following = followingText(view.state, from, to);
      if (/^\s*:/.test(following)) return insert(view, completion, { from, to });
      const value = emptyValueOf(member);
      const end = /^\s*"/.test(following) ? "," : "";
      insert(view, completion, {
        from,
        to,
        after: `: ${value}${end}`,
        caret: value.length / 2 + 2,
      });
      if (value === '""') startCompletion(view);
    },
  }));
}

function emptyValueOf(schema: JsonSchema): string {
  if (listAt(schema, "enum").length > 0) return '""';
  switch (textAt(schema, "type")) {
    case "string":
      return '""';
    case "array":
      return "[]";
    case "object":
      return "{}";
    default:
      return "";
  }
}

function valueOptions(schema: JsonSchema | undefined): readonly Completion[] {
  const words = textAt(schema, "type") === "boolean" ? ["true", "false"] : [];
  return [
    ...textsAt(listAt(schema, "enum")).map((label) => ({
      label,
      type: "enum",
      apply: (view: EditorView, completion: Completion, from: number, to: number) =>
        insert(view, completion, { from, to }),
    })),
    ...words.map((label) => ({ label, type: "keyword" })),
  ];
}

interface Insertion {
  /** The word, without quotes. */
  readonly from: number;
  readonly to: number;
  /** Follows the quoted label. */
  readonly after?: string;
  /** Characters of `after` before the caret. */
  readonly caret?: number;
}

/** Replaces a word and its quotes with the quoted label of a completion. */
function insert(
  view: EditorView,
  completion: Completion,
  { from, to, after = "", caret = after.length }: Insertion,
): void {
  const { state } = view;
  const start = isQuoted(state, from) ? from - 1 : from;
  const label = JSON.stringify(completion.label);
  view.dispatch({
    changes: { from: start, to: to + tailOf(state, from, to).length, insert: label + after },
    selection: { anchor: start + label.length + caret },
    annotations: pickedCompletion.of(completion),
    userEvent: "input.complete",
    scrollIntoView: true,
  });
}

/** The rest of a quoted word behind the caret, with its quote. */
const tailOf = (state: EditorState, from: number, to: number): string =>
  isQuoted(state, from) ? (/^[\w.$-]*"?/.exec(state.sliceDoc(to, to + spaceMax))?.[0] ?? "") : "";

const followingText = (state: EditorState, from: number, to: number): string =>
  state.sliceDoc(to + tailOf(state, from, to).length, to + spaceMax);
