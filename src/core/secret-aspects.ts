/**
 * What of the model holds secrets: tokens and their records, passwords, keys of other services. Topics in
 * Kafka never carry it, as every consumer of the brokers reads them; auth/withheld.ts says which
 * privilege shows it.
 */
import type { Change } from "./change.ts";

/** Entity types of which every aspect is secret. */
export const secretEntityTypes: ReadonlySet<string> = new Set([
  ...["dataHubAccessToken", "dataHubSecret", "inviteToken"],
]);

export const secretAspects: ReadonlySet<string> = new Set([
  // Salt, hash and reset token of a password.
  "corpUserCredentials",
  // encryptedBlob
  "dataHubConnectionDetails",
  // clientSecret of the OIDC provider.
  "globalSettingsInfo",
  // customHeaders, which authenticate to the server.
  "mcpServerProperties",
]);

export const holdsSecret = ({
  entityType,
  aspect,
}: Pick<Change, "entityType" | "aspect">): boolean =>
  secretEntityTypes.has(entityType) || secretAspects.has(aspect);
