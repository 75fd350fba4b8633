/** The user that the pages act for. */
import { actorStore, sessionStore } from "../api/http.ts";
import { useStore } from "../api/store.ts";

/** The urn of the signed-in or chosen user; empty where the system acts. */
export function useActor(): string {
  const session = useStore(sessionStore);
  const chosen = useStore(actorStore);
  return session.signInRequired ? (session.actor ?? "") : chosen;
}
