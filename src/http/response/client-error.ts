/**
 * Responses to requests that node rejects before a handler runs. Bytes that are not HTTP get no
 * response; the connection closes.
 *
 * A target with raw blanks or bytes beyond ASCII is one such case. Proxies may read it differently, so
 * the response redirects to the encoded target (RFC 9112 §3) instead of guessing.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isRejected } from "../hooks/host-check.ts";
import type { ErrorBody } from "./errors.ts";
import { statusText } from "./status-text.ts";

interface ParseError extends Error {
  readonly code?: string;
  readonly reason?: string;
  /** The last bytes of the connection. */
  readonly rawPacket?: unknown;
}

interface Verdict {
  readonly status: number;
  readonly message: string;
  readonly location?: string | undefined;
}

/** Node calls it for an `Expect` header that is not 100-continue; the body is not read. */
export function rejectExpectation(
  request: IncomingMessage,
  response: ServerResponse,
  { recordPrefix }: { readonly recordPrefix: string },
): void {
  const expected = String(request.headers.expect).slice(0, 120);
  const message = `the expectation "${expected}" is not known. Leave Expect out, or send 100-continue`;
  const text = JSON.stringify(bodyOf({ status: 417, message }, recordPrefix));
  response.writeHead(417, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
    "X-RestLi-Error-Response": "true",
    "X-Content-Type-Options": "nosniff",
    Connection: "close",
  });
  response.end(text);
}

const bodyOf = ({ status, message }: Verdict, recordPrefix: string): ErrorBody => ({
  status,
  message,
  exceptionClass: `${recordPrefix}.restli.server.RestLiServiceException`,
  code: "malformed",
});

/** Sends the error body, as far as the connection allows, and closes it. */
export function sendClientError(
  error: ParseError,
  socket: Socket,
  options: { readonly recordPrefix: string; readonly headerBytesMax: number },
): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  if (isRejected(socket)) {
    socket.end();
    return;
  }
  if (!socket.writable) {
    socket.destroy(error);
    return;
  }
  const verdict = judge(error, options.headerBytesMax);
  const { status, location } = verdict;
  const text = JSON.stringify(bodyOf(verdict, options.recordPrefix));
  const head = [
    `HTTP/1.1 ${status} ${statusText(status)}`,
    ...(location === undefined ? [] : [`Location: ${location}`]),
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "X-RestLi-Error-Response: true",
    "X-Content-Type-Options: nosniff",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}

function judge(error: ParseError, headerBytesMax: number): Verdict {
  switch (error.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return {
        status: 408,
        message: "the request did not arrive in time. Send it whole, and at once",
      };
    case "HPE_HEADER_OVERFLOW":
      return {
        status: 431,
        message: `target and headers have more than ${headerBytesMax} bytes. Ask for fewer urns at a time`,
      };
  }
  const location = encodedTarget(error.rawPacket);
  if (location !== undefined) {
    const message =
      "the path holds blanks or bytes beyond ASCII. Percent-encode it, as Location does";
    return { status: 301, message, location };
  }
  const reason = error.reason ?? error.code ?? "unknown";
  return {
    status: 400,
    message: `the request is not HTTP (${reason}). Percent-encode the path: a blank is %20`,
  };
}

const READ_LINE = /^(?:GET|HEAD) (\/[^\r\n]*[^\r\n ]) HTTP\/1\.[01]\r?\n/;
const UNFIT = /[^\u0021-\u007e]/g;

/** The encoded target of a read; undefined when the target is not the error. */
function encodedTarget(packet: unknown): string | undefined {
  const text = Buffer.isBuffer(packet) ? packet.toString("latin1") : "";
  const target = READ_LINE.exec(text)?.[1];
  if (target === undefined || target.search(UNFIT) < 0) return undefined;
  const encoded = target.replace(
    UNFIT,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
  // Two leading slashes would name another host.
  return encoded.replace(/^\/+/, "/");
}
