/** Access: tokens, policies, roles and the audit trail. */
import { Link, useSearch } from "@tanstack/react-router";
import { actorStore } from "../../api/http.ts";
import { useMay } from "../../api/privileges.ts";
import { rootUser } from "../../api/urn.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { Empty } from "../../components/states.tsx";
import { useActor } from "../../components/use-actor.ts";
import { AuditTrail } from "./audit-trail.tsx";
import { Policies } from "./policies.tsx";
import { Roles } from "./roles.tsx";
import { Tokens } from "./tokens.tsx";

interface Section {
  readonly id: string;
  readonly label: string;
  /** The user needs one of these; nothing when absent. */
  readonly privileges?: readonly string[];
  /** The section is that of a user: the system has none. */
  readonly ofUser?: boolean;
}

const sections: readonly Section[] = [
  { id: "tokens", label: "My tokens", ofUser: true },
  { id: "all", label: "All tokens", privileges: ["MANAGE_ACCESS_TOKENS"], ofUser: true },
  { id: "policies", label: "Policies", privileges: ["MANAGE_POLICIES"], ofUser: true },
  { id: "roles", label: "Roles" },
  { id: "audit", label: "Audit trail", privileges: ["MANAGE_SYSTEM_OPERATIONS"] },
];

export default function AccessPage() {
  const url = useSearch({ strict: false }) as UrlQuery;
  const may = useMay();
  const actor = useActor();
  const wanted = listOf(url.section)[0];
  const current = sections.find(({ id }) => id === wanted) ?? sections[0];
  const section = current?.ofUser && actor === "" ? undefined : current?.id;
  return (
    <div className="page">
      <header className="page-head">
        <h1>Access</h1>
      </header>
      <nav className="tabs" aria-label="Parts of access">
        {sections
          .filter(({ privileges }) => privileges === undefined || may(...privileges))
          .map(({ id, label }) => (
            <Link
              key={id}
              to="/ui/access"
              search={{ section: id }}
              aria-current={id === current?.id ? "page" : undefined}
            >
              {label}
            </Link>
          ))}
      </nav>
      <div className="section-body">
        {section === undefined && <NoActor />}
        {section === "tokens" && <Tokens mine />}
        {section === "all" && <Tokens mine={false} />}
        {section === "policies" && <Policies />}
        {section === "roles" && <Roles />}
        {section === "audit" && <AuditTrail />}
      </div>
    </div>
  );
}

const NoActor = () => (
  <Empty title="No acting user">
    <p>Tokens and policies need a user. Choose one in the side bar, or act as the root user.</p>
    <button type="button" className="button" onClick={() => actorStore.set(rootUser)}>
      Act as the root user
    </button>
  </Empty>
);
