/** Access: tokens, policies and the audit trail. */
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { adminTokenStore, queryGraphql, sessionStore } from "../../api/http.ts";
import { operate } from "../../api/operations.ts";
import { useStore } from "../../api/store.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { EntityLink } from "../../components/entity-link.tsx";
import { ScrollRegion } from "../../components/scroll-region.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { Tokens } from "./tokens.tsx";

const sections: readonly (readonly [string, string])[] = [
  ["tokens", "My tokens"],
  ["all", "All tokens"],
  ["policies", "Policies"],
  ["audit", "Audit trail"],
];

export default function AccessPage() {
  const url = useSearch({ strict: false }) as UrlQuery;
  const section = listOf(url.section)[0] ?? "tokens";
  return (
    <div className="page">
      <header className="page-head">
        <h1>Access</h1>
      </header>
      <nav className="tabs" aria-label="Parts of access">
        {sections.map(([id, label]) => (
          <Link
            key={id}
            to="/ui/access"
            search={{ section: id }}
            aria-current={id === section ? "page" : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      <div className="section-body">
        {section === "tokens" && <Tokens mine />}
        {section === "all" && <Tokens mine={false} />}
        {section === "policies" && <Policies />}
        {section === "audit" && <AuditTrail />}
      </div>
    </div>
  );
}

interface Policy {
  readonly urn: string;
  readonly name: string;
  readonly description: string | null;
  readonly state: string;
  readonly policyType: string;
  readonly editable: boolean;
  readonly privileges: readonly string[];
}

function Policies() {
  const { data, error, refetch } = useQuery({
    queryKey: ["policies"],
    queryFn: () =>
      queryGraphql<{ readonly listPolicies: { readonly policies: readonly Policy[] } }>(
        "{ listPolicies(input: {start: 0, count: 1000}) { policies { urn name description state policyType editable privileges } } }",
      ),
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={8} />;
  return (
    <ScrollRegion label="Policies" className="panel table-scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Policy</th>
            <th scope="col">Grants</th>
            <th scope="col">State</th>
            <th scope="col">
              <span className="hidden-text">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {data.listPolicies.policies.map((policy) => (
            <tr key={policy.urn}>
              <td>
                <Link to="/ui/entity/$urn" params={{ urn: policy.urn }}>
                  {policy.name}
                </Link>
                <span className="muted small block">{policy.description}</span>
              </td>
              <td className="num">
                {policy.privileges.length}{" "}
                {policy.privileges.length === 1 ? "privilege" : "privileges"}
              </td>
              <td>
                <span className={policy.state === "ACTIVE" ? "badge good-badge" : "badge"}>
                  {policy.state.toLowerCase()}
                </span>
              </td>
              <td className="right">
                {policy.editable ? (
                  <Link
                    to="/ui/entity/$urn/$tab"
                    params={{ urn: policy.urn, tab: "aspects" }}
                    className="button"
                  >
                    Edit as JSON
                  </Link>
                ) : (
                  <span className="muted small">Built in</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

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

function AuditTrail() {
  const token = useStore(adminTokenStore);
  const session = useStore(sessionStore);
  const hasToken = token !== "" || session.authenticated;
  const { data, error, refetch } = useQuery({
    queryKey: ["operations", "audit"],
    queryFn: ({ signal }) =>
      operate<{ readonly events: readonly AuditEvent[] }>(
        "listAuditEvents",
        { count: 200, writes: false },
        signal,
      ),
    retry: false,
    enabled: hasToken,
  });
  if (!hasToken) {
    return (
      <Empty title="The audit trail needs a token">
        Enter a token for operations on the page <Link to="/ui/views">Views and jobs</Link>.
      </Empty>
    );
  }
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={8} />;
  if (data.events.length === 0) return <Empty title="No audit events" />;
  return (
    <ScrollRegion label="Audit trail" className="panel table-scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">User</th>
            <th scope="col">Action</th>
            <th scope="col">Outcome</th>
            <th scope="col">Detail</th>
          </tr>
        </thead>
        <tbody>
          {data.events.map((event) => (
            <tr key={`${event.position} ${event.time} ${event.action}`}>
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
              <td className="cell-wrap">{event.detail ?? event.urn ?? event.address}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
