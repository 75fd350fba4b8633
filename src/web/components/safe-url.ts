/** Addresses from metadata that a link may lead to. */

/** The address if its scheme is http, https or mailto; undefined for any other. */
export function safeUrl(text: string): string | undefined {
  try {
    const url = new URL(text.trim());
    return /^(https?|mailto):$/.test(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}
