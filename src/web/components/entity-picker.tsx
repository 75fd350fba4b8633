/** A field that finds entities of some types while the user types, and picks one. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useId, useState } from "react";
import { useSummary } from "../api/entities.ts";
import { search } from "../api/search.ts";
import { TypeGlyph } from "./icon.tsx";

interface PickerProps {
  /** Types of the entities; those that people look for when absent. */
  readonly types?: readonly string[];
  readonly label: string;
  readonly onPick: (urn: string) => void;
  readonly onText?: (text: string) => void;
  /** Adds an entry that creates an entity with the typed name. */
  readonly onCreate?: ((name: string) => void) | undefined;
}

export function EntityPicker({ types, label, onPick, onText, onCreate }: PickerProps) {
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const id = useId();
  const query = useDebounced(text, 100);
  const { data } = useQuery({
    queryKey: ["picker", types, query],
    queryFn: ({ signal }) =>
      search({
        query: query === "" ? "*" : `${query}*`,
        ...(types === undefined ? {} : { types }),
        count: 8,
        signal,
      }),
    placeholderData: keepPreviousData,
  });
  const urns = (data?.hits ?? []).map(({ urn }) => urn);
  const canCreate = onCreate !== undefined && text.trim() !== "";
  const count = urns.length + (canCreate ? 1 : 0);
  const pick = (n: number) => {
    const urn = urns[n];
    if (urn !== undefined) onPick(urn);
    else if (canCreate) onCreate(text.trim());
  };
  return (
    <div className="picker">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        className="field"
        role="combobox"
        aria-expanded={count > 0}
        aria-controls={count > 0 ? `${id}-list` : undefined}
        aria-activedescendant={count > 0 ? `${id}-${active}` : undefined}
        autoComplete="off"
        value={text}
        // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type here.
        autoFocus
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
          onText?.(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setActive(Math.min(active + 1, count - 1));
          else if (event.key === "ArrowUp") setActive(Math.max(active - 1, 0));
          else if (event.key === "Enter") pick(active);
          else return;
          event.preventDefault();
        }}
      />
      {count === 0 ? (
        <div className="picker-list">
          {data !== undefined && (
            <p className="muted small picker-none" role="status">
              Nothing found
            </p>
          )}
        </div>
      ) : (
        <div
          className="picker-list"
          role="listbox"
          id={`${id}-list`}
          aria-label={label}
          tabIndex={-1}
        >
          {urns.map((urn, n) => (
            <Option key={urn} id={`${id}-${n}`} active={n === active} onPick={() => onPick(urn)}>
              <Choice urn={urn} />
            </Option>
          ))}
          {canCreate && (
            <Option
              id={`${id}-${urns.length}`}
              active={active === urns.length}
              onPick={() => onCreate(text.trim())}
            >
              Create “{text.trim()}”
            </Option>
          )}
        </div>
      )}
    </div>
  );
}

interface OptionProps {
  readonly id: string;
  readonly active: boolean;
  readonly onPick: () => void;
  readonly children: React.ReactNode;
}

// The keyboard stays in the field: options are for the pointer.
const Option = ({ id, active, onPick, children }: OptionProps) => (
  <div
    id={id}
    role="option"
    aria-selected={active}
    tabIndex={-1}
    onClick={onPick}
    onKeyDown={() => undefined}
    className={active ? "picker-option active" : "picker-option"}
  >
    {children}
  </div>
);

function Choice({ urn }: { readonly urn: string }) {
  const { name, type, description } = useSummary(urn);
  return (
    <>
      <TypeGlyph type={type} />
      <span className="clip">
        {name} <span className="muted small">{description}</span>
      </span>
    </>
  );
}

/** The value after it has not changed for some time. */
function useDebounced<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
