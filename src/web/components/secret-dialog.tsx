/** Shows a new token or link once, to be copied. */
import { CopyButton } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";

interface SecretProps {
  readonly title: string;
  readonly label: string;
  readonly secret: string;
  /** How long and for what the secret is valid. */
  readonly about: string;
  readonly onClose: () => void;
}

export const SecretDialog = ({ title, label, secret, about, onClose }: SecretProps) => (
  <Dialog title={title} onClose={onClose}>
    <p>{about}</p>
    <textarea className="field mono" rows={4} readOnly aria-label={label} value={secret} />
    <div className="actions">
      <CopyButton text={secret} label="Copy" />
      <button type="button" className="button primary" onClick={onClose}>
        Done
      </button>
    </div>
  </Dialog>
);
