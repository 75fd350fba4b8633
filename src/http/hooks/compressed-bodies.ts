/**
 * Request bodies with a Content-Encoding. They are decompressed while they arrive, in the thread pool of the
 * process. The limits of bodies count decompressed bytes, so that a small request cannot fill the memory.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable, type Transform } from "node:stream";
import { CatalogError } from "../../core/errors.ts";
import { createDecoder, readableCodings } from "./content-coding.ts";

/** Fastify compares `receivedEncodedLength` with Content-Length. */
type DecodedBody = Readable & { receivedEncodedLength?: number };

/** True if the headers announce a body. */
export const hasBody = ({ headers }: Pick<IncomingMessage, "headers">): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";

/**
 * The decompressed body; the request itself if it has no coding. Throws `malformed` for an unknown coding. The
 * stream fails with `malformed` for bytes that are not in the coding, and ends with the response at the latest.
 */
export function decodedBody(request: IncomingMessage, response: ServerResponse): Readable {
  const coding = request.headers["content-encoding"];
  if (coding === undefined || coding === "identity" || !hasBody(request)) return request;
  const decoder = createDecoder(coding);
  if (decoder === undefined) {
    throw unreadable(
      `Content-Encoding "${coding.slice(0, 40)}" is not read; send ${readableCodings}`,
    );
  }
  const body: DecodedBody = Readable.from(decode(request, decoder, coding), { objectMode: false });
  body.receivedEncodedLength = 0;
  request.on("data", (chunk: Buffer) => {
    body.receivedEncodedLength = (body.receivedEncodedLength ?? 0) + chunk.length;
  });
  request.pipe(decoder);
  const end = (): void => {
    body.destroy();
    decoder.destroy();
  };
  response.once("finish", end);
  response.once("close", end);
  return body;
}

async function* decode(
  request: IncomingMessage,
  decoder: Transform,
  coding: string,
): AsyncIterable<Buffer> {
  const fail = (error: Error): unknown => decoder.destroy(error);
  request.once("error", fail);
  try {
    for await (const chunk of decoder) yield chunk;
  } catch (cause) {
    throw unreadable(`The body is not whole or not in the coding "${coding}"`, cause);
  } finally {
    request.off("error", fail);
    // The rest of the body is discarded, so that the connection stays usable.
    request.unpipe(decoder);
    request.resume();
  }
}

const unreadable = (hint: string, cause?: unknown): CatalogError =>
  new CatalogError("malformed", "Cannot parse request entity", { hint, cause });
