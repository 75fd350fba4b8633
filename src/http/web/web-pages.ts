/** Pages that the service shows while the browser application is not built: it is being built, failed or absent. */
import { createHash } from "node:crypto";
import { escaped } from "../docs/docs-text.ts";
import type { ApiResponse } from "../schemas/endpoint.ts";

const style = `
:root { color-scheme: light dark; }
body { margin: 20vh auto 0; max-width: 36rem; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }
pre { padding: 1rem; border: 1px solid; border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; }
`;
const hash = createHash("sha256").update(style).digest("base64");
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Seconds between two requests of a page that waits for the build. */
const refreshSeconds = 2;

interface Shown {
  readonly title: string;
  /** HTML. */
  readonly text: string;
  readonly status?: number;
  readonly refresh?: boolean;
}

const page = ({ title, text, status, refresh = false }: Shown): ApiResponse => ({
  status,
  keep: false,
  contentSecurityPolicy,
  html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refresh ? `<meta http-equiv="refresh" content="${refreshSeconds}">\n` : ""}<title>Annals: ${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${text}
</main>
</body>
</html>
`,
});

const elsewhere = `<p>The API works meanwhile: <a href="/restli/docs">documentation</a>.</p>`;

export const buildingPage: ApiResponse = page({
  title: "The catalog's page is being built",
  text: `<p>This takes a few seconds after an update. The page reloads by itself.</p>${elsewhere}`,
  refresh: true,
});

export const failedPage = (failure: string): ApiResponse =>
  page({
    title: "The catalog's page could not be built",
    text: `<p>Fix the error, then start the service again or run <code>npm run build:web</code>.</p><pre>${escaped(failure)}</pre>${elsewhere}`,
    status: 503,
  });

export const absentPage: ApiResponse = page({
  title: "The catalog's page is not built",
  text: `<p>Build it with <code>npm run build:web</code>, then start the service again.</p>${elsewhere}`,
  status: 503,
});
