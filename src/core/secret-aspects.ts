/**
 * Entity types and aspects that contain secrets: tokens and their records, passwords, keys of other
 * services. Topics in Kafka never contain them, because every consumer of the brokers reads the topics.
 * src/auth lists the privileges that are required to read them.
 */
import type { Change } from "./change.ts";

/** Entity types whose aspects are all secret. */
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
