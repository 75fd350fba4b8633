/** Runs a write, reads the entity again at its position, and announces the result. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { announce, announceError } from "../../components/toasts.tsx";

export type Edit = (write: () => Promise<unknown>, done: string) => Promise<boolean>;

export function useEdit(urn: string): Edit {
  const queries = useQueryClient();
  return useCallback(
    async (write, done) => {
      try {
        await write();
        announce(done);
        return true;
      } catch (error) {
        announceError(error);
        return false;
      } finally {
        // Reads wait for the position of the write, so they show it.
        const keys = [["entity", urn], ["summary", urn], ["history", urn], ["search"], ["home"]];
        await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
      }
    },
    [urn, queries],
  );
}
