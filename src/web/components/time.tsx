/** Times in the zone of the reader, with UTC on hover. */
import { ageOf } from "./age.ts";

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

interface TimeProps {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly relative?: boolean;
}

export function Time({ at, relative = false }: TimeProps) {
  if (!Number.isFinite(at) || Math.abs(at) > 8.64e15 || at === 0) {
    return <span className="muted">unknown</span>;
  }
  const utc = new Date(at).toISOString();
  const local = full.format(at);
  return (
    <time dateTime={utc} title={relative ? `${local} (${utc})` : utc} className="num">
      {relative ? ageOf(at, Date.now()) : local}
    </time>
  );
}
