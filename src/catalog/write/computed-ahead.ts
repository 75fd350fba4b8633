/**
 * Values that follow from a large current value, for example the result of patching an aspect of 9 MB.
 * Parsing, patching and validating it takes a second, so another thread computes it ahead of the
 * decision. The decision uses the result while the current value is the same text. If it has
 * changed, the decision computes the value itself.
 */
import type { AuditStamp } from "../../core/change.ts";
import {
  type AspectCommand,
  type AspectValue,
  type ComputedValue,
  validatedText,
} from "../../core/decide.ts";
import { currentAspect, type EntityState } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { largeCharacters, type Proposal } from "./writes.ts";

interface FollowingValue {
  readonly proposal: Proposal;
  /** Label of the proposal in its request (labels.ts). */
  readonly label: string;
  readonly stamp: AuditStamp;
  /** JSON text of the aspect's current value. */
  readonly current: string | undefined;
}

/** Computes values in another thread. */
export interface ValueThread {
  /** JSON text of the new value. Rejects with the CatalogError of a proposal that cannot be applied. */
  compute(following: FollowingValue): Promise<string>;
}

/** A value of a command that `elsewhere` can compute ahead; `characters` is the length of its proposal. */
export function computedAhead(
  compute: ComputedValue,
  characters: number,
  elsewhere: (current: string | undefined) => Promise<string>,
): Required<Pick<AspectCommand, "ahead">> & { readonly value: ComputedValue } {
  let cached:
    | { readonly current: string | undefined; readonly result: () => AspectValue }
    | undefined;
  const computed = async (current: string | undefined): Promise<string | undefined> => {
    try {
      const text = await elsewhere(current);
      const validated = validatedText(text);
      cached = { current, result: () => validated };
      return text;
    } catch (rejection) {
      if (!(rejection instanceof CatalogError)) throw rejection;
      const result = () => {
        throw rejection;
      };
      cached = { current, result };
      return undefined;
    }
  };
  return {
    value: (current, sibling) =>
      cached !== undefined && cached.current === current?.text
        ? cached.result()
        : compute(current, sibling),
    ahead: (current) =>
      characters + (current?.length ?? 0) > largeCharacters ? () => computed(current) : undefined,
  };
}

/** Computes the large values of the commands ahead. Undefined when none is large. */
export function computeAhead(
  commands: readonly AspectCommand[],
  state: EntityState,
): (() => Promise<void>) | undefined {
  const isLarge = ({ aspect, ahead }: AspectCommand) =>
    ahead?.(currentAspect(state, aspect)?.value) !== undefined;
  if (!commands.some(isLarge)) return undefined;
  return async () => {
    /** Values after the commands so far. */
    const texts = new Map<string, string | undefined>();
    for (const { aspect, value, ahead } of commands) {
      const current = texts.has(aspect) ? texts.get(aspect) : currentAspect(state, aspect)?.value;
      const compute = ahead?.(current);
      if (compute !== undefined) texts.set(aspect, await compute());
      else if (typeof value === "object") texts.set(aspect, value.text);
    }
  };
}
