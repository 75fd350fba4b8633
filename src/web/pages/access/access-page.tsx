/** Access: tokens, policies, roles and the audit trail. */
import { Link, useSearch } from "@tanstack/react-router";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { AuditTrail } from "./audit-trail.tsx";
import { Policies } from "./policies.tsx";
import { Roles } from "./roles.tsx";
import { Tokens } from "./tokens.tsx";

const sections: readonly (readonly [string, string])[] = [
  ["tokens", "My tokens"],
  ["all", "All tokens"],
  ["policies", "Policies"],
  ["roles", "Roles"],
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
        {section === "roles" && <Roles />}
        {section === "audit" && <AuditTrail />}
      </div>
    </div>
  );
}
