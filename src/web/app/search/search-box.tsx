/** The search field of the top bar. Typing opens the search page and updates its query. */
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useSummary } from "../../api/entities.ts";
import { Icon } from "../../components/icon.tsx";
import { listOf, type UrlQuery } from "../url-query.ts";
import { useFieldValues } from "./field-values.ts";
import { type Completion, completionsOf, partAt } from "./query-completion.ts";

/** Keys that follow each other faster than this share one search. */
const pauseMs = 60;

/** The text of the field, and the query of the URL that it leads to a moment later. */
function useQueryText() {
  const navigate = useNavigate();
  const { pathname, search } = useRouterState({ select: (state) => state.location });
  const onSearchPage = pathname === "/ui/search";
  // The search page notes that it shows the present to a reader of the past.
  const { asOf } = search as UrlQuery;
  const query = onSearchPage ? (listOf((search as UrlQuery).q)[0] ?? "") : "";
  const [text, setText] = useState(query);
  const sent = useRef(query);
  const lastKey = useRef(0);
  useEffect(() => {
    // Another query of the URL than the one sent from here: the back button, or a link.
    if (query !== sent.current) {
      sent.current = query;
      setText(query);
    }
  }, [query]);
  useEffect(() => {
    if (text === sent.current) return;
    // A key that follows others closely waits for the next one; any other key searches at once.
    const wait = performance.now() - lastKey.current < pauseMs ? pauseMs : 0;
    lastKey.current = performance.now();
    const timer = setTimeout(() => {
      sent.current = text;
      void navigate({
        to: "/ui/search",
        search: onSearchPage ? { ...search, q: text, page: undefined } : { q: text, asOf },
        replace: onSearchPage,
      });
    }, wait);
    return () => clearTimeout(timer);
  }, [text, navigate, onSearchPage, search, asOf]);
  /** Opens the search page with the text, also with an unchanged one. */
  const open = () => {
    sent.current = text;
    void navigate({ to: "/ui/search", search: { q: text, asOf } });
  };
  return { text, setText, onSearchPage, open };
}

export function SearchBox() {
  const { text, setText, onSearchPage, open } = useQueryText();
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const list = useCompletions(text, input);
  const accept = (completion: Completion) => {
    const { from, to } = list.part;
    setText(text.slice(0, from) + completion.insert + text.slice(to));
    list.moveCaret(from + completion.insert.length);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key } = event;
    const chosen = list.options[list.active];
    if (key === " " && event.ctrlKey) list.openAll();
    else if (key === "ArrowDown" && list.active + 1 < list.options.length) list.move(1);
    else if (key === "ArrowUp" && list.options.length > 0) list.move(-1);
    else if ((key === "Enter" || key === "Tab") && chosen !== undefined) accept(chosen);
    else if (key === "Escape" && list.options.length > 0) list.close();
    else if (key === "Escape") event.currentTarget.blur();
    else if (key === "Enter" && !onSearchPage) open();
    else if (key === "ArrowDown" || key === "Enter") {
      list.close();
      document.querySelector<HTMLElement>("a.hit-name")?.focus();
    } else return;
    event.preventDefault();
  };
  const shown = list.options.length > 0;
  return (
    <search className="search-box">
      <Icon name="search" />
      <input
        ref={input}
        id="search-field"
        className="field"
        type="text"
        role="combobox"
        aria-label="Search the catalog"
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={list.active >= 0 ? `${id}-${list.active}` : undefined}
        placeholder="Search tables, people, tags, terms …"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          list.typed(event.target.selectionStart ?? event.target.value.length);
        }}
        onSelect={(event) => list.selected(event.currentTarget.selectionStart ?? 0)}
        onBlur={list.close}
        onKeyDown={onKeyDown}
      />
      <kbd>/</kbd>
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Completions"
        className="completions"
        hidden={!shown}
      >
        {list.options.map((option, n) => (
          <Option
            key={option.label}
            id={`${id}-${n}`}
            option={option}
            active={n === list.active}
            onPick={() => accept(option)}
          />
        ))}
      </div>
      <p className="hidden-text" role="status">
        {shown && `${list.options.length} completions`}
      </p>
    </search>
  );
}

/** The completions at the caret, and the chosen one; -1 for none. */
function useCompletions(text: string, input: React.RefObject<HTMLInputElement | null>) {
  const [caret, setCaret] = useState(0);
  const [mode, setMode] = useState<"closed" | "typing" | "all">("closed");
  const [active, setActive] = useState(-1);
  const target = useRef<number>(undefined);
  const part = partAt(text, Math.min(caret, text.length));
  const values = useFieldValues(mode === "closed" ? undefined : part.field, part.text);
  const options = mode === "closed" ? [] : completionsOf(part, values, Date.now(), mode === "all");
  const show = (next: typeof mode, at: number) => {
    setMode(next);
    setCaret(at);
    setActive(-1);
  };
  // The caret can move only after the new text is in the field.
  useEffect(() => {
    if (target.current === undefined) return;
    input.current?.setSelectionRange(target.current, target.current);
    target.current = undefined;
  });
  return {
    part,
    options,
    active: active < options.length ? active : -1,
    typed: (at: number) => show("typing", at),
    selected: (at: number) => setCaret(at),
    openAll: () => show("all", input.current?.selectionStart ?? text.length),
    close: () => setMode("closed"),
    move: (by: number) => setActive((before) => Math.max(-1, before + by)),
    moveCaret: (to: number) => {
      target.current = to;
      show("typing", to);
    },
  };
}

interface OptionProps {
  readonly id: string;
  readonly option: Completion;
  readonly active: boolean;
  readonly onPick: () => void;
}

const Option = ({ id, option, active, onPick }: OptionProps) => (
  // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field.
  // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys.
  <div
    id={id}
    role="option"
    aria-selected={active}
    className={active ? "completion active" : "completion"}
    onMouseDown={(event) => event.preventDefault()}
    onClick={onPick}
  >
    {option.urn === undefined ? (
      <code>{option.label}</code>
    ) : (
      <span className="clip">
        <NameOf urn={option.urn} />
      </span>
    )}
    <span className="muted small clip">{option.detail}</span>
  </div>
);

const NameOf = ({ urn }: { readonly urn: string }) => useSummary(urn).name;
