/** Parked records with their cause, retry and drop. */
import { useState } from "react";
import type { Parked } from "../../api/operations.ts";
import { Dialog, DialogButtons } from "../../components/dialog.tsx";
import { EntityLink } from "../../components/entity-link.tsx";
import { actionsHead, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { useOperation } from "./jobs.tsx";

export function ParkedTable({ parked }: { readonly parked: readonly Parked[] }) {
  const run = useOperation();
  const [dropping, setDropping] = useState<Parked>();
  return (
    <>
      <Table
        label="Parked records"
        heads={["View", "Entity", "Position", "Cause", "Since", actionsHead]}
      >
        {parked.map((one) => (
          <tr key={`${one.view} ${one.urn} ${one.position}`}>
            <td>{one.view}</td>
            <td>
              <EntityLink urn={one.urn} />
            </td>
            <td className="num">{one.position}</td>
            <td className="cause">{one.reason}</td>
            <td>
              <Time at={one.time} relative />
            </td>
            <td>
              <span className="row keep">
                <button
                  type="button"
                  className="button"
                  onClick={() =>
                    void run("retryParked", { view: one.view, urn: one.urn }, "Tried again")
                  }
                >
                  Retry
                </button>
                <button type="button" className="button danger" onClick={() => setDropping(one)}>
                  Drop
                </button>
              </span>
            </td>
          </tr>
        ))}
      </Table>{" "}
      {dropping !== undefined && (
        <Dialog title="Drop the parked record" onClose={() => setDropping(undefined)}>
          <p>
            The view {dropping.view} omits the record for good, also after a rebuild. The log keeps
            it.
          </p>
          <DialogButtons
            label="Drop"
            danger
            onCancel={() => setDropping(undefined)}
            onConfirm={() => {
              setDropping(undefined);
              void run("dropParked", { view: dropping.view, urn: dropping.urn }, "Dropped");
            }}
          />
        </Dialog>
      )}
    </>
  );
}
