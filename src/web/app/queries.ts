/** The cache of all responses that the pages read. */
import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/http.ts";

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
