/** Deprecation, soft deletion and links of an entity. */
import { useState } from "react";
import type { Summary } from "../../api/summary.ts";
import { addLink, setRemoved, updateDeprecation } from "../../api/writes.ts";
import { Dialog } from "../../components/dialog.tsx";
import { safeUrl } from "../../components/safe-url.ts";
import { useEdit } from "./use-edit.ts";

type Action = "deprecate" | "delete" | "link";

export function EntityActions({ summary }: { readonly summary: Summary }) {
  const { urn, deprecated, removed, name } = summary;
  const edit = useEdit(urn);
  const [action, setAction] = useState<Action>();
  const [text, setText] = useState("");
  const [label, setLabel] = useState("");
  const close = () => {
    setAction(undefined);
    setText("");
    setLabel("");
  };
  const run = (write: () => Promise<unknown>, done: string) => {
    close();
    void edit(write, done);
  };
  return (
    <>
      <select
        className="field actions-menu"
        aria-label="Actions"
        value=""
        onChange={(event) => {
          const { value } = event.target;
          if (value === "undeprecate")
            run(() => updateDeprecation(urn, false, ""), "No longer deprecated");
          else if (value === "restore") run(() => setRemoved(urn, false), "Restored");
          else setAction(value as Action);
        }}
      >
        <option value="">Actions</option>
        <option value="link">Add a link</option>
        {deprecated ? (
          <option value="undeprecate">Remove the deprecation</option>
        ) : (
          <option value="deprecate">Deprecate</option>
        )}
        {removed ? (
          <option value="restore">Undo the deletion</option>
        ) : (
          <option value="delete">Delete</option>
        )}
      </select>
      {action === "deprecate" && (
        <Dialog title={`Deprecate ${name}`} onClose={close}>
          <label className="field-label">
            Note for readers
            <textarea
              className="field"
              rows={3}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
          <Buttons
            label="Deprecate"
            onCancel={close}
            onConfirm={() => run(() => updateDeprecation(urn, true, text), "Deprecated")}
          />
        </Dialog>
      )}
      {action === "delete" && (
        <Dialog title={`Delete ${name}`} onClose={close}>
          <p>
            A soft deletion hides the entity from searches. It keeps all aspects and their history,
            and can be undone.
          </p>
          <Buttons
            label="Delete"
            danger
            onCancel={close}
            onConfirm={() => run(() => setRemoved(urn, true), "Deleted")}
          />
        </Dialog>
      )}
      {action === "link" && (
        <Dialog title="Add a link" onClose={close}>
          <label className="field-label">
            Address
            <input
              className="field"
              type="url"
              placeholder="https://"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
          <label className="field-label">
            Text
            <input
              className="field"
              value={label}
              onChange={(event) => setLabel(event.target.value)}
            />
          </label>
          <Buttons
            label="Add"
            disabled={safeUrl(text) === undefined || label.trim() === ""}
            onCancel={close}
            onConfirm={() => run(() => addLink(urn, text.trim(), label.trim()), "Link added")}
          />
        </Dialog>
      )}
    </>
  );
}

interface ButtonsProps {
  readonly label: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onCancel: () => void;
  readonly onConfirm: () => void;
}

const Buttons = ({
  label,
  danger = false,
  disabled = false,
  onCancel,
  onConfirm,
}: ButtonsProps) => (
  <div className="actions">
    <button type="button" className="button" onClick={onCancel}>
      Cancel
    </button>
    <button
      type="button"
      className={danger ? "button danger" : "button primary"}
      disabled={disabled}
      onClick={onConfirm}
    >
      {label}
    </button>
  </div>
);
