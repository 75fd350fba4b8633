/** A button that creates an entity from its name, and from its parent where it can have one. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Dialog, DialogButtons } from "../../components/dialog.tsx";
import { EntityChip } from "../../components/entity-link.tsx";
import { EntityPicker } from "../../components/entity-picker.tsx";
import { Icon } from "../../components/icon.tsx";
import { announceError } from "../../components/toasts.tsx";

export interface Creation {
  readonly noun: string;
  readonly type: string;
  readonly parent?: {
    readonly label: string;
    readonly types: readonly string[];
    readonly required: boolean;
  };
  readonly run: (name: string, parent: string | undefined) => Promise<string>;
}

export function CreateButton({ creation }: { readonly creation: Creation }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        <Icon name="plus" /> Create a {creation.noun}
      </button>
      {open && <CreateDialog creation={creation} onClose={() => setOpen(false)} />}
    </>
  );
}

interface DialogProps {
  readonly creation: Creation;
  readonly onClose: () => void;
}

function CreateDialog({ creation, onClose }: DialogProps) {
  const { noun, parent, run } = creation;
  const [name, setName] = useState("");
  const [parentUrn, setParentUrn] = useState<string>();
  const [picking, setPicking] = useState(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const incomplete = name.trim() === "" || (parent?.required === true && parentUrn === undefined);
  const create = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const urn = await run(name.trim(), parentUrn);
      await queries.invalidateQueries({ queryKey: ["search"] });
      onClose();
      void navigate({ to: "/ui/entity/$urn", params: { urn } });
    } catch (error) {
      announceError(error);
    }
  };
  return (
    <Dialog title={`Create a ${noun}`} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void create(event)}>
        <label className="field-label">
          Name
          <input
            className="field"
            value={name}
            autoFocus
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        {parent !== undefined && !picking && (
          <div className="row">
            <span className="muted">{parent.label}</span>
            {parentUrn !== undefined && (
              <EntityChip urn={parentUrn} onRemove={() => setParentUrn(undefined)} />
            )}
            <button type="button" className="button quiet" onClick={() => setPicking(true)}>
              {parentUrn === undefined ? "Choose" : "Change"}
            </button>
          </div>
        )}
        {parent !== undefined && picking && (
          <EntityPicker
            label={parent.label}
            types={parent.types}
            onPick={(urn) => {
              setParentUrn(urn);
              setPicking(false);
            }}
          />
        )}
        <DialogButtons label="Create" disabled={incomplete} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
