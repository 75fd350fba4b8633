/**
 * The session of the browser application: exchanges an access token, or a user name and a password, for a cookie,
 * and describes or ends the session.
 */
import type { SignIn, StartedSession } from "../../auth/sign-in/sign-in.ts";
import type { Authentication } from "../../auth/tokens/authentication.ts";
import { CatalogError } from "../../core/errors.ts";
import { ownValue } from "../../lib/own-value.ts";
import { csrfToken, sessionCookie, sessionToken } from "../request/caller/session.ts";
import type { ApiRequest, ApiResponse, Endpoint, Parameter } from "../schemas/endpoint.ts";

interface SessionOptions {
  readonly authentication: Authentication;
  /** Absent: sessions begin with access tokens only. */
  readonly signIn?: SignIn | undefined;
  /** True if the actor header is trusted. */
  readonly actorHeaderTrusted: boolean;
  /** True if policies decide about writes. */
  readonly writeAuthorization: boolean;
  /** Version of the service. */
  readonly version: string;
}

const path = "/ui/session";
const bodyBytesMax = 16_384;
/** Tokens of printable ASCII characters; other texts are no tokens. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

const header = (name: string): Parameter => ({ name, in: "header", type: "string", about: name });

const common = {
  kind: "page",
  open: true,
  group: "web",
  path,
  parameters: [header("cookie"), header("x-forwarded-proto")],
} as const;

export function sessionRoutes(options: SessionOptions): readonly Endpoint[] {
  const { authentication } = options;
  return [
    {
      ...common,
      method: "GET",
      name: "getSession",
      handle: async (request) => {
        const token = sessionToken(text(request, "cookie"), request.host);
        const identity = token && (await authentication.identityOf(`Bearer ${token}`));
        if (token !== undefined && identity) return described(options, { token, ...identity });
        return token === undefined
          ? described(options)
          : { ...described(options), ...ended(request) };
      },
    },
    // With an invite token, the user is created first; with a reset token, the password is set first.
    {
      ...common,
      method: "POST",
      name: "beginSession",
      body: {
        type: "object",
        properties: {
          token: { type: "string" },
          username: { type: "string", maxLength: 500 },
          password: { type: "string", maxLength: 2_000 },
          inviteToken: { type: "string", maxLength: 200 },
          fullName: { type: "string", maxLength: 2_000 },
          email: { type: "string", maxLength: 2_000 },
          resetToken: { type: "string", maxLength: 200 },
        },
      },
      bodyBytesMax,
      handle: async (request, { now }) => {
        const started = await startedBy(request, options);
        const token = started.token.trim();
        if (!TOKEN.test(token)) throw notToken();
        const authorization = `Bearer ${token}`;
        await authentication.authenticate({ authorization, address: request.address ?? "" });
        const identity = await authentication.identityOf(authorization);
        if (identity === undefined) throw notToken();
        const { expiresAt } = identity;
        const seconds =
          expiresAt === undefined
            ? undefined
            : Math.max(0, Math.floor((expiresAt - now()) / 1_000));
        return {
          ...described(options, { token, ...identity }),
          position: started.position,
          headers: { "set-cookie": sessionCookie({ token, seconds }, headersOf(request)) },
        };
      },
    },
    {
      ...common,
      method: "DELETE",
      name: "endSession",
      handle: async (request) => {
        const token = sessionToken(text(request, "cookie"), request.host);
        if (token !== undefined) await options.signIn?.sessions.end(token);
        return { ...described(options), ...ended(request) };
      },
    },
  ];
}

/** The access token of the request, or the new session of its user. */
async function startedBy(
  { body, address = "" }: ApiRequest,
  { signIn }: SessionOptions,
): Promise<Pick<StartedSession, "token" | "position">> {
  const { token, username: user, password, ...rest } = body as BeginBody;
  if (token !== undefined) return { token };
  if (signIn === undefined || !user || password === undefined) throw notToken();
  const { inviteToken, fullName = "", email = "", resetToken } = rest;
  if (inviteToken !== undefined) {
    const newUser = { urn: user, fullName, email, password, inviteToken };
    return await signIn.signUpAndLogIn(newUser, address);
  }
  const login = { user, password, address };
  return resetToken === undefined
    ? await signIn.logIn({ ...login, source: "PASSWORD_LOGIN" })
    : await signIn.resetAndLogIn(login, resetToken);
}

type BeginBody = Readonly<
  Partial<
    Record<
      "token" | "username" | "password" | "inviteToken" | "fullName" | "email" | "resetToken",
      string
    >
  >
>;

interface Session {
  readonly token: string;
  readonly actor: string;
  readonly expiresAt?: number | undefined;
}

function described(
  { authentication, actorHeaderTrusted, writeAuthorization, version }: SessionOptions,
  session?: Session,
): ApiResponse {
  const json = {
    signInRequired: authentication.required,
    authenticated: session !== undefined,
    actor: session?.actor ?? null,
    actorHeaderTrusted,
    writeAuthorization,
    csrfToken: session === undefined ? null : csrfToken(session.token),
    expiresAt: session?.expiresAt ?? null,
    version,
  };
  return { json: JSON.stringify(json), keep: false };
}

const ended = (request: ApiRequest): Pick<ApiResponse, "headers"> => ({
  headers: { "set-cookie": sessionCookie({ token: "", seconds: 0 }, headersOf(request)) },
});

const headersOf = (request: ApiRequest) => ({
  host: request.host,
  "x-forwarded-proto": text(request, "x-forwarded-proto"),
});

const text = ({ parameters }: ApiRequest, name: string): string | undefined =>
  ownValue(parameters, name)?.toString();

const notToken = (): CatalogError =>
  new CatalogError("unauthenticated", "the token is not one of this service", {
    hint: "Paste an access token; the root user's first one is in the file operator.token of the data directory",
  });
