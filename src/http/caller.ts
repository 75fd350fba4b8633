/**
 * Who asks: the actor header, where the caller is trusted to set it, and the idempotency key.
 *
 * The header is believed when the service is bound to loopback; elsewhere it would let anyone be
 * anyone, so a request that carries it is refused rather than served as somebody else.
 */
import type { IncomingMessage } from "node:http";
import type { Caller } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { parseUrn, withNamespace } from "../core/urn.ts";
import { decodeOnce } from "./percent.ts";

export interface CallerRules {
  /** True when the service is bound to loopback. */
  readonly actorHeaderTrusted: boolean;
  readonly urnNamespace: string;
}

const ACTOR_HEADERS = ["x-service-actor", "x-datahub-actor"];
const IDEMPOTENCY_KEY = "idempotency-key";
/** A uuid has 36; more than this is no name but a payload. */
const idempotencyKeyCharactersMax = 255;

const NOBODY: Caller = {};

/** Throws `malformed` for headers that cannot be understood, `forbidden` for an untrusted actor. */
export function readCaller(request: IncomingMessage, rules: CallerRules): Caller {
  const headers = request.headers;
  const named =
    headers["x-datahub-actor"] !== undefined || headers["x-service-actor"] !== undefined;
  const key = headers[IDEMPOTENCY_KEY];
  if (!named && key === undefined) return NOBODY;
  return {
    actor: named ? readActor(request.rawHeaders, rules) : undefined,
    idempotencyKey: key === undefined ? undefined : readKey(key),
  };
}

function readActor(rawHeaders: readonly string[], rules: CallerRules): string | undefined {
  const told = new Map<string, string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? "").toLowerCase();
    if (!ACTOR_HEADERS.includes(name)) continue;
    if (told.has(name)) {
      throw new CatalogError("malformed", `header ${shownName(name)} is given twice`, {
        hint: "Give it once",
      });
    }
    told.set(name, (rawHeaders[i + 1] ?? "").trim());
  }
  const [actor = "", ...others] = new Set(told.values());
  if (others.length > 0) {
    throw new CatalogError("malformed", "X-Service-Actor and X-DataHub-Actor name two actors", {
      hint: "Give one of them",
    });
  }
  // A proxy sends the header empty for a session without a user: nobody is named.
  if (actor === "") return undefined;
  if (!rules.actorHeaderTrusted) {
    throw new CatalogError("forbidden", "the actor header is not accepted here", {
      hint: "It is believed only where the service is bound to loopback (--host 127.0.0.1); leave it out",
    });
  }
  // Headers are no place for escapes: only the bytes beyond ASCII are to be read as UTF-8.
  return actorUrn(decodeOnce(actor.replaceAll("%", "%25"), false), rules.urnNamespace);
}

/** A urn of a corpuser, or a bare user id. */
function actorUrn(actor: string, namespace: string): string {
  const text = actor.startsWith("urn:")
    ? withNamespace(actor, namespace)
    : `urn:${namespace}:corpuser:${actor}`;
  if (parseUrn(text).entityType !== "corpuser") {
    throw new CatalogError("malformed", `actor "${actor.slice(0, 120)}" is no user`, {
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
      `header Idempotency-Key has ${key.length} characters of at most ${idempotencyKeyCharactersMax}`,
      { hint: "Send a uuid, or any other short text that is new for every new write" },
    );
  }
  return key;
}

const shownName = (name: string): string =>
  name === "x-service-actor" ? "X-Service-Actor" : "X-DataHub-Actor";
