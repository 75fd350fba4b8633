/**
 * A server for `annals ingest` that records requests in order, and rejects those that a test
 * chooses. It uses the statuses, bodies and headers of a catalog.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface Member {
  readonly urn: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly systemMetadata: unknown;
}

export interface Received {
  readonly path: string;
  readonly idempotencyKey: string;
  readonly members: readonly Member[];
  readonly status: number;
}

export interface RecordingCatalog extends AsyncDisposable {
  readonly address: string;
  /** Every write, in the order of arrival. */
  readonly received: Received[];
  /** Members of accepted writes, in order. */
  accepted(): readonly Member[];
}

export interface Answers {
  /** The rejection of a write; undefined: the write is accepted. */
  readonly reject?: (members: readonly Member[], attempt: number) => Rejection | undefined;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Message of a /health with status 503; undefined: the service is healthy. */
  readonly healthError?: () => string | undefined;
}

export interface Rejection {
  readonly status: number;
  readonly message: string;
  readonly retryAfter?: string;
}

export async function openRecordingCatalog(answers: Answers = {}): Promise<RecordingCatalog> {
  const received: Received[] = [];
  let position = 0;
  const server = createServer(async (request, response) => {
    const path = request.url ?? "";
    const healthError = path === "/health" ? answers.healthError?.() : undefined;
    if (healthError !== undefined) {
      response.writeHead(503, { "content-type": "application/json" });
      response.end(JSON.stringify({ status: 503, message: healthError }));
      return;
    }
    if (request.method === "GET") {
      response.end(JSON.stringify(answers.config ?? { noCode: "true" }));
      return;
    }
    const members = membersOf(path, JSON.parse(await textOf(request)));
    const rejection = answers.reject?.(members, received.length);
    const status = rejection?.status ?? 200;
    const idempotencyKey = String(request.headers["idempotency-key"]);
    received.push({ path, idempotencyKey, members, status });
    if (rejection === undefined) {
      position += members.length;
      response.setHeader("x-annals-position", position);
      response.end('{"value":"success"}');
      return;
    }
    if (rejection.retryAfter !== undefined) response.setHeader("retry-after", rejection.retryAfter);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ status, message: rejection.message, exceptionClass: "x" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    received,
    accepted: () =>
      received.filter(({ status }) => status === 200).flatMap(({ members }) => members),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The address of a closed port. */
export async function freeAddress(): Promise<string> {
  const catalog = await openRecordingCatalog();
  await catalog[Symbol.asyncDispose]();
  return catalog.address;
}

interface Snapshot {
  readonly value: Readonly<Record<string, { readonly urn: string }>>;
}

interface Proposal {
  readonly entityUrn: string;
  readonly systemMetadata: unknown;
}

/** Throws, so that the request gets no response, for a request that no catalog accepts. */
function membersOf(path: string, body: Record<string, unknown>): readonly Member[] {
  const proposal = (member: Proposal): Member => ({
    urn: member.entityUrn,
    body: { ...member },
    systemMetadata: member.systemMetadata,
  });
  const snapshot = (member: Snapshot, systemMetadata: unknown): Member => ({
    urn: Object.values(member.value)[0]?.urn ?? "",
    body: { ...member },
    systemMetadata,
  });
  switch (path) {
    case "/aspects?action=ingestProposal":
      return [proposal(body.proposal as Proposal)];
    case "/aspects?action=ingestProposalBatch":
      return (body.proposals as Proposal[]).map(proposal);
    case "/entities?action=ingest":
      return [snapshot(body.entity as Snapshot, body.systemMetadata)];
    case "/entities?action=batchIngest": {
      const metadata = body.systemMetadata as unknown[];
      return (body.entities as Snapshot[]).map((member, at) => snapshot(member, metadata[at]));
    }
    default:
      throw new Error(`no catalog has ${path}`);
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  return Buffer.concat(await Array.fromAsync<Buffer>(request)).toString();
}
