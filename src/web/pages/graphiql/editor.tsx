/** An editor of the page: a query with completion and checks, variables, or a result that is only read. */
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { syntaxHighlighting } from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { Compartment, EditorState, type Extension, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { codeColors } from "../../components/code-colors.ts";

interface EditorProps {
  readonly label: string;
  /** The first text. An editor that is only read shows each later one. */
  readonly text: string;
  readonly extensions: Extension;
  readonly readOnly?: boolean;
  readonly onChange?: (text: string) => void;
  /** Ctrl-Enter. */
  readonly onRun?: () => void;
}

export const jsonExtensions: Extension = [json(), linter(jsonParseLinterOfText())];

/** An empty text has no variables, and no error. */
function jsonParseLinterOfText() {
  const lint = jsonParseLinter();
  return (view: EditorView) => (view.state.doc.toString().trim() === "" ? [] : lint(view));
}

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "var(--text-m)", background: "var(--surface)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": {
    background: "var(--surface)",
    color: "var(--ink-3)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-activeLine, .cm-activeLineGutter": { background: "transparent" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { background: "var(--accent-soft)" },
  ".cm-tooltip, .cm-panels": {
    background: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    background: "var(--accent)",
    color: "var(--accent-ink)",
  },
  ".cm-tooltip-hover": { maxWidth: "min(48ch, 90vw)", padding: "var(--s3)" },
});

export function Editor({ label, text, extensions, readOnly = false, ...events }: EditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const current = useRef(events);
  current.current = events;
  const start = useRef({ text, extensions });
  const [changing] = useState(() => new Compartment());

  useEffect(() => {
    if (parent.current === null) return;
    const run = {
      key: "Mod-Enter",
      run: () => {
        current.current.onRun?.();
        return true;
      },
    };
    const editor = new EditorView({
      parent: parent.current,
      doc: start.current.text,
      extensions: [
        Prec.highest(keymap.of([run])),
        basicSetup,
        theme,
        syntaxHighlighting(codeColors),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        ...(readOnly ? [EditorState.readOnly.of(true)] : []),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || readOnly) return;
          // At once, or a click that follows finds the state of before.
          flushSync(() => current.current.onChange?.(update.state.doc.toString()));
        }),
        changing.of(start.current.extensions),
      ],
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label, readOnly, changing]);

  // The schema arrives while somebody types: the editor keeps its text, caret and focus.
  useEffect(() => {
    view.current?.dispatch({ effects: changing.reconfigure(extensions) });
  }, [extensions, changing]);

  useEffect(() => {
    const editor = view.current;
    // Where somebody types, the text follows the editor, and may be behind it.
    if (editor === undefined || !readOnly || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text, readOnly]);

  return <div className="graphiql-editor" ref={parent} />;
}
