/** The rollback of a run: a preview of its changes, then the rollback with its progress. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { countChanges } from "../../api/changes.ts";
import { read, send } from "../../api/http.ts";
import { listAt, numberAt, textsAt } from "../../api/json.ts";
import { logPosition } from "../../api/metrics.ts";
import { Dialog } from "../../components/dialog.tsx";
import { EntityLink } from "../../components/entity-link.tsx";
import { Failure, Loading } from "../../components/states.tsx";
import { announce, announceError } from "../../components/toasts.tsx";

interface DialogProps {
  readonly run: string;
  readonly onClose: () => void;
}

/** Entities that the preview lists by name. */
const namedMax = 12;

const number = (value: number): string => value.toLocaleString("en");

export function RollbackDialog({ run, onClose }: DialogProps) {
  const queries = useQueryClient();
  const [safe, setSafe] = useState(true);
  /** The head of the log at the start of the rollback. */
  const [startedAt, setStartedAt] = useState<number>();
  const running = startedAt !== undefined;
  const { data, error } = useQuery({
    queryKey: ["runs", "preview", run, safe],
    queryFn: ({ signal }) =>
      read<unknown>("/runs?action=rollback", { body: { runId: run, dryRun: true, safe }, signal }),
    gcTime: 0,
    // The numbers of the preview stay while they come true.
    enabled: !running,
  });
  const rollBack = async () => {
    try {
      setStartedAt(await logPosition());
      const { value } = await send<unknown>("/runs?action=rollback", {
        body: { runId: run, dryRun: false, safe },
      });
      const entities = numberAt(value, "value", "entitiesAffected") ?? 0;
      announce(`Rolled back ${number(entities)} ${entities === 1 ? "entity" : "entities"}`);
      await queries.invalidateQueries();
      onClose();
    } catch (failure) {
      announceError(failure);
      setStartedAt(undefined);
    }
  };
  return (
    <Dialog title="Roll back the run" onClose={onClose}>
      <p className="muted">
        Each entity gets the state that it would have without the run. Values that others wrote
        since stay. The log keeps all records.
      </p>
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading lines={3} />}
      {data !== undefined && <Preview reply={data} safe={safe} />}
      <label className="row">
        <input type="checkbox" checked={!safe} disabled={running} onChange={() => setSafe(!safe)} />
        Delete the entities that the run created, instead of hiding them
      </label>
      {startedAt !== undefined && (
        <RollbackProgress
          startedAt={startedAt}
          total={numberAt(data, "value", "aspectsReverted") ?? 0}
        />
      )}
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          {running ? "Close" : "Cancel"}
        </button>
        <button
          type="button"
          className="button danger"
          disabled={running || data === undefined}
          onClick={() => void rollBack()}
        >
          {running ? "Rolling back" : "Roll back"}
        </button>
      </div>
    </Dialog>
  );
}

interface PreviewProps {
  readonly reply: unknown;
  readonly safe: boolean;
}

function Preview({ reply, safe }: PreviewProps) {
  const count = (name: string): string => number(numberAt(reply, "value", name) ?? 0);
  const shared = textsAt(listAt(reply, "value", "unsafeEntities"), "urn");
  return (
    <dl className="facts">
      <div>
        <dt>Entities</dt>
        <dd className="num">{count("entitiesAffected")}</dd>
      </div>
      <div>
        <dt>Aspects</dt>
        <dd className="num">{count("aspectsReverted")}</dd>
      </div>
      <div>
        <dt>{safe ? "Hidden" : "Deleted"}</dt>
        <dd className="num">{count("entitiesDeleted")}</dd>
      </div>
      <div>
        <dt>Also written by others</dt>
        <dd>
          <span className="num">{count("unsafeEntitiesCount")}</span>
          <span className="row tight">
            {shared.slice(0, namedMax).map((urn) => (
              <EntityLink key={urn} urn={urn} />
            ))}
            {shared.length > namedMax && (
              <span className="muted">and {number(shared.length - namedMax)} more</span>
            )}
          </span>
        </dd>
      </div>
    </dl>
  );
}

interface ProgressProps {
  readonly startedAt: number;
  /** Aspects that the preview counted. */
  readonly total: number;
}

/** Counts the changes since the rollback started; those of other writers count, too. */
function RollbackProgress({ startedAt, total }: ProgressProps) {
  const queryKey = ["rollback-progress", startedAt];
  const { data } = useQuery({
    queryKey,
    queryFn: async ({ signal, client }) => {
      const counted = client.getQueryData<{ position: number; count: number }>(queryKey);
      const { position, count } = await countChanges(counted?.position ?? startedAt, signal);
      return { position, count: (counted?.count ?? 0) + count };
    },
    refetchInterval: 300,
    gcTime: 0,
  });
  const done = Math.min(total, data?.count ?? 0);
  return (
    <p role="status">
      <progress max={Math.max(1, total)} value={done} aria-label="Progress of the rollback" />
      <span className="muted num">
        {number(done)} of about {number(total)} aspects
      </span>
    </p>
  );
}
