/** The incidents on an entity, with their state. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { listAt, numberAt, textAt, textsAt } from "../../../api/json.ts";
import { useMayChange } from "../../../api/privileges.ts";
import { sentenceCase } from "../../../api/type-names.ts";
import { nameOfUrn } from "../../../api/urn.ts";
import { setIncidentState } from "../../../api/writes.ts";
import { EntityLink, OwnerChip } from "../../../components/entity-link.tsx";
import { Empty, Failure, Loading } from "../../../components/states.tsx";
import { Time } from "../../../components/time.tsx";
import { useEdit } from "../editing/use-edit.ts";
import { type Assessment, readAssessments } from "./events.ts";
import { infoOf, isActive, openedAt, sortedIncidents } from "./results.ts";

/** Incidents that are listed. */
const shownMax = 100;

interface IncidentsProps {
  readonly urn: string;
  readonly readOnly: boolean;
}

export function Incidents({ urn, readOnly: past }: IncidentsProps) {
  const readOnly = !useMayChange(urn)("EDIT_ENTITY", "EDIT_ENTITY_INCIDENTS") || past;
  const edit = useEdit(urn);
  const [all, setAll] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["entity", urn, "incidents"],
    queryFn: () => readAssessments(urn, "IncidentOn", "incidentInfo"),
  });
  const active = (data ?? []).filter(isActive).length;
  // Resolved incidents are hidden while there are active ones.
  const shown = sortedIncidents(data ?? []).filter((one) => all || active === 0 || isActive(one));
  return (
    <section className="panel">
      <header>
        <h2>Incidents</h2>
        {data !== undefined && data.length > 0 && (
          <span className={active > 0 ? "badge bad-badge" : "badge good-badge"}>
            {active > 0 ? `${active} active` : "None active"}
          </span>
        )}
        {active > 0 && active < (data?.length ?? 0) && (
          <button type="button" className="button quiet" onClick={() => setAll(!all)}>
            {all ? "Active only" : `All ${data?.length}`}
          </button>
        )}
      </header>
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading lines={3} />}
      {data?.length === 0 && <Empty title="No incidents" />}
      <ul>
        {shown.slice(0, shownMax).map((incident) => (
          <IncidentRow
            key={incident.urn}
            incident={incident}
            onState={
              readOnly
                ? undefined
                : (state) =>
                    void edit(
                      () => setIncidentState(incident.urn, state),
                      state === "RESOLVED" ? "Incident resolved" : "Incident reopened",
                    )
            }
          />
        ))}
      </ul>
    </section>
  );
}

interface RowProps {
  readonly incident: Assessment;
  readonly onState: ((state: "ACTIVE" | "RESOLVED") => void) | undefined;
}

function IncidentRow({ incident, onState }: RowProps) {
  const info = infoOf(incident);
  const active = isActive(incident);
  const type = textAt(info, "customType") ?? sentenceCase(textAt(info, "type") ?? "");
  const stage = textAt(info, "status", "stage");
  const priority = numberAt(info, "priority");
  const creator = textAt(info, "created", "actor");
  const changed = numberAt(info, "status", "lastUpdated", "time");
  return (
    <li className="assessment">
      <div className="assessment-head">
        <span className={active ? "badge state-badge bad-badge" : "badge state-badge good-badge"}>
          {active ? "Active" : "Resolved"}
        </span>
        <Link
          to="/ui/entity/$urn"
          params={{ urn: incident.urn }}
          className="assessment-title"
          title={incident.urn}
        >
          {textAt(info, "title") ?? `${type} incident ${nameOfUrn(incident.urn)}`}
        </Link>
        <span className="row tight">
          {textsAt(listAt(info, "assignees"), "actor").map((one) => (
            <OwnerChip key={one} urn={one} />
          ))}
        </span>
        {onState !== undefined && (
          <button
            type="button"
            className="button quiet"
            onClick={() => onState(active ? "RESOLVED" : "ACTIVE")}
          >
            {active ? "Resolve" : "Reopen"}
          </button>
        )}
      </div>
      <div className="assessment-body">
        {textAt(info, "description") !== undefined && (
          <p className="cell-wrap">{textAt(info, "description")}</p>
        )}
        <p className="assessment-meta small muted">
          <span>{type}</span>
          {priority !== undefined && <span>Priority {priority}</span>}
          {stage !== undefined && <span>{sentenceCase(stage)}</span>}
          <span>
            Opened <Time at={openedAt(incident)} />
            {creator !== undefined && (
              <>
                {" by "}
                <EntityLink urn={creator} />
              </>
            )}
          </span>
          {!active && changed !== undefined && (
            <span>
              Resolved <Time at={changed} />
            </span>
          )}
          {textAt(info, "status", "message") !== undefined && (
            <span>“{textAt(info, "status", "message")}”</span>
          )}
        </p>
      </div>
    </li>
  );
}
