/**
 * A page to try queries: query, variables, token, response. Its content security policy allows only its
 * own script and style, by hash, and requests to the same origin.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const html = readFileSync(new URL("./explorer.html", import.meta.url), "utf8");

const hashOf = (element: "script" | "style"): string => {
  const [, text = ""] = new RegExp(`<${element}>(.*)</${element}>`, "s").exec(html) ?? [];
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
};

export const explorerPage = {
  html,
  contentSecurityPolicy: `default-src 'none'; script-src ${hashOf("script")}; style-src ${hashOf("style")}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
} as const;
