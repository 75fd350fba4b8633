/** Chooses the point in time that the page shows: now, a time, or a position of the log. */
import { type RefObject, useEffect, useRef, useState } from "react";
import { Icon } from "../../components/icon.tsx";
import { Time } from "../../components/time.tsx";

interface ControlProps {
  readonly asOf: string | undefined;
  readonly onChange: (asOf: string | undefined) => void;
}

export function AsOfControl({ asOf, onChange }: ControlProps) {
  const [open, setOpen] = useState(false);
  const [time, setTime] = useState("");
  const [position, setPosition] = useState("");
  const control = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useClosing(control, open, (returnFocus) => {
    setOpen(false);
    if (returnFocus) button.current?.focus();
  });
  const show = (next: string | undefined) => {
    setOpen(false);
    onChange(next);
  };
  return (
    <div className="as-of" ref={control}>
      <button
        ref={button}
        type="button"
        className="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name="clock" />
        {asOf === undefined ? "As of now" : <AsOfText asOf={asOf} />}
      </button>
      {asOf !== undefined && (
        <button type="button" className="button" onClick={() => show(undefined)}>
          Back to now
        </button>
      )}
      {open && (
        <form
          className="as-of-form panel"
          onSubmit={(event) => {
            event.preventDefault();
            if (position !== "") show(position);
            else if (time !== "") show(new Date(time).toISOString());
          }}
        >
          <div className="row tight">
            {agesOfForm.map(([label, ms]) => (
              <button
                key={label}
                type="button"
                className="button"
                onClick={() => show(new Date(Date.now() - ms).toISOString())}
              >
                {label}
              </button>
            ))}
          </div>
          <label className="field-label">
            Time
            <input
              className="field"
              type="datetime-local"
              step="1"
              value={time}
              onChange={(event) => setTime(event.target.value)}
            />
          </label>
          <label className="field-label">
            Or position of the log
            <input
              className="field"
              inputMode="numeric"
              pattern="\d*"
              value={position}
              onChange={(event) => setPosition(event.target.value)}
            />
          </label>
          <button type="submit" className="button primary">
            Show
          </button>
        </form>
      )}
    </div>
  );
}

/** Closes the form on Escape, and when the reader clicks or focuses another part of the page. */
function useClosing(
  control: RefObject<HTMLElement | null>,
  open: boolean,
  close: (returnFocus: boolean) => void,
): void {
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    if (!open) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") latest.current(true);
    };
    const onLeave = ({ target }: Event) => {
      if (!control.current?.contains(target as Node)) latest.current(false);
    };
    document.addEventListener("keydown", onKey);
    document.addEventListener("pointerdown", onLeave);
    document.addEventListener("focusin", onLeave);
    return () => {
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("pointerdown", onLeave);
      document.removeEventListener("focusin", onLeave);
    };
  }, [control, open]);
}

const agesOfForm: readonly (readonly [string, number])[] = [
  ["An hour ago", 3_600_000],
  ["Yesterday", 86_400_000],
  ["A week ago", 604_800_000],
];

const AsOfText = ({ asOf }: { readonly asOf: string }) =>
  /^\d+$/.test(asOf) ? (
    <>As of position {asOf}</>
  ) : (
    <>
      As of <Time at={Date.parse(asOf)} />
    </>
  );
