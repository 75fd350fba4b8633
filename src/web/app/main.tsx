/** Starts the application: session first, then the page of the URL. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError, loadSession } from "../api/http.ts";
import "../design/tokens.css";
import "../design/base.css";
import "../design/controls.css";
import "../design/layout.css";
import { router } from "./router.tsx";
import { applyTheme } from "./theme.ts";

applyTheme();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) =>
        failures < 4 && error instanceof ApiError && (error.status === 0 || error.status === 503),
      retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5_000),
    },
  },
});

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
    );
}
