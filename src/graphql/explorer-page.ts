/**
 * A page to try queries: query, variables, token, response. Its content security policy allows only its
 * own script and style, by hash, and requests to the same origin.
 */
import { createHash } from "node:crypto";

const style = `
:root { color-scheme: light dark; }
body { margin: 1.5rem auto; max-width: 60rem; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }
label { display: block; margin: 0.8rem 0 0.2rem; font-weight: 600; }
textarea, input { width: 100%; box-sizing: border-box; padding: 0.5rem; font: 0.9rem/1.5 ui-monospace, monospace; }
button { margin: 1rem 0; padding: 0.5rem 1.2rem; font: inherit; }
pre { padding: 1rem; border: 1px solid; border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; }
`;

const script = `
const field = (id) => document.getElementById(id);
field("run").addEventListener("click", async () => {
  const headers = { "Content-Type": "application/json" };
  const token = field("token").value.trim();
  if (token !== "") headers.Authorization = "Bearer " + token;
  try {
    const variables = JSON.parse(field("variables").value.trim() || "{}");
    const body = JSON.stringify({ query: field("query").value, variables });
    const response = await fetch(location.pathname, { method: "POST", headers, body });
    const text = await response.text();
    field("response").textContent = response.status + " " + JSON.stringify(JSON.parse(text), null, 2);
  } catch (error) {
    field("response").textContent = String(error);
  }
});
`;

const hash = (text: string): string =>
  `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export const explorerPage = {
  html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Annals: GraphQL</title>
<style>${style}</style>
</head>
<body>
<h1>GraphQL</h1>
<label for="query">Query</label>
<textarea id="query" rows="12" spellcheck="false">{ me { corpUser { urn } platformPrivileges { manageTokens } } }</textarea>
<label for="variables">Variables</label>
<textarea id="variables" rows="4" spellcheck="false">{}</textarea>
<label for="token">Token</label>
<input id="token" type="password" autocomplete="off">
<button id="run" type="button">Run</button>
<pre id="response" aria-live="polite">Nothing was asked yet.</pre>
<script>${script}</script>
</body>
</html>
`,
  contentSecurityPolicy: `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
} as const;
