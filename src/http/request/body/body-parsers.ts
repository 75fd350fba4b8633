/** Parsers of request bodies: small ones in this thread, large ones in a thread of their own. */
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { JsonLimits } from "../../../core/json-text.ts";
import { endingOf } from "../../add-endpoint.ts";
import { attempt, type Done } from "../../attempt.ts";
import {
  type LargeBodies,
  type LargeBody,
  largeBytes,
  ReadBodyHolder,
  transferable,
} from "../../hooks/large-bodies.ts";
import { type ApiRequest, type Endpoint, endpointId } from "../../schemas/endpoint.ts";
import type { RequestState } from "../parse-request.ts";
import {
  type BodyForm,
  jsonContentTypes,
  parseJsonBody,
  unreadableContentType,
} from "./json-body.ts";

/** Replaces the parsers of the framework. Bodies over 256 KiB reach the handler as a ReadBodyHolder. */
export function addBodyParsers(app: FastifyInstance, { largeBodies, limits }: BodyReading): void {
  app.removeAllContentTypeParsers();
  const parser = { parseAs: "buffer" } as const;
  const read = (request: FastifyRequest, body: Buffer, done: Done): void => {
    if (largeBodies !== undefined && body.length > largeBytes && !request.is404) {
      const reading = largeBodies.read(largeBodyOf(request, body));
      reading.then((one) => done(null, new ReadBodyHolder(one)), done);
      return;
    }
    const parse = () => parseJsonBody(body, formOf(request), limits);
    attempt(() => (request.is404 ? undefined : parse()), done);
  };
  app.addContentTypeParser<Buffer>("application/json", parser, read);
  app.addContentTypeParser<Buffer>(jsonContentTypes, parser, read);
  // Bodies without a content type, and with unsupported ones.
  app.addContentTypeParser<Buffer>("*", parser, (request, body, done) => {
    const type = request.headers["content-type"];
    if (type === undefined || request.is404) read(request, body, done);
    else done(unreadableContentType(type));
  });
}

interface BodyReading {
  readonly largeBodies: LargeBodies | undefined;
  readonly limits: JsonLimits | undefined;
}

function largeBodyOf(request: FastifyRequest, body: Buffer): LargeBody {
  const { endpoint, apiRequest, response } = request.state as RequestState;
  const { key, path, parameters } = apiRequest as ApiRequest;
  const { kind, name, body: schema } = endpoint as Endpoint;
  return {
    endpoint: { id: endpointId(endpoint as Endpoint), name, body: schema },
    body: transferable(body),
    request: {
      key,
      path: kind === "page" ? (request.params as ApiRequest["path"]) : path,
      parameters,
    },
    signal: endingOf(request.state as RequestState, response as ServerResponse).signal,
  };
}

const formOf = ({ state }: FastifyRequest): BodyForm =>
  state?.endpoint === undefined ? "object" : (state.endpoint.body?.type ?? "any");
