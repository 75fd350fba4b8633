/** A record of the log: a line, and its values with what was parked because of it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo, useState } from "react";
import type { Change } from "../../api/changes.ts";
import { useNamed } from "../../api/entities.ts";
import { adminTokenStore, sessionStore } from "../../api/http.ts";
import { textAt } from "../../api/json.ts";
import { listParked } from "../../api/operations.ts";
import { useMay } from "../../api/privileges.ts";
import { useStore } from "../../api/store.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { EntityLabel, EntityLink } from "../../components/entity-link.tsx";
import { ScrollRegion } from "../../components/scroll-region.tsx";
import { Time } from "../../components/time.tsx";
import { wordsOfChange } from "../../words/change-words.ts";

/** Names the views that parked the record, for readers whose token or session allows operations. */
function ParkedNotice({ change }: { readonly change: Change }) {
  const token = useStore(adminTokenStore);
  const { authenticated } = useStore(sessionStore);
  const may = useMay();
  const { data } = useQuery({
    queryKey: ["operations", "parked"],
    queryFn: ({ signal }) => listParked(signal),
    retry: false,
    enabled: token !== "" || (authenticated && may("MANAGE_SYSTEM_OPERATIONS")),
  });
  const views = (data?.parked ?? [])
    .filter(({ urn, position }) => urn === change.entityUrn && position <= change.position)
    .map(({ view }) => view);
  if (views.length === 0) return null;
  return (
    <p className="notice">
      Parked in {views.join(", ")}: <Link to="/ui/views">Show the cause</Link>
    </p>
  );
}

/** New records do not render the ones below them again. */
export const RecordRow = memo(function RecordRow({ change }: { readonly change: Change }) {
  const [open, setOpen] = useState(false);
  const run = textAt(change.systemMetadata, "runId");
  const words = useNamed((nameOf) => wordsOfChange(change, nameOf));
  return (
    <li className="record">
      <div className="record-line">
        <button
          type="button"
          className="button quiet record-position num"
          aria-expanded={open}
          aria-label={`Record ${change.position}`}
          onClick={() => setOpen(!open)}
        >
          {change.position}
        </button>
        <EntityLabel urn={change.entityUrn} />
        <span className="badge">{change.aspectName}</span>
        <span className="clip muted record-words">{words.slice(0, 3).join("; ")}</span>
        <span className="clip small record-actor">
          <EntityLink urn={change.created?.actor ?? ""} />
        </span>
        <span className="small muted">
          <Time at={change.created?.time ?? 0} relative />
        </span>
      </div>
      {open && (
        <div className="record-detail">
          <div className="row">
            <Link
              to="/ui/entity/$urn/$tab"
              params={{ urn: change.entityUrn, tab: "history" }}
              className="button"
            >
              History of the entity
            </Link>
            <Link to="/ui/log" search={{ urn: change.entityUrn }} className="button">
              Records of the entity
            </Link>
            {run !== undefined && (
              <Link to="/ui/runs" search={{ run }} className="button">
                Run
              </Link>
            )}
            <CopyButton text={() => JSON.stringify(change, null, 2)} label="Copy" />
          </div>
          <ParkedNotice change={change} />
          <ScrollRegion label={`Record ${change.position} as JSON`} className="record-json">
            <pre>{JSON.stringify(change, null, 2)}</pre>
          </ScrollRegion>
        </div>
      )}
    </li>
  );
});
