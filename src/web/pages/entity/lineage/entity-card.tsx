/** An entity in the graph of lineage, with its columns on demand. */
import { Link } from "@tanstack/react-router";
import { Handle, type NodeProps, Position, useStore } from "@xyflow/react";
import { createContext, useContext } from "react";
import { useSummary } from "../../../api/entities.ts";
import type { LineageDirection } from "../../../api/lineage.ts";
import { typeLabel } from "../../../api/type-names.ts";
import { typeOf } from "../../../api/urn.ts";
import { Icon, TypeGlyph } from "../../../components/icon.tsx";
import { readablePath } from "../column-rows.ts";
import type { ColumnRef } from "./column-urn.ts";
import { buttonsZoom, columnsStep, type EntityNode, type ShownColumns } from "./flow.ts";
import { keyOfColumn } from "./graph.ts";

export interface CardActions {
  readonly expand: (urn: string, direction: LineageDirection) => void;
  readonly toggleColumns: (urn: string) => void;
  readonly showMore: (urn: string) => void;
  readonly selectColumn: (column: ColumnRef) => void;
}

/** The actions of the buttons of a card. */
export const CardActionsContext = createContext<CardActions>({
  expand: () => undefined,
  toggleColumns: () => undefined,
  showMore: () => undefined,
  selectColumn: () => undefined,
});

/** Types whose aspects state columns. */
const withColumns: ReadonlySet<string> = new Set(["dataset", "chart", "dashboard"]);

export function EntityCard({ data, selected }: NodeProps<EntityNode>) {
  const { urn, root, found, columns, lit } = data;
  const { name, type, platform } = useSummary(urn);
  const marks = `${root ? " root" : ""}${found ? " found" : ""}${selected ? " selected" : ""}`;
  // The last part of a name says most: the parts before it are below.
  const dot = type === "dataset" ? name.lastIndexOf(".") : -1;
  const above = dot > 0 ? name.slice(0, dot) : typeLabel(type);
  const platformName = useSummary(platform ?? "").name;
  const small = useStore(({ transform: [, , zoom] }) => zoom < buttonsZoom);
  return (
    <div className={`lineage-node${marks}`} inert={small}>
      <Handle type="target" position={Position.Left} isConnectable={false} style={{ top: 26 }} />
      <div className="lineage-head">
        <ExpandButton name={name} urn={urn} direction="UPSTREAM" />
        <TypeGlyph type={type} />
        <div className="lineage-text">
          <Link
            to="/ui/entity/$urn/$tab"
            params={{ urn, tab: "lineage" }}
            className="clip"
            title={urn}
          >
            {name.slice(dot + 1)}
          </Link>
          <span className="muted small clip">
            {above}
            {platform !== undefined && ` · ${platformName}`}
          </span>
        </div>
        <ColumnsButton name={name} urn={urn} open={columns !== undefined} />
        <ExpandButton name={name} urn={urn} direction="DOWNSTREAM" />
      </div>
      {columns !== undefined && <ColumnList urn={urn} name={name} columns={columns} lit={lit} />}
      <Handle type="source" position={Position.Right} isConnectable={false} style={{ top: 26 }} />
    </div>
  );
}

interface ListProps {
  readonly urn: string;
  readonly name: string;
  readonly columns: ShownColumns;
  readonly lit: ReadonlySet<string>;
}

function ColumnList({ urn, name, columns, lit }: ListProps) {
  const { selectColumn, showMore } = useContext(CardActionsContext);
  const { paths, hidden, loading } = columns;
  return (
    <ul className="lineage-columns nodrag" aria-label={`Columns of ${name}`}>
      {paths.map((path) => {
        const on = lit.has(keyOfColumn({ urn, path }));
        return (
          <li key={path}>
            <Handle type="target" id={path} position={Position.Left} isConnectable={false} />
            <button
              type="button"
              className="mono clip"
              aria-pressed={on}
              title={path}
              onClick={(event) => {
                event.stopPropagation();
                selectColumn({ urn, path });
              }}
            >
              {readablePath(path)}
            </button>
            <Handle type="source" id={path} position={Position.Right} isConnectable={false} />
          </li>
        );
      })}
      {paths.length === 0 && hidden === 0 && (
        <li className="muted small">{loading ? "Loading" : "No columns"}</li>
      )}
      {hidden > 0 && (
        <li>
          <button
            type="button"
            className="more small"
            onClick={(event) => {
              event.stopPropagation();
              showMore(urn);
            }}
          >
            {Math.min(hidden, columnsStep)} more of {(paths.length + hidden).toLocaleString("en")}
          </button>
        </li>
      )}
    </ul>
  );
}

interface ColumnsProps {
  readonly name: string;
  readonly urn: string;
  readonly open: boolean;
}

function ColumnsButton({ name, urn, open }: ColumnsProps) {
  const { toggleColumns } = useContext(CardActionsContext);
  if (!withColumns.has(typeOf(urn))) return null;
  return (
    <button
      type="button"
      className="card-button nodrag"
      aria-expanded={open}
      aria-label={`Columns of ${name}`}
      title="Columns"
      onClick={(event) => {
        event.stopPropagation();
        toggleColumns(urn);
      }}
    >
      <Icon name="log" />
    </button>
  );
}

/** The controls of a card in the panel of the selected entity, where they do not shrink with the graph. */
export function SelectedEntity({ urn, open }: Omit<ColumnsProps, "name">) {
  const { name } = useSummary(urn);
  return (
    <>
      <ExpandButton name={name} urn={urn} direction="UPSTREAM" />
      <span className="clip">
        Path to{" "}
        <Link to="/ui/entity/$urn/$tab" params={{ urn, tab: "lineage" }}>
          {name}
        </Link>
      </span>
      <ColumnsButton name={name} urn={urn} open={open} />
      <ExpandButton name={name} urn={urn} direction="DOWNSTREAM" />
    </>
  );
}

interface ExpandProps {
  readonly name: string;
  readonly urn: string;
  readonly direction: LineageDirection;
}

function ExpandButton({ name, urn, direction }: ExpandProps) {
  const { expand } = useContext(CardActionsContext);
  return (
    <button
      type="button"
      className="card-button nodrag"
      aria-label={`Load ${direction === "UPSTREAM" ? "sources" : "uses"} of ${name}`}
      title={direction === "UPSTREAM" ? "Load sources" : "Load uses"}
      onClick={(event) => {
        event.stopPropagation();
        expand(urn, direction);
      }}
    >
      {direction === "UPSTREAM" ? "‹" : "›"}
    </button>
  );
}
