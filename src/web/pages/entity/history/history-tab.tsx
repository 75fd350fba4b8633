/** Every change of every aspect of an entity, with differences and restore. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import type { Aspect, Aspects } from "../../../api/aspect.ts";
import { type Change, readAllChanges } from "../../../api/changes.ts";
import { useNamed } from "../../../api/entities.ts";
import { isObject, textAt } from "../../../api/json.ts";
import { useMayWrite } from "../../../api/privileges.ts";
import { deleteAspect, writeAspect } from "../../../api/writes.ts";
import { Dialog, DialogButtons } from "../../../components/dialog.tsx";
import { EntityLink } from "../../../components/entity-link.tsx";
import { Icon } from "../../../components/icon.tsx";
import { Empty, Failure, Loading } from "../../../components/states.tsx";
import { Time } from "../../../components/time.tsx";
import { wordsOfChange } from "../../../words/change-words.ts";
import { useEdit } from "../editing/use-edit.ts";
import { DifferenceView } from "./difference-view.tsx";

/** Changes of one entity that the page reads. */
const changesMax = 5_000;

interface TabProps {
  readonly urn: string;
  /** As they are now. */
  readonly aspects: Aspects;
  /** Position of the log that the page shows the entity at; undefined for now. */
  readonly shownAt: number | undefined;
}

export default function HistoryTab({ urn, aspects, shownAt = Number.POSITIVE_INFINITY }: TabProps) {
  const [aspect, setAspect] = useState("");
  const [open, setOpen] = useState<number>();
  const { data, error, refetch } = useQuery({
    queryKey: ["history", urn],
    queryFn: ({ signal }) => readAllChanges({ urn }, changesMax, signal),
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={8} />;
  const names = [...new Set(data.map(({ aspectName }) => aspectName))].toSorted();
  const shown = data
    .filter(({ aspectName }) => aspect === "" || aspectName === aspect)
    .toReversed();
  /** The first change that the page shows. */
  const first = shown.findIndex(({ position }) => position <= shownAt);
  return (
    <div className="stack">
      <div className="row">
        <label className="row tight">
          <span className="muted">Aspect</span>
          <select
            className="field"
            value={aspect}
            onChange={(event) => setAspect(event.target.value)}
          >
            <option value="">All</option>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <span className="muted num">{shown.length} changes</span>
      </div>
      {shown.length === 0 && <Empty title="No changes" />}
      <ol className="panel history">
        {shown.map((change, n) => (
          <Fragment key={change.position}>
            {n === first && n > 0 && <ShownPoint position={shownAt} />}
            <ChangeRow
              change={change}
              current={aspects.get(change.aspectName)}
              open={open === change.position}
              onToggle={() => setOpen(open === change.position ? undefined : change.position)}
            />
          </Fragment>
        ))}
        {first < 0 && shown.length > 0 && <ShownPoint position={shownAt} />}
      </ol>
    </div>
  );
}

const ShownPoint = ({ position }: { readonly position: number }) => (
  <li className="history-point small">
    The page shows position {position}. The changes above are later.
  </li>
);

interface RowProps {
  readonly change: Change;
  readonly current: Aspect | undefined;
  readonly open: boolean;
  readonly onToggle: () => void;
}

function ChangeRow({ change, current, open, onToggle }: RowProps) {
  const run = textAt(change.systemMetadata, "runId");
  const words = useNamed((nameOf) => wordsOfChange(change, nameOf));
  return (
    <li className="history-row">
      <button type="button" className="history-head" aria-expanded={open} onClick={onToggle}>
        <Icon name="chevron" />
        <span className="history-words">
          {words.slice(0, 4).join("; ")}
          {words.length > 4 && ` and ${words.length - 4} more`}
        </span>
        <span className="badge">{change.aspectName}</span>
      </button>
      <p className="history-meta small muted">
        <EntityLink urn={change.created?.actor ?? ""} />
        <Time at={change.created?.time ?? 0} relative />
        <Link
          to="/ui/entity/$urn"
          params={{ urn: change.entityUrn }}
          search={{ asOf: String(change.position) }}
          title="Show the entity as of this position"
        >
          position {change.position}
        </Link>
        {run !== undefined && run !== "no-run-id-provided" && (
          <Link to="/ui/runs" search={{ run }} className="clip">
            run {run}
          </Link>
        )}
      </p>
      {open && <ChangeDetail change={change} current={current} />}
    </li>
  );
}

function ChangeDetail({ change, current }: Pick<RowProps, "change" | "current">) {
  const [restoring, setRestoring] = useState<unknown>();
  const before = change.previousAspectValue?.value;
  const after = change.changeType === "DELETE" ? undefined : change.aspect?.value;
  const mayRestore = useMayWrite(change.entityUrn)(change.aspectName);
  const isCurrent = JSON.stringify(after) === JSON.stringify(current?.value);
  return (
    <div className="history-detail">
      <div className="row">
        {before !== undefined && mayRestore && (
          <button type="button" className="button" onClick={() => setRestoring(before)}>
            <Icon name="undo" /> Restore the value before
          </button>
        )}
        {after !== undefined && !isCurrent && mayRestore && (
          <button type="button" className="button" onClick={() => setRestoring(after)}>
            <Icon name="undo" /> Restore this value
          </button>
        )}
      </div>
      <DifferenceView before={before} after={after} />
      {restoring !== undefined && (
        <RestoreDialog
          change={change}
          value={restoring}
          current={current}
          onClose={() => setRestoring(undefined)}
        />
      )}
    </div>
  );
}

interface RestoreProps extends Pick<RowProps, "change" | "current"> {
  readonly value: unknown;
  readonly onClose: () => void;
}

/** Shows what a restore would change now, and writes it as a new version, unless another write comes first. */
function RestoreDialog({ change, value, current, onClose }: RestoreProps) {
  const { entityUrn: urn, aspectName } = change;
  const edit = useEdit(urn);
  const same = JSON.stringify(value) === JSON.stringify(current?.value);
  const version = current?.version || "-1";
  const restore = () => {
    onClose();
    void edit(
      () =>
        isObject(value)
          ? writeAspect(urn, aspectName, value, version)
          : deleteAspect(urn, aspectName),
      `${aspectName} restored`,
    );
  };
  return (
    <Dialog title={`Restore ${aspectName}`} wide onClose={onClose}>
      <p className="muted">
        A restore writes the earlier value as a new version. The history keeps all versions.
      </p>
      {same ? (
        <p>The aspect has this value already.</p>
      ) : (
        <DifferenceView before={current?.value} after={value} />
      )}
      <DialogButtons label="Restore" disabled={same} onCancel={onClose} onConfirm={restore} />
    </Dialog>
  );
}
