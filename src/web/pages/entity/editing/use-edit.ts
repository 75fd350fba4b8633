/** Shows a write at once, reads the entity again at its position, and announces the result. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import type { Aspects } from "../../../api/aspect.ts";
import { entityQuery, readEntity } from "../../../api/entities.ts";
import { announce, announceError } from "../../../components/toasts.tsx";
import type { Guess } from "./guesses.ts";

/** `guess`: shown until the entity is read again. Returns false for a failed write. */
export type Edit = (write: () => Promise<unknown>, done: string, guess?: Guess) => Promise<boolean>;

export function useEdit(urn: string): Edit {
  const queries = useQueryClient();
  return useCallback(
    async (write, done, guess) => {
      if (guess !== undefined) {
        const { queryKey } = entityQuery(urn);
        // A running read would replace the guess by the value before.
        await queries.cancelQueries({ queryKey });
        queries.setQueryData(
          queryKey,
          (entity) => entity && { ...entity, aspects: guess(entity.aspects) },
        );
      }
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

/** A text of an entity, and its value when an edit began. */
interface EditedText {
  readonly of: (aspects: Aspects) => string;
  readonly before: string;
}

/** Throws if somebody else has changed a text since its edit began. */
export async function checkUnchanged(urn: string, { of, before }: EditedText): Promise<void> {
  const now = of((await readEntity(urn)).aspects);
  if (now === before) return;
  throw new Error(
    `Somebody else changed this text meanwhile to “${now}”. Save again to replace it.`,
  );
}
