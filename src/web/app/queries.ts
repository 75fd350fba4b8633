/** The cache of all responses that the pages read. */
import { QueryClient } from "@tanstack/react-query";
import { ApiError, adminTokenStore, sessionStore } from "../api/http.ts";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) =>
        failures < 4 && error instanceof ApiError && (error.status === 0 || error.status === 503),
      retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5_000),
    },
  },
});

let reader = sessionStore.get().actor;

// Another user of this tab sees nothing that was read for the one before.
sessionStore.subscribe(() => {
  const { actor } = sessionStore.get();
  if (actor === reader) return;
  reader = actor;
  adminTokenStore.set("");
  queries.clear();
});
