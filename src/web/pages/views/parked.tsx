/** Parked records with their cause, retry and drop. */
import { useState } from "react";
import type { Parked } from "../../api/operations.ts";
import { Dialog } from "../../components/dialog.tsx";
import { EntityLink } from "../../components/entity-link.tsx";
import { ScrollRegion } from "../../components/scroll-region.tsx";
import { Time } from "../../components/time.tsx";
import { useOperation } from "./jobs.tsx";

export function ParkedTable({ parked }: { readonly parked: readonly Parked[] }) {
  const run = useOperation();
  const [dropping, setDropping] = useState<Parked>();
  return (
    <ScrollRegion label="Parked records">
      <table>
        <thead>
          <tr>
            <th scope="col">View</th>
            <th scope="col">Entity</th>
            <th scope="col">Position</th>
            <th scope="col">Cause</th>
            <th scope="col">Since</th>
            <th scope="col">
              <span className="hidden-text">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
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
        </tbody>
      </table>
      {dropping !== undefined && (
        <Dialog title="Drop the parked record" onClose={() => setDropping(undefined)}>
          <p>
            The view {dropping.view} omits the record for good, also after a rebuild. The log keeps
            it.
          </p>
          <div className="actions">
            <button type="button" className="button" onClick={() => setDropping(undefined)}>
              Cancel
            </button>
            <button
              type="button"
              className="button danger"
              onClick={() => {
                setDropping(undefined);
                void run("dropParked", { view: dropping.view, urn: dropping.urn }, "Dropped");
              }}
            >
              Drop
            </button>
          </div>
        </Dialog>
      )}
    </ScrollRegion>
  );
}
