/** The record of PlatformEvent_v1 for the meaning of a change: entityChangeEvent. */
import type { Meaning } from "../core/timeline/meanings.ts";
import { entityTypeOf } from "../core/urn.ts";

export const entityChangeEvent = "entityChangeEvent";

/** Key of the message. */
export const keyOfMeaning = ({ entityUrn }: Meaning): string => `${entityChangeEvent}-${entityUrn}`;

/** The payload as JSON text. */
export function payloadOfMeaning(meaning: Meaning): string {
  const { entityType, created, category, operation, entityUrn, modifier, parameters } = meaning;
  return JSON.stringify({
    // A field has a type of its own.
    entityType: entityTypeOf(entityUrn) || entityType,
    entityUrn,
    category: category === "OWNERSHIP" ? "OWNER" : category,
    operation,
    modifier,
    parameters,
    auditStamp: { time: created.time, actor: created.actor },
    version: 0,
  });
}
