/** Errors of the schema registry, with the error numbers of its API. */
import { CatalogError, type ErrorCode } from "../core/errors.ts";

export class RegistryError extends CatalogError {
  /** Error number of the registry API: 40401 is an unknown subject. */
  readonly registryCode: number;

  constructor(
    code: ErrorCode,
    registryCode: number,
    message: string,
    options: { hint?: string; cause?: unknown } = {},
  ) {
    super(code, message, options);
    this.registryCode = registryCode;
  }
}

export const noSubject = (subject: string): RegistryError =>
  new RegistryError("not_found", 40401, `Subject '${subject.slice(0, 120)}' not found.`);

export const noVersion = (version: string): RegistryError =>
  new RegistryError("not_found", 40402, `Version ${version.slice(0, 40)} not found.`);

export const noSchema = (): RegistryError =>
  new RegistryError("not_found", 40403, "Schema not found");

export const invalidSchema = (why: string, cause?: unknown): RegistryError =>
  new RegistryError("invalid", 42201, `Invalid schema: ${why}`, { cause });

export const invalidVersion = (version: string): RegistryError =>
  new RegistryError(
    "invalid",
    42202,
    `The specified version '${version.slice(0, 40)}' is not a valid version id`,
    { hint: 'Send a number from 1, or "latest"' },
  );

export const invalidLevel = (level: string, levels: readonly string[]): RegistryError =>
  new RegistryError("invalid", 42203, `Invalid compatibility level '${level.slice(0, 40)}'`, {
    hint: `Send one of ${levels.join(", ")}`,
  });
