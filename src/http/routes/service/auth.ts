/**
 * Sign-in for DataHub's web container, which calls these paths with the credentials of the system client.
 * It sends JSON as text/plain.
 */
import type { Login, SignIn } from "../../../auth/sign-in/sign-in.ts";
import { CatalogError } from "../../../core/errors.ts";
import {
  type ApiRequest,
  type ApiResponse,
  type BodySchema,
  type Endpoint,
  type Parameter,
  text,
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

const common = { method: "POST", kind: "page", access: "system", errorForm: "openapi" } as const;

export function authRoutes(signIn: SignIn): readonly Endpoint[] {
  return [
    {
      ...common,
      path: "/auth/generateSessionTokenForUser",
      name: "generateSessionTokenForUser",
      parameters,
      body: texts({ userId: "Name of the user: the last part of the urn" }),
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
      parameters,
      body: texts({ userUrn: "The user", password: "The password" }),
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
      body: {
        type: "object",
        properties: { type: text("Type of the event") },
      },
      handle: () => ({}),
    },
  ];
}

const signUpRoute = (signIn: SignIn): Endpoint => ({
  ...common,
  path: "/auth/signUp",
  name: "signUp",
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
  parameters,
  body: texts({
    userUrn: "The user",
    password: "Password of at least 8 characters",
    resetToken: "Token of the GraphQL field createNativeUserResetToken",
  }),
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
  body: { type: "object", properties: {} },
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
