/**
 * Reads the caller of a request (the user of its token, or a trusted actor header) and its
 * idempotency key.
 *
 * The actor header is trusted only on loopback without token authentication. Elsewhere it would let
 * anyone impersonate anyone, so requests with it are rejected. With a token it may only name the
 * token's user; the system client may name any user.
 */
import type { IncomingMessage } from "node:http";
import type { Caller } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { parseUrn, withNamespace } from "../../../core/urn.ts";
import { decodeOnce } from "../percent.ts";

export interface CallerRules {
  /** True when the service is bound to loopback and requires no tokens. */
  readonly actorHeaderTrusted: boolean;
  readonly urnNamespace: string;
}

const ACTOR_HEADERS = ["x-service-actor", "x-datahub-actor"];
const IDEMPOTENCY_KEY = "idempotency-key";
/** A uuid has 36 characters. */
const idempotencyKeyCharactersMax = 255;

const JOINED = /,\s*urn:/;

const NOBODY: Caller = {};

/**
 * `subject`: the user of the request's token, if any. Throws `malformed` for invalid headers,
 * `forbidden` for an actor that the caller may not name.
 */
export function readCaller(
  request: IncomingMessage,
  rules: CallerRules,
  subject?: string | undefined,
): Caller {
  const headers = request.headers;
  const named =
    headers["x-datahub-actor"] !== undefined || headers["x-service-actor"] !== undefined;
  const key = headers[IDEMPOTENCY_KEY];
  if (!named && key === undefined) return subject === undefined ? NOBODY : { actor: subject };
  return {
    actor: named ? readActor(request.rawHeaders, rules, subject) : subject,
    idempotencyKey: key === undefined ? undefined : readKey(key),
  };
}

function readActor(
  rawHeaders: readonly string[],
  rules: CallerRules,
  subject: string | undefined,
): string | undefined {
  const actors = new Map<string, string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? "").toLowerCase();
    if (!ACTOR_HEADERS.includes(name)) continue;
    if (actors.has(name)) {
      throw new ForgedActor(`header ${shownName(name)} is given twice`, {
        code: "malformed",
        hint: "Give it once",
      });
    }
    actors.set(name, (rawHeaders[i + 1] ?? "").trim());
  }
  for (const [name, value] of actors) {
    // A proxy may have joined two headers.
    if (!JOINED.test(value)) continue;
    throw new ForgedActor(`header ${shownName(name)} names two actors`, {
      code: "malformed",
      hint: "Give one of them",
    });
  }
  const [actor = "", ...others] = new Set(actors.values());
  if (others.length > 0) {
    throw new ForgedActor("X-Service-Actor and X-DataHub-Actor name two actors", {
      code: "malformed",
      hint: "Give one of them",
    });
  }
  // Proxies send an empty header for a session without a user.
  if (actor === "") return subject;
  if (subject === undefined && !rules.actorHeaderTrusted) {
    throw new ForgedActor("the actor header is not accepted here", {
      hint: "It counts only if the service is bound to loopback (--host 127.0.0.1) and requires no tokens; leave it out",
    });
  }
  // Header values contain no escapes; only bytes beyond ASCII are decoded, as UTF-8.
  const urn = actorUrn(decodeOnce(actor.replaceAll("%", "%25"), false), rules.urnNamespace);
  const isSystem = subject === `urn:${rules.urnNamespace}:corpuser:__datahub_system`;
  if (subject === undefined || isSystem || urn === subject) return urn;
  throw new ForgedActor("the actor header names another user than the token", {
    hint: `The token acts for "${subject}"; leave the header out`,
    actor: subject,
  });
}

/** The request names an actor that the caller may not name, or two actors. It is logged. */
export class ForgedActor extends CatalogError {
  constructor(
    message: string,
    options: { hint: string; code?: "forbidden" | "malformed"; actor?: string },
  ) {
    super(options.code ?? "forbidden", message, options);
  }
}

/** A urn of a corpuser, or a bare user id. */
function actorUrn(actor: string, namespace: string): string {
  const text = actor.startsWith("urn:")
    ? withNamespace(actor, namespace)
    : `urn:${namespace}:corpuser:${actor}`;
  if (parseUrn(text).entityType !== "corpuser") {
    throw new CatalogError("malformed", `actor "${actor.slice(0, 120)}" is not a user`, {
      hint: `Name a user: urn:${namespace}:corpuser:jdoe, or jdoe`,
    });
  }
  return text;
}

function readKey(value: string | readonly string[]): string {
  const key = typeof value === "string" ? value : value.join(",");
  if (key === "" || key.length > idempotencyKeyCharactersMax) {
    throw new CatalogError(
      "malformed",
      `header Idempotency-Key has ${key.length} characters; at most ${idempotencyKeyCharactersMax} are allowed`,
      { hint: "Send a uuid, or any other short text that is new for every new write" },
    );
  }
  return key;
}

const shownName = (name: string): string =>
  name === "x-service-actor" ? "X-Service-Actor" : "X-DataHub-Actor";
