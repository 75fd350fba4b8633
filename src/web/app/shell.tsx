/** The frame of all pages: navigation, search field, acting user, theme and connection. */
import { useQueryClient } from "@tanstack/react-query";
import { Outlet, useNavigate, useRouter, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { connectionStore, sessionStore } from "../api/http.ts";
import { useStore } from "../api/store.ts";
import { Icon } from "../components/icon.tsx";
import { Toasts } from "../components/toasts.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { PageTitle } from "./page-title.tsx";
import { SearchBox } from "./search/search-box.tsx";
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
        <main id="content" tabIndex={-1}>
          {mustSignIn ? null : <Outlet />}
        </main>
      </div>
      {helpOpen && <HelpDialog onClose={() => setHelpOpen(false)} />}
      <Toasts />
    </div>
  );
}

/** `/` focuses the search field, `?` opens the help, `g` and a letter open a page. */
function useShortcuts(openHelp: () => void): void {
  const navigate = useNavigate();
  const pending = useRef(0);
  useEffect(() => {
    const pages = new Map([
      ["h", "/"],
      ["s", "/ui/search"],
      ["b", "/ui/browse"],
      ["r", "/ui/runs"],
      ["l", "/ui/log"],
      ["v", "/ui/views"],
      ["a", "/ui/access"],
    ]);
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const typing = target.closest("input, textarea, select, [contenteditable='true'], dialog");
      if (
        (event.key === "k" && (event.metaKey || event.ctrlKey)) ||
        (!typing && event.key === "/")
      ) {
        event.preventDefault();
        document.getElementById("search-field")?.focus();
        return;
      }
      if (typing || event.metaKey || event.ctrlKey || event.altKey) return;
      const page = pages.get(event.key);
      if (event.key === "?") openHelp();
      else if (page !== undefined && Date.now() - pending.current < 1_000) {
        pending.current = 0;
        void navigate({ to: page });
      } else if (event.key === "g") pending.current = Date.now();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate, openHelp]);
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
