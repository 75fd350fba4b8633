/** Copies a text to the clipboard. */
import { Icon } from "./icon.tsx";
import { announce, announceError } from "./toasts.tsx";

interface CopyProps {
  readonly text: string | (() => string);
  readonly label?: string;
}

export function CopyButton({ text, label }: CopyProps) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      announce("Copied");
    } catch (error) {
      announceError(error);
    }
  };
  return (
    <button
      type="button"
      className={label === undefined ? "button quiet icon" : "button"}
      aria-label={label ?? "Copy"}
      title={label ?? "Copy"}
      onClick={() => void copy()}
    >
      <Icon name="copy" />
      {label}
    </button>
  );
}
