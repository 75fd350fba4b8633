/** Labels of the members of a request, the prefixes of error messages: `proposals[3]: `. */
import { CatalogError } from "../core/errors.ts";
import { type Proposal, REQUEST_PATH } from "./write/writes.ts";

/** The prefix of messages about a proposal where a request has several: its path in the request. */
export const labelOf = (
  proposal: Proposal,
  { index, count }: { readonly index: number; readonly count: number },
): string => (count > 1 ? `${proposal[REQUEST_PATH] ?? `proposals[${index}]`}: ` : "");

/** Runs the work; the message of a CatalogError gets the label as its prefix. */
export function labelled<T>(label: string, work: () => T): T {
  if (label === "") return work();
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CatalogError) || error.message.startsWith(label)) throw error;
    throw new CatalogError(error.code, `${label}${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}
