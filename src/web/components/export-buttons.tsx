/** Buttons that export a list as CSV or JSON. */
import { useState } from "react";
import { csvOf } from "./csv.ts";
import { download } from "./download.ts";
import { Icon } from "./icon.tsx";
import { announce, announceError } from "./toasts.tsx";

interface ExportedList {
  /** The members of the JSON. */
  readonly items: readonly unknown[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Number of entities, also of those beyond the end of the export. */
  readonly total: number;
}

interface ExportProps {
  /** Name of the file without its ending. */
  readonly name: string;
  readonly disabled?: boolean;
  readonly read: () => Promise<ExportedList>;
}

export function ExportButtons({ name, disabled = false, read }: ExportProps) {
  const [running, setRunning] = useState(false);
  const run = async (format: "csv" | "json") => {
    setRunning(true);
    try {
      const { items, columns, rows, total } = await read();
      if (format === "csv") download(`${name}.csv`, "text/csv", csvOf(columns, rows));
      else download(`${name}.json`, "application/json", JSON.stringify(items, null, 2));
      announce(
        total > items.length
          ? `Exported the first ${items.length} of ${total} entities`
          : `Exported ${items.length} ${items.length === 1 ? "entity" : "entities"}`,
      );
    } catch (error) {
      announceError(error);
    } finally {
      setRunning(false);
    }
  };
  return (
    <span className="row tight">
      {(["csv", "json"] as const).map((format) => (
        <button
          key={format}
          type="button"
          className="button"
          disabled={disabled || running}
          onClick={() => void run(format)}
        >
          <Icon name="download" /> {format.toUpperCase()}
        </button>
      ))}
    </span>
  );
}
