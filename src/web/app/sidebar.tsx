/** Navigation, acting user, theme and connection. */
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useSummary } from "../api/entities.ts";
import { actorStore, connectionStore, sessionStore, signOut } from "../api/http.ts";
import { useStore } from "../api/store.ts";
import { rootUser } from "../api/urn.ts";
import { ActorDialog } from "../components/actor-dialog.tsx";
import { Avatar } from "../components/entity-link.tsx";
import { Icon } from "../components/icon.tsx";
import { announceError } from "../components/toasts.tsx";
import { applyTheme, type Theme, themeStore } from "./theme.ts";

interface Place {
  readonly to: string;
  readonly icon: string;
  readonly label: string;
}

const catalog: readonly Place[] = [
  { to: "/", icon: "home", label: "Home" },
  { to: "/ui/search", icon: "search", label: "Search" },
  { to: "/ui/browse", icon: "browse", label: "Browse" },
];

const operation: readonly Place[] = [
  { to: "/ui/log", icon: "log", label: "Log" },
  { to: "/ui/runs", icon: "runs", label: "Runs" },
  { to: "/ui/views", icon: "views", label: "Views and jobs" },
  { to: "/ui/access", icon: "access", label: "Access" },
  { to: "/api/graphiql", icon: "flow", label: "GraphQL" },
];

export function Sidebar() {
  const connection = useStore(connectionStore);
  const { version } = useStore(sessionStore);
  return (
    <aside className="sidebar">
      <Link to="/" className="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" fill="var(--accent)" />
          <path
            d="M8 23 16 8l8 15M11.2 17.5h9.6"
            fill="none"
            stroke="var(--accent-ink)"
            strokeWidth="2.6"
            strokeLinecap="round"
            strokeLinejoin="round"
          />
        </svg>
        Annals
      </Link>
      <nav aria-label="Pages">
        <Places places={catalog} />
        <p className="nav-title">Operation</p>
        <Places places={operation} />
      </nav>
      <div className="sidebar-foot">
        <ActingUser />
        <ThemeSwitch />
        <span className={connection === "online" ? "connection" : "connection offline"}>
          {connection === "online"
            ? `Connected${version === null ? "" : `, version ${version}`}`
            : "Not connected"}
        </span>
      </div>
    </aside>
  );
}

const Places = ({ places }: { readonly places: readonly Place[] }) => (
  <ul className="nav">
    {places.map(({ to, icon, label }) => (
      <li key={to}>
        <Link to={to} activeOptions={{ exact: to === "/", includeSearch: false }}>
          <Icon name={icon} />
          {label}
        </Link>
      </li>
    ))}
  </ul>
);

/** The user that writes are recorded with. Without sign-in it can be changed. */
function ActingUser() {
  const session = useStore(sessionStore);
  const chosen = useStore(actorStore);
  const [open, setOpen] = useState(false);
  const navigate = useNavigate();
  const urn = session.signInRequired ? (session.actor ?? "") : chosen;
  const { name } = useSummary(urn);
  if (session.signInRequired) {
    if (!session.authenticated) return null;
    return (
      <div className="row">
        <Avatar urn={urn} name={name} />
        <span className="clip spread">{name}</span>
        <button
          type="button"
          className="button quiet"
          onClick={() => signOut().then(() => navigate({ to: "/ui/signin" }), announceError)}
        >
          Sign out
        </button>
      </div>
    );
  }
  return (
    <>
      <button type="button" className="acting" onClick={() => setOpen(true)}>
        {urn === "" ? <Icon name="user" /> : <Avatar urn={urn} name={name} />}
        {urn === "" ? (
          <span className="acting-text">
            <span className="clip">No acting user</span>
            <span className="muted">Writes as System</span>
          </span>
        ) : (
          <span className="acting-text">
            <span className="muted">Acting as</span>
            <span className="clip">{urn === rootUser ? `${name} (root user)` : name}</span>
          </span>
        )}
      </button>
      {open && <ActorDialog onClose={() => setOpen(false)} />}
    </>
  );
}

const themes: readonly (readonly [Theme, string, string])[] = [
  ["system", "system", "Theme of the system"],
  ["light", "sun", "Light theme"],
  ["dark", "moon", "Dark theme"],
];

function ThemeSwitch() {
  const theme = useStore(themeStore);
  return (
    <fieldset className="segmented">
      <legend className="hidden-text">Theme</legend>
      {themes.map(([value, icon, label]) => (
        <button
          key={value}
          type="button"
          aria-label={label}
          title={label}
          aria-pressed={theme === value}
          onClick={() => applyTheme(value)}
        >
          <Icon name={icon} />
        </button>
      ))}
    </fieldset>
  );
}
