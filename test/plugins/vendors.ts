/**
 * Small stand-ins for the vendors that actions call: a webhook of Teams, and the API of Slack behind a
 * proxy, with a certificate for slack.com. They record the messages that they receive.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";

export interface Vendors extends AsyncDisposable {
  /** Bodies of messages to the webhook of Teams. */
  readonly teams: string[];
  /** Bodies of messages to Slack's chat.postMessage. */
  readonly slack: string[];
  readonly webhook: string;
  /** For programs that call Slack. */
  readonly environment: Readonly<Record<string, string>>;
}

export async function openVendors(directory: string): Promise<Vendors> {
  const teams: string[] = [];
  const slack: string[] = [];
  const key = join(directory, "slack.key");
  const certificate = join(directory, "slack.pem");
  const files = ["-keyout", key, "-out", certificate];
  const names = ["-subj", "/CN=slack.com", "-addext", "subjectAltName=DNS:slack.com"];
  const kind = ["-newkey", "rsa:2048", "-nodes", "-x509", "-days", "2"];
  spawnSync("openssl", ["req", ...kind, ...names, ...files]);

  const slackServer = createHttpsServer(
    { key: readFileSync(key), cert: readFileSync(certificate) },
    async (request, response) => {
      const body = await textOf(request);
      if (request.url === "/api/chat.postMessage") slack.push(body);
      response.setHeader("content-type", "application/json");
      response.end('{"ok":true,"user_id":"U1","team_id":"T1","bot_id":"B1"}');
    },
  );
  const slackPort = await listening(slackServer);

  const server = createServer(async (request, response) => {
    teams.push(await textOf(request));
    response.end("1");
  });
  // The proxy connects every host to the stand-in of Slack.
  server.on("connect", (_, socket) => {
    const onward = connect(slackPort, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    for (const one of [socket, onward]) one.on("error", () => {});
  });
  const port = await listening(server);

  return {
    ...{ teams, slack, webhook: `http://127.0.0.1:${port}/teams` },
    environment: { HTTPS_PROXY: `http://127.0.0.1:${port}`, SSL_CERT_FILE: certificate },
    async [Symbol.asyncDispose]() {
      for (const one of [server, slackServer]) {
        one.closeAllConnections();
        one.close();
      }
    },
  };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return String(Buffer.concat(parts));
}
