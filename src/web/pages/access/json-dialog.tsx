/** A dialog that shows a value as JSON, and writes it after an edit. */
import { lazy, type ReactNode, Suspense, useState } from "react";
import { isObject, type JsonObject } from "../../api/json.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Loading, messageOf } from "../../components/states.tsx";

const JsonEditor = lazy(() => import("../../components/json-editor.tsx"));

interface DialogProps {
  readonly title: string;
  readonly value: JsonObject;
  /** Writes the edited value; absent for a value that cannot be changed. */
  readonly onSave?: ((value: JsonObject) => Promise<void>) | undefined;
  readonly onClose: () => void;
  /** Further buttons. */
  readonly children?: ReactNode;
}

function parsed(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error("The value must be a JSON object");
  return value;
}

export function JsonDialog({ title, value, onSave, onClose, children }: DialogProps) {
  const [initial] = useState(() => JSON.stringify(value, null, 2));
  const [text, setText] = useState(initial);
  const [error, setError] = useState<string>();
  const [saving, setSaving] = useState(false);
  const save = async () => {
    setSaving(true);
    setError(undefined);
    try {
      await onSave?.(parsed(text));
      onClose();
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setSaving(false);
    }
  };
  return (
    <Dialog title={title} wide onClose={onClose}>
      <Suspense fallback={<Loading lines={8} />}>
        <JsonEditor
          label={`${title} as JSON`}
          text={initial}
          error={error}
          readOnly={onSave === undefined}
          onChange={setText}
        />
      </Suspense>
      {error !== undefined && (
        <p className="bad" role="alert">
          {error}
        </p>
      )}
      <div className="actions">
        {children}
        <span className="spread" />
        <button type="button" className="button" onClick={onClose}>
          {onSave === undefined ? "Close" : "Cancel"}
        </button>
        {onSave !== undefined && (
          <button
            type="button"
            className="button primary"
            disabled={saving}
            onClick={() => void save()}
          >
            {saving ? "Saving" : "Save"}
          </button>
        )}
      </div>
    </Dialog>
  );
}
