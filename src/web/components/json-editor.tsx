/**
 * An editor of JSON that marks syntax errors, and the place that an error of the service names. With a
 * schema it completes fields and symbols, and marks values that do not fit.
 */
import { autocompletion, type CompletionContext } from "@codemirror/autocomplete";
import { json, jsonLanguage, jsonParseLinter } from "@codemirror/lang-json";
import { syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, linter, lintGutter } from "@codemirror/lint";
import { EditorState, type Extension, StateEffect } from "@codemirror/state";
import { basicSetup, EditorView } from "codemirror";
import { type RefObject, useEffect, useRef } from "react";
import { flushSync } from "react-dom";
import { codeColors } from "./code-colors.ts";
import { completeJson } from "./json-completion.ts";
import { offsetOfPath, pathInMessage } from "./json-path.ts";
import { type JsonSchema, type SchemaSteps, schemaErrors, schemaSteps } from "./json-schema.ts";

interface EditorProps {
  readonly label: string;
  readonly text: string;
  /** The message of a rejected write. */
  readonly error?: string | undefined;
  /** Steps to a value that the editor selects, joined by `/`. */
  readonly path?: string | undefined;
  readonly readOnly?: boolean;
  readonly schema?: JsonSchema | undefined;
  readonly onChange?: (text: string) => void;
}

/** Makes the linter run again: a write was rejected, or the schema has arrived. */
const newMarks = StateEffect.define<null>();

export default function JsonEditor({
  label,
  text,
  error,
  path = "",
  readOnly = false,
  schema,
  onChange,
}: EditorProps) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const rejected = useRef<string>(undefined);
  const steps = useRef<SchemaSteps>(undefined);
  const changed = useRef(onChange);
  changed.current = onChange;
  useEffect(() => {
    const parent = holder.current;
    if (parent === null) return;
    const editor = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          basicSetup,
          autocompletion({ icons: false }),
          json(),
          lintGutter(),
          marksOf({ rejected, steps }),
          jsonLanguage.data.of({
            autocomplete: (context: CompletionContext) =>
              steps.current === undefined ? null : completeJson(context, steps.current),
          }),
          syntaxHighlighting(codeColors),
          EditorState.readOnly.of(readOnly),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            rejected.current = undefined;
            // At once, or a click that follows finds the state of before.
            flushSync(() => changed.current?.(update.state.doc.toString()));
          }),
        ],
      }),
    });
    view.current = editor;
    selectLine(editor, path);
    return () => editor.destroy();
  }, [text, readOnly, label, path]);
  useEffect(() => {
    rejected.current = error;
    view.current?.dispatch({ effects: newMarks.of(null) });
  }, [error]);
  useEffect(() => {
    steps.current = schema && schemaSteps(schema);
    view.current?.dispatch({ effects: newMarks.of(null) });
  }, [schema]);
  return <div ref={holder} className="json-editor" />;
}

interface MarkSources {
  /** The message of a rejected write. */
  readonly rejected: RefObject<string | undefined>;
  readonly steps: RefObject<SchemaSteps | undefined>;
}

/** Marks syntax errors, or else values that do not fit the schema, and the error of a write. */
function marksOf({ rejected, steps }: MarkSources): Extension {
  const parseErrors = jsonParseLinter();
  const findErrors = (editor: EditorView): readonly Diagnostic[] => {
    const text = editor.state.doc.toString();
    const syntax = text === "" ? [] : parseErrors(editor);
    const { current: message } = rejected;
    if (message !== undefined) {
      const from = offsetOfPath(text, pathInMessage(message)) ?? 0;
      const { to } = editor.state.doc.lineAt(from);
      return [...syntax, { from, to, severity: "error", message }];
    }
    if (syntax.length > 0 || steps.current === undefined) return syntax;
    return schemaErrors(text, steps.current);
  };
  return linter(findErrors, {
    delay: 200,
    needsRefresh: (update) =>
      update.transactions.some(({ effects }) => effects.some((one) => one.is(newMarks))),
  });
}

/** Selects the line of the value at a path, in the middle of the editor. */
function selectLine(editor: EditorView, path: string): void {
  const steps = path.split("/").filter(Boolean);
  const from = offsetOfPath(editor.state.doc.toString(), steps);
  if (from === undefined) return;
  const { to } = editor.state.doc.lineAt(from);
  editor.dispatch({
    selection: { anchor: from, head: to },
    effects: EditorView.scrollIntoView(from, { y: "center" }),
  });
}
