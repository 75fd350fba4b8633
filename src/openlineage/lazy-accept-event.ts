/** Loads the mapping of OpenLineage events with the first event: many services never get one. */
import type { AcceptEvent } from "./accept-event.ts";

/** createAcceptEvent, loaded by the first call. */
export function createLazyAcceptEvent(namespace: string): AcceptEvent {
  let opening: Promise<AcceptEvent> | undefined;
  const open = async (): Promise<AcceptEvent> =>
    (await import("./accept-event.ts")).createAcceptEvent(namespace);
  return async (event, catalog, caller) => {
    opening ??= open();
    return (await opening)(event, catalog, caller);
  };
}
