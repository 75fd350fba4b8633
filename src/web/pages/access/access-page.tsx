/** Access: tokens, policies, roles and the audit trail. */
import { Link, useSearch } from "@tanstack/react-router";
import { useMay } from "../../api/privileges.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { AuditTrail } from "./audit-trail.tsx";
import { Policies } from "./policies.tsx";
import { Roles } from "./roles.tsx";
import { Tokens } from "./tokens.tsx";

interface Section {
  readonly id: string;
  readonly label: string;
  /** The user needs one of these; nothing when absent. */
  readonly privileges?: readonly string[];
}

const sections: readonly Section[] = [
  { id: "tokens", label: "My tokens" },
  { id: "all", label: "All tokens", privileges: ["MANAGE_ACCESS_TOKENS"] },
  { id: "policies", label: "Policies", privileges: ["MANAGE_POLICIES"] },
  { id: "roles", label: "Roles" },
  { id: "audit", label: "Audit trail", privileges: ["MANAGE_SYSTEM_OPERATIONS"] },
];

export default function AccessPage() {
  const url = useSearch({ strict: false }) as UrlQuery;
  const may = useMay();
  const section = listOf(url.section)[0] ?? "tokens";
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
        {section === "roles" && <Roles />}
        {section === "audit" && <AuditTrail />}
      </div>
    </div>
  );
}
