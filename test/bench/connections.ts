/**
 * Kept-alive connections with requests that are serialized in advance, so that the client takes
 * little of the CPU.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface Connections {
  /** Sends the requests, one at a time on each connection. Throws unless each succeeds. */
  send(requests: readonly Buffer[]): Promise<void>;
  close(): void;
}

export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export function requestText({ method, path, headers, body = "" }: Request): Buffer {
  const all = { host: "localhost", "content-type": "application/json", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  if (method === "POST") lines.push(`content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
}

export async function openConnections(url: string, count: number): Promise<Connections> {
  const { hostname, port } = new URL(url);
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      await once(socket, "connect");
      return socket.setEncoding("latin1");
    }),
  );
  return {
    async send(requests) {
      let begun = 0;
      await Promise.all(sockets.map((socket) => converse(socket, () => requests[begun++])));
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Sends one request after the other until none is left. */
function converse(socket: Socket, next: () => Buffer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = "";
    const end = (error?: Error): void => {
      socket.off("data", hear).off("error", end).off("close", closed);
      if (error === undefined) resolve();
      else reject(error);
    };
    const closed = (): void => end(new Error("the service closed a connection"));
    const ask = (): void => {
      const request = next();
      if (request === undefined) end();
      else socket.write(request);
    };
    const hear = (text: string): void => {
      received += text;
      const head = received.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < head + 4 + length) return;
      const answer = received;
      received = "";
      if (answer.startsWith("HTTP/1.1 2")) ask();
      else end(new Error(`no success: ${answer.slice(0, 1_000)}`));
    };
    socket.on("data", hear).on("error", end).on("close", closed);
    ask();
  });
}
