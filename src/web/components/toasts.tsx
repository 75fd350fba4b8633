/** Short messages about finished actions, announced to screen readers. */
import { createStore, useStore } from "../api/store.ts";
import { messageOf } from "./states.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly error: boolean;
}

const toasts = createStore<readonly Toast[]>([]);
let nextId = 1;
const shownMs = 6_000;

export function announce(text: string, error = false): void {
  const id = nextId++;
  toasts.set([...toasts.get().slice(-2), { id, text, error }]);
  setTimeout(() => dismiss(id), error ? 3 * shownMs : shownMs);
}

export const announceError = (error: unknown): void => announce(messageOf(error), true);

const dismiss = (id: number): void => toasts.set(toasts.get().filter((one) => one.id !== id));

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className="toasts" aria-live="polite" role="status">
      {shown.map(({ id, text, error }) => (
        <div key={id} className={error ? "toast error" : "toast"}>
          <span className="spread">{text}</span>
          <button
            type="button"
            className="button quiet"
            onClick={() => dismiss(id)}
            aria-label="Dismiss"
          >
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
