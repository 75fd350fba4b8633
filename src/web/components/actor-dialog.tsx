/** Chooses the acting user, where the service trusts the actor header. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { actorStore } from "../api/http.ts";
import { isUrn } from "../api/urn.ts";
import { Dialog } from "./dialog.tsx";
import { EntityPicker } from "./entity-picker.tsx";

export function ActorDialog({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const choose = (urn: string) => {
    actorStore.set(urn);
    void queries.invalidateQueries();
    onClose();
  };
  return (
    <Dialog title="Acting user" onClose={onClose}>
      <p className="muted">
        The log records each write of this page with this user. The service requires no sign-in on
        this machine.
      </p>
      <EntityPicker types={["corpuser"]} label="Find a user" onPick={choose} onText={setName} />
      <div className="actions">
        <button type="button" className="button" onClick={() => choose("")}>
          Act without a user
        </button>
        <button
          type="button"
          className="button"
          disabled={name.trim() === ""}
          onClick={() =>
            choose(isUrn(name.trim()) ? name.trim() : `urn:li:corpuser:${name.trim()}`)
          }
        >
          {name.trim() === "" ? "Act as a new name" : `Act as “${name.trim()}”`}
        </button>
      </div>
    </Dialog>
  );
}
