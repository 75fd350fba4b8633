/** Errors that reject a write. A rejected write changes nothing. */
import type { ErrorCase } from "../../schemas/endpoint.ts";

/** For endpoints that accept DELETE as a change type. */
export const nothingToDelete: ErrorCase = {
  code: "not_found",
  when: "the aspect to delete does not exist",
};

export const writeErrors: readonly ErrorCase[] = [
  {
    code: "malformed",
    when: "the body is not JSON, a parameter is missing or of the wrong type, or a urn does not parse",
  },
  { code: "forbidden", when: "an actor header comes over an interface that is not loopback" },
  {
    code: "invalid",
    when: "an entity type or aspect is unknown, a value does not fit its schema, a patch cannot be applied, or a condition of the request is not met",
  },
  { code: "too_large", when: "the body, a list in it or an aspect is larger than allowed" },
  {
    code: "conflict",
    when: "other writes to the entity won the race each time; send the request again",
  },
  {
    code: "gone",
    when: "the stream of the entity is tombstoned in EventStoreDB; this is permanent",
  },
  { code: "unavailable", when: "the log cannot be written now; try again later" },
];
