/** Keyboard shortcuts. Those of a single key can be turned off, because speech input may press them. */
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { keep, stored } from "../api/http.ts";
import { createStore } from "../api/store.ts";

const name = "annals.shortcuts";

/** True while shortcuts of a single key are on. */
export const shortcutsStore = createStore<boolean>(stored(name) !== "off");

shortcutsStore.subscribe(() => keep(name, shortcutsStore.get() ? "on" : "off"));

/**
 * Ctrl K focuses the search field. While shortcuts are on, so does `/`; `?` opens the help, `g` and a letter open
 * a page.
 */
export function useShortcuts(openHelp: () => void): void {
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
      if (target.closest("dialog")) return;
      const typing = target.closest("input, textarea, select, [contenteditable='true']");
      const modified = event.metaKey || event.ctrlKey || event.altKey;
      const single = !typing && !modified && shortcutsStore.get();
      if (
        (event.key === "k" && (event.metaKey || event.ctrlKey)) ||
        (single && event.key === "/")
      ) {
        event.preventDefault();
        document.getElementById("search-field")?.focus();
        return;
      }
      if (!single) return;
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
