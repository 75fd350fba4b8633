/** Starts the application: session first, then the page of the URL. */
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { loadSession } from "../api/http.ts";
import "../design/tokens.css";
import "../design/base.css";
import "../design/controls.css";
import "../design/layout.css";
import { queries } from "./queries.ts";
import { preloadEntityPage, router } from "./router.tsx";
import { applyTheme } from "./theme.ts";

applyTheme();

const element = document.getElementById("root");
if (element !== null) {
  void loadSession()
    .catch(() => undefined)
    .then(() =>
      createRoot(element).render(
        <StrictMode>
          <QueryClientProvider client={queries}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </StrictMode>,
      ),
    )
    // Safari has no idle callbacks.
    .then(() => (globalThis.requestIdleCallback ?? setTimeout)(preloadEntityPage));
}
