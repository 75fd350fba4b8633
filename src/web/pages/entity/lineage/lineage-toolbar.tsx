/** The toolbar of the graph of lineage: search in the graph, and paths between two entities. */
import { type ReactNode, useState } from "react";
import { useSummary } from "../../../api/entities.ts";
import { type LineagePath, readPaths } from "../../../api/lineage.ts";
import { nameOfUrn } from "../../../api/urn.ts";
import { Dialog } from "../../../components/dialog.tsx";
import { EntityPicker } from "../../../components/entity-picker.tsx";
import { announce, announceError } from "../../../components/toasts.tsx";
import { readablePath } from "../column-rows.ts";
import { SelectedEntity } from "./entity-card.tsx";
import type { ShownColumns } from "./flow.ts";
import type { Focus } from "./focus.ts";
import { lineageTypes } from "./lineage-types.ts";

interface ToolbarProps {
  readonly root: string;
  readonly focus: Focus | undefined;
  readonly since: number | undefined;
  readonly count: number;
  readonly tools: ReactNode;
  readonly text: string;
  readonly found: readonly string[];
  readonly onText: (text: string) => void;
  readonly onShow: (urn: string) => void;
  readonly onPaths: (paths: readonly LineagePath[]) => void;
}

export function LineageToolbar(props: ToolbarProps) {
  const { root, focus, since, count, tools, text, found, onText, onShow, onPaths } = props;
  const [shown, setShown] = useState(-1);
  const [open, setOpen] = useState(false);
  const start = focus?.kind === "entity" ? focus.urn : root;
  const { name } = useSummary(start);
  const next = () => {
    const n = (shown + 1) % found.length;
    const urn = found[n];
    if (urn === undefined) return;
    setShown(n);
    onShow(urn);
  };
  const showPath = async (to: string) => {
    setOpen(false);
    try {
      const paths = await readPaths(start, to, since);
      if (paths.length > 0) onPaths(paths);
      else announce(`No path between ${name} and ${nameOfUrn(to)}`);
    } catch (error) {
      announceError(error);
    }
  };
  return (
    <div className="row">
      {tools}
      <input
        className="field graph-search"
        type="search"
        aria-label="Find in the graph"
        placeholder="Find in the graph"
        value={text}
        onChange={(event) => {
          setShown(-1);
          onText(event.target.value);
        }}
        onKeyDown={(event) => event.key === "Enter" && next()}
      />
      <button type="button" className="button" onClick={() => setOpen(true)}>
        Show path to…
      </button>
      <span className="muted num" aria-live="polite">
        {text.trim() === "" ? `${count} entities` : foundText(shown, found.length)}
      </span>
      {open && (
        <Dialog title={`Path between ${name} and …`} onClose={() => setOpen(false)}>
          <EntityPicker
            types={lineageTypes}
            label="Find the other entity"
            onPick={(urn) => void showPath(urn)}
          />
        </Dialog>
      )}
    </div>
  );
}

const foundText = (shown: number, count: number): string =>
  shown < 0 ? `${count} found` : `${shown + 1} of ${count}`;

interface FocusProps {
  readonly focus: Focus;
  readonly columns: ReadonlyMap<string, ShownColumns>;
  readonly onClear: () => void;
}

/** Names the highlighted path. */
export function FocusNote({ focus, columns, onClear }: FocusProps) {
  return (
    <div className="focus-note small">
      {focus.kind === "entity" ? (
        <SelectedEntity urn={focus.urn} open={columns.has(focus.urn)} />
      ) : (
        <span className="clip">
          <FocusText focus={focus} />
        </span>
      )}
      <button
        type="button"
        className="card-button"
        aria-label="Clear the selection"
        title="Clear"
        onClick={onClear}
      >
        ×
      </button>
    </div>
  );
}

function FocusText({ focus }: { readonly focus: Exclude<Focus, { readonly kind: "entity" }> }) {
  if (focus.kind === "column") {
    return (
      <>
        Column <span className="mono">{readablePath(focus.column.path)}</span> of{" "}
        <NameOf urn={focus.column.urn} />
      </>
    );
  }
  const [path = []] = focus.paths;
  const hops = path.length - 1;
  return (
    <>
      {hops} {hops === 1 ? "hop" : "hops"} from <NameOf urn={path[0] ?? ""} /> to{" "}
      <NameOf urn={path.at(-1) ?? ""} />
    </>
  );
}

const NameOf = ({ urn }: { readonly urn: string }) => useSummary(urn).name;
