/** An editor of JSON that marks syntax errors, and the place that an error of the service names. */
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, linter, lintGutter } from "@codemirror/lint";
import { EditorState, StateEffect } from "@codemirror/state";
import { basicSetup, EditorView } from "codemirror";
import { useEffect, useRef } from "react";
import { flushSync } from "react-dom";
import { codeColors } from "./code-colors.ts";
import { offsetOfPath, pathInMessage } from "./json-path.ts";

interface EditorProps {
  readonly label: string;
  readonly text: string;
  /** The message of a rejected write. */
  readonly error?: string | undefined;
  /** Steps to a value that the editor selects, joined by `/`. */
  readonly path?: string | undefined;
  readonly readOnly?: boolean;
  readonly onChange?: (text: string) => void;
}

/** Makes the linter run again after a write was rejected. */
const rejection = StateEffect.define<null>();

export default function JsonEditor({
  label,
  text,
  error,
  path = "",
  readOnly = false,
  onChange,
}: EditorProps) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const rejected = useRef<string>(undefined);
  const changed = useRef(onChange);
  changed.current = onChange;
  useEffect(() => {
    const parent = holder.current;
    if (parent === null) return;
    const parseErrors = jsonParseLinter();
    const findErrors = (editor: EditorView): readonly Diagnostic[] => {
      const syntax = editor.state.doc.length === 0 ? [] : parseErrors(editor);
      const message = rejected.current;
      if (message === undefined) return syntax;
      const from = offsetOfPath(editor.state.doc.toString(), pathInMessage(message)) ?? 0;
      const to = editor.state.doc.lineAt(from).to;
      return [...syntax, { from, to, severity: "error", message }];
    };
    const editor = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          basicSetup,
          json(),
          lintGutter(),
          linter(findErrors, {
            delay: 200,
            needsRefresh: (update) =>
              update.transactions.some(({ effects }) => effects.some((one) => one.is(rejection))),
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
    view.current?.dispatch({ effects: rejection.of(null) });
  }, [error]);
  return <div ref={holder} className="json-editor" />;
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
