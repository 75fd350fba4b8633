/** The color theme: that of the system, light or dark. */
import { createStore } from "../api/store.ts";

export type Theme = "system" | "light" | "dark";

const name = "annals.theme";

function storedTheme(): Theme {
  try {
    const value = localStorage.getItem(name);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

export const themeStore = createStore<Theme>(storedTheme());

export function applyTheme(theme: Theme = themeStore.get()): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  themeStore.set(theme);
  try {
    localStorage.setItem(name, theme);
  } catch {
    // Without storage, the choice ends with the page.
  }
}
