/** Deprecation, soft deletion and links of an entity, and the password of a user. */
import { useState } from "react";
import { createResetLink } from "../../api/accounts.ts";
import { sessionStore } from "../../api/http.ts";
import { useMay, useMayWrite } from "../../api/privileges.ts";
import type { Summary } from "../../api/summary.ts";
import { addLink, setRemoved, updateDeprecation } from "../../api/writes.ts";
import { Dialog, DialogButtons } from "../../components/dialog.tsx";
import { safeUrl } from "../../components/safe-url.ts";
import { SecretDialog } from "../../components/secret-dialog.tsx";
import { announceError } from "../../components/toasts.tsx";
import { withItem, withMembers } from "./editing/guesses.ts";
import { type Edit, useEdit } from "./editing/use-edit.ts";

type Action = "deprecate" | "delete" | "link";

interface Choice {
  readonly id: string;
  readonly text: string;
  readonly offered: boolean;
}

/** Users sign in with passwords where a sign-in is required. */
const hasPassword = (type: string): boolean =>
  type === "corpuser" && sessionStore.get().signInRequired;

export function EntityActions({ summary }: { readonly summary: Summary }) {
  const { urn, type, deprecated, removed, name } = summary;
  const edit = useEdit(urn);
  const mayWrite = useMayWrite(urn);
  const mayOnPlatform = useMay();
  const [action, setAction] = useState<Action>();
  const [text, setText] = useState("");
  const [label, setLabel] = useState("");
  const [resetLink, setResetLink] = useState<string>();
  const deprecating = mayWrite("deprecation");
  const deleting = mayWrite("status");
  const resetting = hasPassword(type) && mayOnPlatform("MANAGE_USER_CREDENTIALS");
  const choices: readonly Choice[] = [
    { id: "link", text: "Add a link", offered: mayWrite("institutionalMemory") },
    { id: "undeprecate", text: "Remove the deprecation", offered: deprecating && deprecated },
    { id: "deprecate", text: "Deprecate", offered: deprecating && !deprecated },
    { id: "reset", text: "Reset the password", offered: resetting },
    { id: "restore", text: "Undo the deletion", offered: deleting && removed },
    { id: "delete", text: "Delete", offered: deleting && !removed },
  ];
  const close = () => {
    setAction(undefined);
    setText("");
    setLabel("");
  };
  const run: (...edited: Parameters<Edit>) => void = (...edited) => {
    close();
    void edit(...edited);
  };
  const deprecate = (deprecated: boolean, note: string, done: string) =>
    run(
      () => updateDeprecation(urn, deprecated, note),
      done,
      withMembers("deprecation", { deprecated, note }),
    );
  const remove = (removed: boolean, done: string) =>
    run(() => setRemoved(urn, removed), done, withMembers("status", { removed }));
  if (!choices.some(({ offered }) => offered)) return null;
  return (
    <>
      <select
        className="field actions-menu"
        aria-label="Actions"
        value=""
        onChange={(event) => {
          const { value } = event.target;
          if (value === "undeprecate") deprecate(false, "", "No longer deprecated");
          else if (value === "restore") remove(false, "Restored");
          else if (value === "reset") createResetLink(urn).then(setResetLink, announceError);
          else setAction(value as Action);
        }}
      >
        <option value="">Actions</option>
        {choices
          .filter(({ offered }) => offered)
          .map(({ id, text }) => (
            <option key={id} value={id}>
              {text}
            </option>
          ))}
      </select>
      {resetLink !== undefined && (
        <SecretDialog
          title={`Reset the password of ${name}`}
          label="Link"
          secret={resetLink}
          about="Send the link to the user. It sets a new password once, within a day, and is shown this once."
          onClose={() => setResetLink(undefined)}
        />
      )}
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
          <DialogButtons
            label="Deprecate"
            onCancel={close}
            onConfirm={() => deprecate(true, text, "Deprecated")}
          />
        </Dialog>
      )}
      {action === "delete" && (
        <Dialog title={`Delete ${name}`} onClose={close}>
          <p>
            A soft deletion hides the entity from searches. It keeps all aspects and their history,
            and can be undone.
          </p>
          <DialogButtons
            label="Delete"
            danger
            onCancel={close}
            onConfirm={() => remove(true, "Deleted")}
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
          <DialogButtons
            label="Add"
            disabled={safeUrl(text) === undefined || label.trim() === ""}
            onCancel={close}
            onConfirm={() => {
              const [url, description] = [text.trim(), label.trim()];
              run(
                () => addLink(urn, url, description),
                "Link added",
                withItem("institutionalMemory", "elements", { url, description }),
              );
            }}
          />
        </Dialog>
      )}
    </>
  );
}
