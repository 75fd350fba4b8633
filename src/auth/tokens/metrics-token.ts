/** The token of --metrics-token-file: it may read /metrics and nothing else, so that it can be given to Prometheus. */
import { admitsToken, readTokenFile } from "./operator-token.ts";
import { keepFromOthers, type Warning } from "./secret-file.ts";

/**
 * Returns whether an Authorization header carries the token; undefined without a file. Throws `invalid` for a file
 * that cannot be read, that others may write, or that holds no token.
 */
export function openMetricsToken(
  file: string,
  logger: Warning,
): ((authorization: string | undefined) => boolean) | undefined {
  if (file === "") return undefined;
  const text = readTokenFile(file, "--metrics-token-file");
  keepFromOthers({ file, own: false }, logger);
  return admitsToken(text, file);
}
