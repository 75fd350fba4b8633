/** The audit trail: operations, writes and rejected requests with their callers. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { adminTokenStore, sessionStore } from "../../api/http.ts";
import { operate } from "../../api/operations.ts";
import { useStore } from "../../api/store.ts";
import { EntityLink } from "../../components/entity-link.tsx";
import { isDenied, OperationToken } from "../../components/operation-token.tsx";
import { Empty, Failure, Loading, messageOf } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";

interface AuditEvent {
  readonly position: number;
  readonly time: number;
  readonly action: string;
  readonly outcome: string;
  readonly actor?: string;
  readonly address?: string;
  readonly urn?: string;
  readonly aspect?: string;
  readonly detail?: string;
  readonly count: number;
}

interface AuditPage {
  readonly events: readonly AuditEvent[];
  readonly position: number;
  readonly end: boolean;
}

const pageSize = 100;

export function AuditTrail() {
  const token = useStore(adminTokenStore);
  const session = useStore(sessionStore);
  const hasToken = token !== "" || session.authenticated;
  const [outcome, setOutcome] = useState("");
  const [writes, setWrites] = useState(false);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    {
      queryKey: ["operations", "audit", token, outcome, writes],
      queryFn: ({ signal, pageParam }) =>
        operate<AuditPage>(
          "listAuditEvents",
          {
            count: pageSize,
            writes,
            ...(outcome === "" ? {} : { outcome }),
            ...(pageParam === 0 ? {} : { before: pageParam }),
          },
          signal,
        ),
      initialPageParam: 0,
      getNextPageParam: (last: AuditPage) =>
        last.end || last.position <= 1 ? undefined : last.position,
      retry: false,
      enabled: hasToken,
    },
  );
  if (!hasToken || isDenied(error)) {
    return (
      <OperationToken title="The audit trail needs a token" message={messageOf(error ?? "")} />
    );
  }
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={8} />;
  const events = data.pages.flatMap((page) => page.events);
  return (
    <div className="stack">
      <div className="row">
        <label className="row tight">
          <span className="muted">Outcome</span>
          <select
            className="field"
            value={outcome}
            onChange={(event) => setOutcome(event.target.value)}
          >
            <option value="">All</option>
            <option value="allowed">Allowed</option>
            <option value="refused">Refused</option>
            <option value="failed">Failed</option>
          </select>
        </label>
        <label className="row tight">
          <input type="checkbox" checked={writes} onChange={() => setWrites(!writes)} />
          with writes of the catalog
        </label>
      </div>
      {events.length === 0 ? <Empty title="No audit events" /> : <EventTable events={events} />}
      {hasNextPage && (
        <div>
          <button
            type="button"
            className="button"
            disabled={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            Older events
          </button>
        </div>
      )}
    </div>
  );
}

const EventTable = ({ events }: { readonly events: readonly AuditEvent[] }) => (
  <Table
    panel
    label="Audit events"
    heads={["Time", "User", "Action", "Outcome", "Subject", "Address"]}
  >
    {events.map((event, n) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: events of one record have no identity.
      <tr key={`${event.position} ${n}`}>
        <td>
          <Time at={event.time} />
        </td>
        <td>{event.actor === undefined ? "" : <EntityLink urn={event.actor} />}</td>
        <td>{event.action}</td>
        <td>
          <span className={event.outcome === "allowed" ? "badge" : "badge bad-badge"}>
            {event.outcome}
            {event.count > 1 && ` ×${event.count}`}
          </span>
        </td>
        <td className="cell-wrap">
          {event.urn !== undefined && <EntityLink urn={event.urn} />}{" "}
          {event.aspect !== undefined && <span className="muted">{event.aspect}</span>}{" "}
          {event.detail}
        </td>
        <td className="muted">{event.address}</td>
      </tr>
    ))}
  </Table>
);
