/**
 * Packs proposals for another thread into two buffers that are transferred without a copy. Cloning
 * 20,000 objects would block the receiving thread; it decodes the buffers in slices.
 */
import { CHECKED, HAS_TYPE_NAMES, type Proposal, REQUEST_PATH } from "../catalog/catalog.ts";
import { inTimeSlices } from "../catalog/time-slices.ts";
import {
  deserializeError,
  type SerializedError,
  serializeError,
} from "../core/serialized-error.ts";

export interface PackedProposals {
  /** Two numbers for each proposal: the bytes of its head and of its value. */
  readonly lengths: Uint32Array<ArrayBuffer>;
  /** Heads as JSON and values as JSON text, in UTF-8, one after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

interface Head {
  /** The proposal without its value. */
  readonly proposal: Proposal;
  readonly hasValue: boolean;
  readonly path?: string | undefined;
  readonly named?: true | undefined;
  readonly checked?: "valid" | "open" | { readonly rejection: SerializedError } | undefined;
}

/** The values of the proposals must be texts, as checkProposals returns them. */
export function packProposals(proposals: readonly Proposal[]): PackedProposals {
  const lengths = new Uint32Array(2 * proposals.length);
  const parts = proposals.flatMap((proposal) => {
    const { value } = proposal.aspect ?? {};
    return [JSON.stringify(headOf(proposal)), typeof value === "string" ? value : ""];
  });
  let total = 0;
  parts.forEach((part, i) => {
    const length = Buffer.byteLength(part);
    lengths[i] = length;
    total += length;
  });
  const bytes = new Uint8Array(total);
  const buffer = Buffer.from(bytes.buffer);
  let at = 0;
  for (const part of parts) at += buffer.write(part, at);
  return { lengths, bytes };
}

function headOf(proposal: Proposal): Head {
  const { aspect, [CHECKED]: checked } = proposal;
  const { value, ...rest } = aspect ?? {};
  return {
    proposal: aspect === undefined ? proposal : { ...proposal, aspect: { value: null, ...rest } },
    hasValue: typeof value === "string",
    path: proposal[REQUEST_PATH],
    named: proposal[HAS_TYPE_NAMES],
    checked:
      typeof checked === "object" ? { rejection: serializeError(checked.rejection) } : checked,
  };
}

/** Decodes in slices, so that other requests run in between. */
export const unpackProposals = (packed: PackedProposals): Promise<readonly Proposal[]> =>
  inTimeSlices(new Array(packed.lengths.length / 2).fill(0), decoderOf(packed));

/** The first of the proposals. */
export const unpackProposal = (packed: PackedProposals): Proposal => decoderOf(packed)(0, 0);

/** Decodes one proposal after the other. */
function decoderOf({ lengths, bytes }: PackedProposals): (_: number, index: number) => Proposal {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  function take(length = 0): string {
    at += length;
    return buffer.toString("utf8", at - length, at);
  }
  return (_, i) => {
    const head = JSON.parse(take(lengths[2 * i])) as Head;
    const value = take(lengths[2 * i + 1]);
    return proposalOf(head, value);
  };
}

function proposalOf({ proposal, hasValue, path, named, checked }: Head, value: string): Proposal {
  return {
    ...proposal,
    ...(hasValue && { aspect: { ...proposal.aspect, value } }),
    ...(path !== undefined && { [REQUEST_PATH]: path }),
    ...(named !== undefined && { [HAS_TYPE_NAMES]: named }),
    ...(checked !== undefined && {
      [CHECKED]:
        typeof checked === "object" ? { rejection: deserializeError(checked.rejection) } : checked,
    }),
  };
}
