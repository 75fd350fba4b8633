/** Builds the browser application to dist/web, and serves it with hot reload during development. */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The running service that `npm run dev:web` forwards requests of the API to. */
const service = "http://127.0.0.1:8080";

/** Paths of the service: all but `/`, which Vite redirects to `/ui/`, and the sources below that. */
const api = "^/(?!ui(/|$)|[?]|$)|^/ui/session";

/** The one page outside of `/ui/`. */
const graphiql = /^\/api\/graphiql([?]|$)/;

export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  base: "/ui/",
  plugins: [react()],
  appType: "spa",
  build: {
    outDir: "../../dist/web",
    emptyOutDir: true,
    // A strict content security policy allows no data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    port: 5173,
    // The service compares the Origin of a request with its Host, so both stay as the browser sent them.
    proxy: {
      [api]: {
        target: loadAddress(mode),
        changeOrigin: false,
        bypass: ({ url = "" }) => (graphiql.test(url) ? "/ui/" : undefined),
      },
    },
  },
}));

/** `vite --mode http://host:port` names another service. */
function loadAddress(mode: string): string {
  return mode.startsWith("http") ? mode : service;
}
