/** The columns of a dataset. Only visible rows are in the page, so 20,000 columns scroll. */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { memo, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Aspects } from "../../api/aspect.ts";
import type { Entity } from "../../api/entities.ts";
import type { JsonObject } from "../../api/json.ts";
import { useMayChange } from "../../api/privileges.ts";
import { typeOf } from "../../api/urn.ts";
import { addTag, addTerm, removeTag, removeTerm, updateDescription } from "../../api/writes.ts";
import { EntityChip } from "../../components/entity-link.tsx";
import { Icon } from "../../components/icon.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, columnsOf, filterColumns } from "./column-rows.ts";
import { withColumn, withColumnLabel, withoutColumnLabel } from "./editing/guesses.ts";
import { checkUnchanged, type Edit, useEdit } from "./editing/use-edit.ts";
import { AddLabel } from "./labels.tsx";
import { DiffersBadge, differs } from "./now.tsx";

interface TabProps {
  readonly entity: Entity;
  readonly readOnly: boolean;
  /** The entity as it is now, while the page shows the past. */
  readonly now: Entity | undefined;
}

export default function ColumnsTab({ entity, readOnly, now }: TabProps) {
  const columns = columnsOf(entity.aspects);
  const [text, setText] = useState("");
  const shown = useMemo(() => filterColumns(columns, text), [columns, text]);
  const present = useMemo(
    () => now && new Map(columnsOf(now.aspects).map((column) => [column.path, column])),
    [now],
  );
  const list = useRef<HTMLUListElement>(null);
  const [listTop, setListTop] = useState(0);
  useLayoutEffect(() => setListTop(list.current?.offsetTop ?? 0), []);
  const edit = useEdit(entity.urn);
  const may = useMayChange(entity.urn);
  const mayEdit = (privilege: string) => !readOnly && may("EDIT_ENTITY", privilege);
  const editText = mayEdit("EDIT_DATASET_COL_DESCRIPTION") ? edit : undefined;
  const editTags = mayEdit("EDIT_DATASET_COL_TAGS") ? edit : undefined;
  const editTerms = mayEdit("EDIT_DATASET_COL_GLOSSARY_TERMS") ? edit : undefined;
  const virtualizer = useWindowVirtualizer({
    count: shown.length,
    estimateSize: () => 44,
    overscan: 8,
    scrollMargin: listTop,
    // A new function would make the virtualizer measure all rows again.
    getItemKey: useCallback((n: number) => shown[n]?.path ?? n, [shown]),
  });
  return (
    <div className="stack">
      <div className="row">
        <input
          className="field column-filter"
          type="search"
          aria-label="Filter columns"
          placeholder="Filter by name, type, description or label"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <span className="muted num" aria-live="polite">
          {shown.length === columns.length
            ? `${columns.length.toLocaleString("en")} columns`
            : `${shown.length.toLocaleString("en")} of ${columns.length.toLocaleString("en")} columns`}
        </span>
      </div>
      <div className="panel">
        <div className="column-row column-head">
          <span>Name</span>
          <span>Type</span>
          <span>Description</span>
          <span>Tags and terms</span>
        </div>
        {shown.length === 0 && <Empty title="No column matches" />}
        <ul
          ref={list}
          aria-label="Columns"
          className="column-list"
          style={{ height: `${virtualizer.getTotalSize()}px` }}
        >
          {virtualizer.getVirtualItems().map((item) => {
            const column = shown[item.index];
            if (column === undefined) return null;
            return (
              <li
                key={item.key}
                ref={virtualizer.measureElement}
                data-index={item.index}
                className="column-row"
                style={{
                  transform: `translateY(${item.start - virtualizer.options.scrollMargin}px)`,
                }}
              >
                <ColumnCells
                  urn={entity.urn}
                  column={column}
                  differs={present !== undefined && differs(column, present.get(column.path))}
                  editText={editText}
                  editTags={editTags}
                  editTerms={editTerms}
                />
              </li>
            );
          })}
        </ul>
      </div>
    </div>
  );
}

interface CellsProps {
  readonly urn: string;
  readonly column: Column;
  /** Now the column is another, or absent. */
  readonly differs: boolean;
  /** Absent where the user may not edit, and in the past. */
  readonly editText: Edit | undefined;
  readonly editTags: Edit | undefined;
  readonly editTerms: Edit | undefined;
}

/**
 * Rows that stay visible while the list scrolls are not rendered again. New rows have few elements,
 * because a fast wheel shows several in each frame.
 */
const ColumnCells = memo(function ColumnCells(props: CellsProps) {
  const { urn, column, differs: marked, editText, editTags, editTerms } = props;
  const { path, name, depth, tags, terms } = column;
  const target = { urn, column: path };
  const last = name.split(".").at(-1) ?? name;
  return (
    <>
      <span
        className="column-name mono"
        title={path}
        style={depth > 0 ? { paddingLeft: `${depth * 16}px` } : undefined}
      >
        {column.isKey && (
          <span className="key" title="Part of the key">
            <Icon name="key" />
            <span className="hidden-text">Key</span>
          </span>
        )}
        {last}
        {marked && <DiffersBadge />}
      </span>
      <span className="column-type mono">
        {column.nativeType || column.type}
        {column.nullable && <span className="muted small">nullable</span>}
      </span>
      <ColumnText text={column.description} name={name} edit={editText} target={target} />
      <span className="row tight">
        {tags.map((tag) => (
          <EntityChip
            key={tag}
            urn={tag}
            onRemove={
              editTags &&
              (() =>
                void editTags(
                  () => removeTag(target, tag),
                  "Tag removed",
                  withoutColumnLabel(path, tag),
                ))
            }
          />
        ))}
        {terms.map((term) => (
          <EntityChip
            key={term}
            urn={term}
            onRemove={
              editTerms &&
              (() =>
                void editTerms(
                  () => removeTerm(target, term),
                  "Term removed",
                  withoutColumnLabel(path, term),
                ))
            }
          />
        ))}
        <AddColumnLabel target={target} editTags={editTags} editTerms={editTerms} />
      </span>
    </>
  );
});

interface AddProps {
  readonly target: { readonly urn: string; readonly column: string };
  readonly editTags: Edit | undefined;
  readonly editTerms: Edit | undefined;
}

function AddColumnLabel({ target, editTags, editTerms }: AddProps) {
  const edit = editTags ?? editTerms;
  if (edit === undefined) return null;
  const types = [...(editTags ? ["tag"] : []), ...(editTerms ? ["glossaryTerm"] : [])];
  return (
    <AddLabel
      noun={editTags === undefined ? "term" : editTerms === undefined ? "tag" : "tag or term"}
      types={types}
      onAdd={(one) =>
        void edit(
          () => (typeOf(one) === "tag" ? addTag(target, one) : addTerm(target, one)),
          "Label added",
          withColumnLabel(target.column, one),
        )
      }
    />
  );
}

interface TextProps {
  readonly text: string;
  readonly name: string;
  readonly edit: Edit | undefined;
  readonly target: { readonly urn: string; readonly column: string };
}

/** A description that turns into a field when it is activated. */
function ColumnText({ text, name, edit, target }: TextProps) {
  const [draft, setDraft] = useState<string>();
  /** The text when the edit began; absent after a conflict, which the reader has seen. */
  const [before, setBefore] = useState<string>();
  if (edit === undefined) return <span>{text}</span>;
  if (draft === undefined) {
    return (
      <button
        type="button"
        className="column-text"
        aria-label={`${text || "Add a description"}: edit the description of ${name}`}
        onClick={() => {
          setDraft(text);
          setBefore(text);
        }}
      >
        {text === "" ? <span className="muted">Add a description</span> : text}
      </button>
    );
  }
  const save = async () => {
    setDraft(undefined);
    if (draft === text) return;
    const { urn, column: path } = target;
    const of = (aspects: Aspects): string =>
      columnsOf(aspects).find((column) => column.path === path)?.description ?? "";
    const write = async () => {
      await checkUnchanged(urn, { of, before: before ?? text });
      await updateDescription(target, draft);
    };
    const change = (info: JsonObject) => ({ ...info, description: draft });
    const saved = await edit(write, "Description saved", withColumn(path, change));
    if (saved) return;
    setDraft(draft);
    setBefore(undefined);
  };
  return (
    <textarea
      className="field"
      rows={2}
      aria-label={`Description of ${name}`}
      value={draft}
      // biome-ignore lint/a11y/noAutofocus: the user asked to edit.
      autoFocus
      onFocus={({ currentTarget }) => currentTarget.setSelectionRange(draft.length, draft.length)}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => void save()}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.shiftKey) {
          event.preventDefault();
          event.currentTarget.blur();
        }
        if (event.key === "Escape") setDraft(undefined);
      }}
    />
  );
}
