/** A modal dialog on the element of the browser, which keeps the focus inside. */
import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { Icon } from "./icon.tsx";

interface DialogProps {
  readonly title: string;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Dialog({ title, wide = false, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Closed while it is still in the document: only then does the browser return the focus.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    // The browser focuses the close button, which is first.
    dialog
      ?.querySelector<HTMLElement>("input:not([type=checkbox]), textarea:not([readonly])")
      ?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      className={wide ? "wide" : ""}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" className="button quiet icon" onClick={onClose} aria-label="Close">
          <Icon name="close" />
        </button>
      </div>
      <div className="dialog-body">{children}</div>
    </dialog>
  );
}

interface ButtonsProps {
  /** The action that the dialog confirms. */
  readonly label: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onCancel: () => void;
  /** Absent in a form, which the button submits. */
  readonly onConfirm?: () => void;
  /** Buttons between both. */
  readonly children?: ReactNode;
}

/** The buttons at the end of a dialog: one that cancels, and one that confirms. */
export const DialogButtons = (props: ButtonsProps) => (
  <div className="actions">
    <button type="button" className="button" onClick={props.onCancel}>
      Cancel
    </button>
    {props.children}
    <button
      type={props.onConfirm === undefined ? "submit" : "button"}
      className={props.danger === true ? "button danger" : "button primary"}
      disabled={props.disabled === true}
      onClick={props.onConfirm}
    >
      {props.label}
    </button>
  </div>
);
