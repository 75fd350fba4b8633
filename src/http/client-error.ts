/** Requests that node cannot read as HTTP: there is no request to answer, only a connection. */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { ErrorBody } from "./errors.ts";

interface ParseError extends Error {
  readonly code?: string;
  readonly reason?: string;
}

/** Answers with the error body, as far as the connection allows, and closes it. */
export function answerClientError(
  error: ParseError,
  socket: Socket,
  options: { readonly recordPrefix: string; readonly headerBytesMax: number },
): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const [status, message] = explain(error, options.headerBytesMax);
  const body: ErrorBody = {
    status,
    message,
    exceptionClass: `${options.recordPrefix}.restli.server.RestLiServiceException`,
    code: "malformed",
  };
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "X-RestLi-Error-Response: true",
    "X-Content-Type-Options: nosniff",
    "Connection: close",
  ].join("\r\n");
  if (socket.writable) socket.end(`${head}\r\n\r\n${text}`);
  else socket.destroy(error);
}

function explain({ code, reason }: ParseError, headerBytesMax: number): readonly [number, string] {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, "the request did not arrive in time. Send it whole, and at once"];
    case "HPE_HEADER_OVERFLOW":
      return [
        431,
        `target and headers have more than ${headerBytesMax} bytes. Ask for fewer urns at a time`,
      ];
    default:
      return [
        400,
        `the request is not HTTP (${reason ?? code ?? "unknown"}). Percent-encode the path: a blank is %20`,
      ];
  }
}
