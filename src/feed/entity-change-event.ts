/** The platform event for the meaning of a change: entityChangeEvent. */
import type { PlatformEvent } from "../core/platform-event.ts";
import type { Meaning } from "../core/timeline/meanings.ts";
import { entityTypeOf } from "../core/urn.ts";

const NAME = "entityChangeEvent";

export function eventOfMeaning(meaning: Meaning): PlatformEvent {
  const { entityType, created, category, operation, entityUrn, modifier, parameters } = meaning;
  const payload = {
    // A field has a type of its own.
    entityType: entityTypeOf(entityUrn) || entityType,
    entityUrn,
    category: category === "OWNERSHIP" ? "OWNER" : category,
    operation,
    modifier,
    parameters,
    auditStamp: { time: created.time, actor: created.actor },
    version: 0,
  };
  return {
    name: NAME,
    key: `${NAME}-${entityUrn}`,
    header: { timestampMillis: created.time },
    payload: { contentType: "application/json", value: JSON.stringify(payload) },
  };
}
