/** The frame of all pages: navigation, search field, acting user, theme and connection. */
import { useQueryClient } from "@tanstack/react-query";
import { Outlet, useRouter, useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { connectionStore, sessionStore } from "../api/http.ts";
import { useStore } from "../api/store.ts";
import { Icon } from "../components/icon.tsx";
import { Toasts } from "../components/toasts.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { PageTitle } from "./page-title.tsx";
import { SearchBox } from "./search/search-box.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { Sidebar } from "./sidebar.tsx";
import { beginsSession } from "./sign-in-paths.ts";

export function Shell() {
  const [menuOpen, setMenuOpen] = useState(false);
  const [helpOpen, setHelpOpen] = useState(false);
  // The page that is shown: while the next one loads, the location is ahead of it.
  const path = useRouterState({
    select: ({ resolvedLocation, location }) => (resolvedLocation ?? location).pathname,
  });
  const router = useRouter();
  const session = useStore(sessionStore);
  const mustSignIn = session.signInRequired && !session.authenticated && !beginsSession(path);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path closes the menu.
  useEffect(() => setMenuOpen(false), [path]);
  useEffect(() => {
    const { resolvedLocation, location } = router.state;
    const to = (resolvedLocation ?? location).href;
    if (mustSignIn) void router.navigate({ to: "/ui/signin", search: { to } });
  }, [mustSignIn, router]);
  useShortcuts(() => setHelpOpen(true));
  useReconnection();
  return (
    <div className={menuOpen ? "shell menu-open" : "shell"}>
      {!mustSignIn && <PageTitle path={path} />}
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <Sidebar />
      <div className="main">
        <header className="topbar">
          <button
            type="button"
            className="button quiet icon menu-button"
            aria-label="Navigation"
            aria-expanded={menuOpen}
            onClick={() => setMenuOpen(!menuOpen)}
          >
            <Icon name="menu" />
          </button>
          <SearchBox />
          <div className="topbar-end">
            <button
              type="button"
              className="button quiet icon"
              aria-label="Keyboard shortcuts and help"
              onClick={() => setHelpOpen(true)}
            >
              <Icon name="help" />
            </button>
          </div>
        </header>
        <ConnectionNotice />
        <main id="content" tabIndex={-1}>
          {mustSignIn ? null : <Outlet />}
        </main>
      </div>
      {helpOpen && <HelpDialog onClose={() => setHelpOpen(false)} />}
      <Toasts />
    </div>
  );
}

/** A lost connection, at every width: the side bar is closed in a narrow window. */
function ConnectionNotice() {
  const lost = useStore(connectionStore) === "offline";
  return (
    <p className={lost ? "connection offline connection-notice" : "hidden-text"} role="status">
      {lost && "Connection lost, trying again"}
    </p>
  );
}

/** After a lost connection, asks for the service until it answers, and reads all data again. */
function useReconnection(): void {
  const state = useStore(connectionStore);
  const queries = useQueryClient();
  useEffect(() => {
    if (state === "online") return;
    const timer = setInterval(() => {
      fetch("/health/live").then(
        () => {
          connectionStore.set("online");
          void queries.invalidateQueries();
        },
        () => undefined,
      );
    }, 2_000);
    return () => clearInterval(timer);
  }, [state, queries]);
}
