/** Starts jobs: each kind has its own fields, and a preview where the API has one. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminTokenStore } from "../../api/http.ts";
import type { JsonObject } from "../../api/json.ts";
import { listTimeseries, operate } from "../../api/operations.ts";
import { useMay } from "../../api/privileges.ts";
import { useStore } from "../../api/store.ts";
import { Dialog, DialogButtons } from "../../components/dialog.tsx";
import { messageOf } from "../../components/states.tsx";
import { useOperation } from "./jobs.tsx";

interface Kind {
  readonly id: string;
  readonly label: string;
  readonly about: string;
  /** The user needs one of these. */
  readonly privileges: readonly string[];
}

const kinds: readonly Kind[] = [
  {
    id: "verify",
    label: "Verify",
    about: "Compares the rows of views with the log. Reads and writes continue.",
    privileges: ["MANAGE_SYSTEM_OPERATIONS"],
  },
  {
    id: "rebuild",
    label: "Rebuild",
    about: "Builds views again from the log, next to the live ones, and swaps them in.",
    privileges: ["MANAGE_SYSTEM_OPERATIONS"],
  },
  {
    id: "restore",
    label: "Restore",
    about: "Writes the rows of entities to the views again.",
    privileges: ["MANAGE_SYSTEM_OPERATIONS", "RESTORE_INDICES_PRIVILEGE"],
  },
  {
    id: "truncate",
    label: "Truncate",
    about: "Deletes old events of a timeseries aspect. The log keeps them until a scavenge.",
    privileges: ["TRUNCATE_TIMESERIES_INDEX_PRIVILEGE"],
  },
  {
    id: "scavenge",
    label: "Scavenge",
    about: "Removes truncated events from the log for good.",
    privileges: ["MANAGE_SYSTEM_OPERATIONS"],
  },
];

export function StartJobs() {
  const [kind, setKind] = useState<string>();
  const may = useMay();
  // The privileges of a token for operations are checked by the service alone.
  const hasToken = useStore(adminTokenStore) !== "";
  const offered = kinds.filter(({ privileges }) => hasToken || may(...privileges));
  const close = () => setKind(undefined);
  return (
    <div className="row start-jobs">
      {offered.map(({ id, label, about }) => (
        <button key={id} type="button" className="button" title={about} onClick={() => setKind(id)}>
          {label}
        </button>
      ))}
      {kind === "verify" && <VerifyDialog onClose={close} />}
      {kind === "rebuild" && <RebuildDialog onClose={close} />}
      {kind === "restore" && <RestoreDialog onClose={close} />}
      {kind === "truncate" && <TruncateDialog onClose={close} />}
      {kind === "scavenge" && <ScavengeDialog onClose={close} />}
    </div>
  );
}

const aboutOf = (kind: string): string => kinds.find(({ id }) => id === kind)?.about ?? "";
const labelOf = (kind: string): string => kinds.find(({ id }) => id === kind)?.label ?? "";

interface JobDialogProps {
  readonly kind: string;
  readonly action: string;
  readonly body: JsonObject;
  readonly ready?: boolean;
  /** The action has a dry run, which says what it would delete. */
  readonly preview?: boolean;
  readonly danger?: boolean;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

function JobDialog(props: JobDialogProps) {
  const { kind, action, body, ready = true, preview = false, danger = false, onClose } = props;
  const run = useOperation();
  const [foreseen, setForeseen] = useState<{ readonly body: string; readonly text: string }>();
  const key = JSON.stringify(body);
  const current = foreseen?.body === key ? foreseen.text : undefined;
  const look = async () => {
    const text = await operate<string>(action, { ...body, dryRun: true }).catch(messageOf);
    // The rest of the reply explains the parameters of the API.
    setForeseen({ body: key, text: text.replace(/ This was a dry run\..*$/s, "") });
  };
  const start = () => {
    onClose();
    void run(action, preview ? { ...body, dryRun: false } : body, `${labelOf(kind)} started`);
  };
  return (
    <Dialog title={labelOf(kind)} onClose={onClose}>
      <p className="muted">{aboutOf(kind)}</p>
      {props.children}
      {current !== undefined && <p role="status">{current}</p>}
      <DialogButtons
        label="Start"
        danger={danger}
        disabled={!ready || (preview && current === undefined)}
        onCancel={onClose}
        onConfirm={start}
      >
        {preview && (
          <button type="button" className="button" disabled={!ready} onClick={() => void look()}>
            Preview
          </button>
        )}
      </DialogButtons>
    </Dialog>
  );
}

interface DialogProps {
  readonly onClose: () => void;
}

const views = ["aspects", "timeseries", "graph", "search"] as const;

interface ViewFieldProps {
  readonly value: string;
  readonly onChange: (view: string) => void;
}

const ViewField = ({ value, onChange }: ViewFieldProps) => (
  <label className="field-label">
    View
    <select className="field" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">All</option>
      {views.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  </label>
);

const chosenViews = (view: string): JsonObject => (view === "" ? {} : { views: [view] });

function VerifyDialog({ onClose }: DialogProps) {
  const [view, setView] = useState("");
  const [repair, setRepair] = useState(false);
  const body = { ...chosenViews(view), repair };
  return (
    <JobDialog kind="verify" action="verify" body={body} onClose={onClose}>
      <ViewField value={view} onChange={setView} />
      <label className="row tight">
        <input type="checkbox" checked={repair} onChange={() => setRepair(!repair)} />
        Repair differences
      </label>
    </JobDialog>
  );
}

function RebuildDialog({ onClose }: DialogProps) {
  const [view, setView] = useState("");
  return (
    <JobDialog kind="rebuild" action="rebuildViews" body={chosenViews(view)} onClose={onClose}>
      <ViewField value={view} onChange={setView} />
    </JobDialog>
  );
}

/** Rows of one restore: more than any request needs. */
const restoredMax = 1_000_000_000;

function RestoreDialog({ onClose }: DialogProps) {
  const [urnLike, setUrnLike] = useState("urn:%");
  const [createDefaultAspects, setCreate] = useState(false);
  const body = { urnLike: urnLike.trim(), limit: 0, batchSize: restoredMax, createDefaultAspects };
  return (
    <JobDialog
      kind="restore"
      action="restoreIndices"
      body={body}
      ready={urnLike.trim() !== ""}
      onClose={onClose}
    >
      <label className="field-label">
        Entities whose urn is like (% is any text, _ one character)
        <input
          className="field mono"
          value={urnLike}
          onChange={(event) => setUrnLike(event.target.value)}
        />
      </label>
      <label className="row tight">
        <input
          type="checkbox"
          checked={createDefaultAspects}
          onChange={() => setCreate(!createDefaultAspects)}
        />
        Write missing default aspects
      </label>
    </JobDialog>
  );
}

function TruncateDialog({ onClose }: DialogProps) {
  const [series, setSeries] = useState("");
  const [before, setBefore] = useState("");
  const { data } = useQuery({
    queryKey: ["operations", "timeseries"],
    queryFn: ({ signal }) => listTimeseries(signal),
  });
  const [entityType = "", aspect = ""] = series.split(" ");
  const endTimeMillis = Date.parse(before);
  return (
    <JobDialog
      kind="truncate"
      action="truncateTimeseriesAspect"
      body={{ entityType, aspect, endTimeMillis }}
      ready={series !== "" && Number.isFinite(endTimeMillis)}
      preview
      danger
      onClose={onClose}
    >
      <label className="field-label">
        Timeseries aspect
        <select
          className="field"
          value={series}
          onChange={(event) => setSeries(event.target.value)}
        >
          <option value="">Choose</option>
          {(data ?? []).map(({ entity, aspect: name, megabytes }) => (
            <option key={`${entity} ${name}`} value={`${entity} ${name}`}>
              {`${entity} ${name}, ${megabytes.toFixed(1)} MB`}
            </option>
          ))}
        </select>
      </label>
      <label className="field-label">
        Events before
        <input
          className="field"
          type="date"
          value={before}
          onChange={(event) => setBefore(event.target.value)}
        />
      </label>
    </JobDialog>
  );
}

const ScavengeDialog = ({ onClose }: DialogProps) => (
  <JobDialog kind="scavenge" action="scavengeLog" body={{}} preview danger onClose={onClose} />
);
