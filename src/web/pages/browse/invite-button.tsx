/** Invites a user: a link that signs up one user, with a role if one is chosen. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { createInviteLink } from "../../api/accounts.ts";
import { useSummary } from "../../api/entities.ts";
import { search } from "../../api/search.ts";
import { Dialog, DialogButtons } from "../../components/dialog.tsx";
import { Icon } from "../../components/icon.tsx";
import { SecretDialog } from "../../components/secret-dialog.tsx";
import { announceError } from "../../components/toasts.tsx";

export function InviteButton() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        <Icon name="plus" /> Invite a user
      </button>
      {open && <InviteDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const [role, setRole] = useState("");
  const [link, setLink] = useState<string>();
  const { data } = useQuery({
    queryKey: ["search", "roles"],
    queryFn: ({ signal }) => search({ query: "*", types: ["dataHubRole"], count: 200, signal }),
  });
  const create = (event: FormEvent) => {
    event.preventDefault();
    createInviteLink(role === "" ? undefined : role).then(setLink, announceError);
  };
  if (link !== undefined) {
    return (
      <SecretDialog
        title="The invite"
        label="Link"
        secret={link}
        about="Send the link to one person. It is valid for seven days, and shown this once."
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title="Invite a user" onClose={onClose}>
      <form className="stack" onSubmit={create}>
        <label className="field-label">
          Role
          <select className="field" value={role} onChange={(event) => setRole(event.target.value)}>
            <option value="">Without a role</option>
            {data?.hits.map(({ urn }) => (
              <RoleOption key={urn} urn={urn} />
            ))}
          </select>
        </label>
        <DialogButtons label="Create the link" onCancel={onClose} />
      </form>
    </Dialog>
  );
}

const RoleOption = ({ urn }: { readonly urn: string }) => (
  <option value={urn}>{useSummary(urn).name}</option>
);
