/** Opens authentication and authorization: keys and tokens of a data directory, over a catalog. */
import type { Catalog } from "../catalog/catalog.ts";
import type { EntityState } from "../core/entity-state.ts";
import { lifetimeOf, type TokenDuration } from "../lib/token-durations.ts";
import type { AuditTrail } from "./audit.ts";
import { type Authority, createAuthority } from "./policies/authority.ts";
import type { FixedPolicies } from "./policies/fixed-policies.ts";
import { createFailureLimit, createRequestLimit, type RequestLimit } from "./rate-limits.ts";
import { createSignIn, type SignIn } from "./sign-in/sign-in.ts";
import type { SystemClient } from "./sign-in/system-client.ts";
import { createStoredEntities, type StoredEntities } from "./stored-entities.ts";
import { type AccessTokens, createAccessTokens } from "./tokens/access-tokens.ts";
import { type Authentication, createAuthentication } from "./tokens/authentication.ts";
import { openKeys } from "./tokens/key-file.ts";
import type { OperatorToken } from "./tokens/operator-token.ts";
import { createSecretCipher, type SecretCipher } from "./tokens/secret-cipher.ts";
import { createTokenFormat } from "./tokens/token-format.ts";

interface AccessOptions {
  /** The unrestricted catalog, which holds users, policies and tokens. */
  readonly catalog: Catalog;
  /** The newest state of an entity that is in memory. */
  readonly peek?: ((urn: string) => EntityState | undefined) | undefined;
  /** Changes with every write that this node knows of; undefined when unknown. */
  readonly entitiesVersion?: (() => number | undefined) | undefined;
  readonly data: string;
  /** Configured file with the keys of tokens; empty for `signing.key` in the data directory. */
  readonly signingKeyFile: string;
  /** Configured file with the keys of secrets; empty for `secret.key` in the data directory. */
  readonly secretKeyFile: string;
  readonly operatorToken: Pick<OperatorToken, "admits">;
  readonly systemClient: Pick<SystemClient, "admits">;
  /** True when all routes need a token, except open ones. */
  readonly required: boolean;
  readonly namespace: string;
  readonly fixedPolicies: FixedPolicies;
  readonly tokenDurationMax: TokenDuration;
  /** Limit per user or address; 0 for none. */
  readonly requestsPerSecondMax: number;
  readonly audit: Pick<AuditTrail, "record" | "recordUse">;
  readonly logger: { warn(fields: object, message: string): void };
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface OpenedAccess {
  readonly authentication: Authentication;
  readonly authority: Authority;
  readonly tokens: AccessTokens;
  readonly secrets: SecretCipher;
  readonly entities: StoredEntities;
  readonly limit: RequestLimit | undefined;
  readonly signIn: SignIn;
}

/** Throws `invalid` for keys that cannot be read or used; the service does not start then. */
export function openAccess(options: AccessOptions): OpenedAccess {
  const { catalog, namespace, now } = options;
  const { data, logger: log } = options;
  const keys = openKeys({
    data,
    name: "signing.key",
    configuredFile: options.signingKeyFile,
    logger: log,
  });
  const secretKeys = openKeys({
    ...{ data, name: "secret.key" },
    ...{ configuredFile: options.secretKeyFile, logger: log },
  });
  const format = createTokenFormat(keys, { namespace });
  const entities = createStoredEntities(catalog);
  const failures = createFailureLimit(now);
  const { required, operatorToken, systemClient, logger } = options;
  const tokens = createAccessTokens({
    catalog,
    entities,
    format,
    namespace,
    now,
    durationMax: options.tokenDurationMax,
  });
  return {
    entities,
    secrets: createSecretCipher(secretKeys),
    limit: createRequestLimit(options.requestsPerSecondMax, now),
    authority: createAuthority(entities, { namespace, fixedPolicies: options.fixedPolicies }),
    tokens,
    signIn: createSignIn({ ...options, tokens, entities }),
    authentication: createAuthentication({
      required,
      operatorToken,
      systemClient,
      format,
      entities,
      failures,
      namespace,
      now,
      logger,
      peek: options.peek,
      entitiesVersion: options.entitiesVersion,
      lifeMax: lifetimeOf(options.tokenDurationMax),
      noteUse: options.audit.recordUse,
    }),
  };
}
