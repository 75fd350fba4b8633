/**
 * Sign-in for DataHub's web container, which calls these paths with the credentials of the system client.
 * It sends JSON as text/plain.
 */
import type { Login, SignIn } from "../../../auth/sign-in/sign-in.ts";
import { CatalogError } from "../../../core/errors.ts";
import type {
  ApiRequest,
  ApiResponse,
  BodySchema,
  Endpoint,
  ErrorCase,
  Parameter,
  Schema,
} from "../../schemas/endpoint.ts";

const sourceHeader = "X-DataHubLoginSource";

/** Sources of the audit trail by the value of the header; other values are recorded as UNKNOWN. */
const loginSources: ReadonlyMap<string, string> = new Map([
  ["passwordLogin", "PASSWORD_LOGIN"],
  ["signUpLinkLogin", "SIGN_UP_LINK_LOGIN"],
  ["passwordReset", "PASSWORD_RESET"],
  ["ssoLogin", "SSO_LOGIN"],
  ["guestLogin", "GUEST_LOGIN"],
  ["fallbackLogin", "FALLBACK_LOGIN"],
]);

const parameters: readonly Parameter[] = [
  {
    name: sourceHeader,
    in: "header",
    type: "string",
    about: `How the user signs in, for the audit trail: ${[...loginSources.keys()].join(", ")}`,
  },
  {
    name: "X-Forwarded-For",
    in: "header",
    type: "string",
    about: "Address of the user's browser, for the audit trail and the limit of attempts",
  },
];

const malformed: ErrorCase = { code: "malformed", when: "the body is not JSON, or lacks a member" };
const limited: ErrorCase = { code: "rate_limited", when: "too many attempts have failed" };

const texts = (
  required: Readonly<Record<string, string>>,
  optional: Readonly<Record<string, string>> = {},
): BodySchema => ({
  type: "object",
  required: Object.keys(required),
  properties: Object.fromEntries(
    Object.entries({ ...required, ...optional }).map(([name, description]) => [
      name,
      { type: name in optional ? ["string", "null"] : "string", description, maxLength: 2_000 },
    ]),
  ),
});

const responseOf = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: "object",
  properties,
});

const common = { method: "POST", kind: "page", access: "system", errorForm: "openapi" } as const;

export function authRoutes(signIn: SignIn): readonly Endpoint[] {
  return [
    {
      ...common,
      path: "/auth/generateSessionTokenForUser",
      name: "generateSessionTokenForUser",
      summary: "Begin a session for a user who has signed in",
      about:
        "The token is an access token that is valid for a day. It ends when it is revoked, or when its user is suspended or deleted. With status 403, `loginDenialReason` is HARD_DELETED, SOFT_DELETED, SUSPENDED or NOT_PROVISIONED.",
      parameters,
      body: texts({ userId: "Name of the user: the last part of the urn" }),
      response: responseOf({ accessToken: { type: "string" } }),
      errors: [malformed, { code: "forbidden", when: "the user may not sign in" }],
      async handle(request) {
        const { userId } = request.body as { readonly userId: string };
        const begun = await signIn.beginSession(loginOf(request, userId));
        return "denial" in begun
          ? { ...json({ loginDenialReason: begun.denial }), status: 403 }
          : json({ accessToken: begun.token });
      },
    },
    {
      ...common,
      path: "/auth/verifyNativeUserCredentials",
      name: "verifyNativeUserCredentials",
      summary: "Check the password of a user",
      about:
        "Ten failed attempts for a user, or fifty from an address, are rejected for up to ten minutes.",
      parameters,
      body: texts({ userUrn: "The user", password: "The password" }),
      response: responseOf({
        doesPasswordMatch: { type: "boolean" },
        loginDenialReason: { type: "string" },
      }),
      errors: [malformed, limited],
      async handle(request) {
        const { userUrn, password } = request.body as Record<"userUrn" | "password", string>;
        const login = { ...loginOf(request, userUrn), password };
        const { matches, denial } = await signIn.verify(login);
        return json({ doesPasswordMatch: matches, loginDenialReason: denial });
      },
    },
    signUpRoute(signIn),
    resetRoute(signIn),
    ssoRoute(signIn),
    {
      ...common,
      path: "/auth/track",
      name: "trackUsage",
      summary: "Accept a usage event of DataHub's web application; nothing is stored",
      body: {
        type: "object",
        properties: { type: { type: "string", description: "Type of the event" } },
      },
      errors: [],
      handle: () => ({}),
    },
  ];
}

const signUpRoute = (signIn: SignIn): Endpoint => ({
  ...common,
  path: "/auth/signUp",
  name: "signUp",
  summary: "Create a user with a password, with an invite token",
  about: "The user gets the role of the invite. An invite is valid for one user and seven days.",
  writes: true,
  parameters,
  body: texts(
    {
      userUrn: "The new user",
      fullName: "Full name",
      email: "E-mail address",
      password: "Password of at least 8 characters",
      inviteToken: "Token of the GraphQL fields createInviteToken and getInviteToken",
    },
    { title: "Job title" },
  ),
  response: responseOf({ isNativeUserCreated: { type: "boolean" } }),
  errors: [
    malformed,
    { code: "invalid", when: "the invite token is not valid, or the password is too short" },
    { code: "conflict", when: "the user exists" },
  ],
  async handle(request) {
    const { userUrn, title, ...rest } = request.body as SignUpBody;
    const user = { ...rest, urn: userUrn, title: title ?? undefined };
    const position = await signIn.signUp(user);
    return { ...json({ isNativeUserCreated: true }), position };
  },
});

interface SignUpBody {
  readonly userUrn: string;
  readonly fullName: string;
  readonly email: string;
  readonly password: string;
  readonly inviteToken: string;
  readonly title?: string | null;
}

const resetRoute = (signIn: SignIn): Endpoint => ({
  ...common,
  path: "/auth/resetNativeUserCredentials",
  name: "resetNativeUserCredentials",
  summary: "Set a new password, with a reset token",
  about:
    "A reset token is valid once and for a day. The sessions of the user end. A suspended user cannot reset the password.",
  parameters,
  body: texts({
    userUrn: "The user",
    password: "Password of at least 8 characters",
    resetToken: "Token of the GraphQL field createNativeUserResetToken",
  }),
  response: responseOf({ areNativeUserCredentialsReset: { type: "boolean" } }),
  errors: [
    malformed,
    { code: "invalid", when: "the reset token is not valid, or the password is too short" },
  ],
  async handle({ body }) {
    const { userUrn, password, resetToken } = body as Record<string, string>;
    await signIn.resetPassword(userUrn ?? "", password ?? "", resetToken ?? "");
    return json({ areNativeUserCredentialsReset: true });
  },
});

const ssoRoute = (signIn: SignIn): Endpoint => ({
  ...common,
  path: "/auth/getSsoSettings",
  name: "getSsoSettings",
  summary: "The stored settings of single sign-on, with the secret of the client",
  body: { type: "object", properties: {} },
  response: responseOf({
    baseUrl: { type: "string" },
    oidcEnabled: { type: "boolean" },
    clientId: { type: "string" },
    clientSecret: { type: "string" },
    discoveryUri: { type: "string" },
  }),
  errors: [{ code: "not_found", when: "no settings are stored, which is usual" }],
  missing: true,
  async handle() {
    const settings = await signIn.ssoSettings();
    if (settings === undefined) {
      throw new CatalogError("not_found", "no settings of single sign-on are stored", {
        hint: 'Write the member "sso" of globalSettingsInfo of urn:li:globalSettings:0',
      });
    }
    const { enabled, ...oidc } = settings.oidcSettings ?? {};
    const shown = { baseUrl: settings.baseUrl, oidcEnabled: enabled ?? false, ...oidc };
    return { ...json(shown), keep: false };
  },
});

const json = (value: object): ApiResponse => ({ json: JSON.stringify(value), keep: false });

/**
 * The login of a request. The caller is the system client, so the address in X-Forwarded-For is
 * trusted.
 */
function loginOf({ parameters, address }: ApiRequest, user: string): Omit<Login, "password"> {
  const named = parameters as Readonly<Record<string, string | undefined>>;
  const source = loginSources.get(named[sourceHeader] ?? "") ?? "UNKNOWN";
  // Proxies append an address. The earlier ones come from the browser, which may send any.
  const last = named["X-Forwarded-For"]?.split(",").at(-1)?.trim();
  return { user, source, address: last?.slice(0, 60) || (address ?? "") };
}
