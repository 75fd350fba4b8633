/** The limit of a response with many entities, which is in memory as a whole. */
import { CatalogError } from "../../core/errors.ts";

/** Bytes, or characters, of the values of a response. */
export const responseBytesMax = 128 * 1024 * 1024;

/** Entities that are read at once: with large values, they are in memory before the limit applies. */
export const readMax = 50;

export const tooLarge = (count: number): CatalogError =>
  new CatalogError(
    "too_large",
    `the aspects of ${count} entities have more than ${responseBytesMax} bytes, the maximum of a response`,
    { hint: "Request fewer entities at a time, or only some of their aspects" },
  );
