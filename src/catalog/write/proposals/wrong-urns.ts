/** Wrong urns in a value: of an entity type that the field does not allow, or of a missing entity. */
import type { JsonObject } from "../../../lib/json.ts";
import type { Aspect, Checked, Model, UrnInValue } from "../../../model/model.ts";
import { validationErrorsOfUrns } from "../../../model/validation-errors.ts";
import { invalidValue } from "./proposal-parts.ts";

/**
 * Throws `invalid` for wrong urns, except those that the stored value has in the same field: values of
 * older releases stay writable.
 */
export function rejectNewUrns(
  model: Pick<Model, "check">,
  aspect: Aspect,
  { wrongUrns }: Pick<Extract<Checked, { ok: true }>, "wrongUrns">,
  stored: JsonObject | undefined,
): void {
  if (wrongUrns === undefined) return;
  const checked = stored === undefined ? undefined : model.check(aspect, stored);
  const ruled = checked?.ok ? [...(checked.wrongUrns ?? []), ...(checked.requiredUrns ?? [])] : [];
  const held = new Set(ruled.map(fieldAndUrn));
  const added = wrongUrns.filter((one) => !held.has(fieldAndUrn(one)));
  if (added.length > 0) throw invalidValue(aspect, validationErrorsOfUrns(added));
}

/** A urn with its field: the path without the indexes of lists. */
const fieldAndUrn = ({ path, urn }: UrnInValue): string =>
  `${path.replaceAll(/\/\d+(?=\/|$)/g, "/*")} ${urn}`;
