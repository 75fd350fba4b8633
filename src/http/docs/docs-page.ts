/**
 * The page at /restli/docs: every endpoint with an example call. One HTML text without scripts or
 * external resources; the policy admits its style by hash.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ErrorCode } from "../../core/errors.ts";
import { boundedCache } from "../../lib/bounded-cache.ts";
import { type ErrorForm, errorFormOf, statusesOf, statusOf } from "../response/errors.ts";
import { createFixedText, type FixedText } from "../response/fixed-text.ts";
import { type RouteTable, resourceOf } from "../route-table.ts";
import type { ApiResponse, Endpoint, Schema } from "../schemas/endpoint.ts";
import { renderFilters } from "./docs-filters.ts";
import { type EntityOutline, renderModel } from "./docs-model.ts";
import { escaped, prose } from "./docs-text.ts";
import {
  type DocsOf,
  type EndpointDocs,
  type ErrorCase,
  type Example,
  readEndpointDocs,
} from "./endpoint-docs.ts";
import texts from "./texts.json" with { type: "json" };

/** Placeholder for the authority of the request. */
const HOST = "\u0001host\u0001";
/** A Host header that needs no escaping. */
const PLAIN_HOST = /^[A-Za-z0-9.:[\]_-]{1,255}$/;
const textOf = (file: string): string =>
  readFileSync(new URL(`./${file}`, import.meta.url), "utf8");

const style = textOf("docs.css");
const usualHost = "localhost:8080";

/** Cached pages, by host. */
const cachedPagesMax = 8;

interface DocsOptions {
  /** The service's own version. */
  readonly version: string;
  readonly urnNamespace: string;
  readonly entities: readonly EntityOutline[];
}

/** Returns the page, with examples that call the request's host. */
export function createDocsPage(
  table: RouteTable,
  options: DocsOptions,
): (host: string | undefined) => ApiResponse {
  let page: string | undefined;
  const hash = createHash("sha256").update(style).digest("base64");
  const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  const pages = boundedCache<string, FixedText>(cachedPagesMax);
  const pageFor = (host: string): FixedText => {
    page ??= renderPage(table, options);
    return createFixedText(page.replaceAll(HOST, host));
  };
  return (host) => {
    const shown = host !== undefined && PLAIN_HOST.test(host) ? host : usualHost;
    const fixed = pages.get(shown) ?? pageFor(shown);
    pages.set(shown, fixed);
    return { html: fixed.text, fixed, contentSecurityPolicy };
  };
}

interface Group {
  readonly name: string;
  readonly about: string;
  readonly endpoints: readonly Endpoint[];
}

function renderPage(table: RouteTable, options: DocsOptions): string {
  const { version, urnNamespace, entities } = options;
  const docsOf = readEndpointDocs();
  const groups: readonly Group[] = [
    ...table.resources.map(({ name, about }) => ({
      name: `/${name}`,
      about,
      endpoints: table.endpoints.filter((e) => e.kind !== "page" && resourceOf(e) === name),
    })),
    ...pageGroups.map(({ name, about, group }) => ({
      name,
      about,
      endpoints: table.endpoints.filter((e) => e.kind === "page" && e.group === group),
    })),
  ].filter(({ endpoints }) => endpoints.length > 0);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Annals: HTTP interface</title>
<style>${style}</style>
</head>
<body>
<header><h1>Annals</h1><p>A metadata catalog whose log is the truth. Version ${escaped(version)}.</p></header>
<nav aria-label="Contents">${sections}${groups.map(renderIndex).join("")}</nav>
<main>
${textOf("introduction.html")}
${renderCodes()}
${renderFilters()}
${groups.map((group) => renderGroup(group, docsOf)).join("\n")}
${renderModel(entities, urnNamespace)}
</main>
</body>
</html>
`;
}

const pageGroups: readonly (Omit<Group, "endpoints"> & Pick<Endpoint, "group">)[] = [
  { name: "Changes", about: "Follow changes from any position of the log.", group: "changes" },
  {
    name: "Schema registry",
    about:
      "Schema registry for producers and consumers: set their `schema.registry.url` to `/schema-registry/api` of this service. Errors are `{error_code, message}`.",
    group: "schema registry",
  },
  {
    name: "OpenAPI",
    about:
      "The catalog in the form of DataHub's OpenAPI: entities as `{urn, <aspect>: {value}}`. Errors are those of all other endpoints.",
    group: "OpenAPI",
  },
  { name: "Service", about: "The service itself, and access tokens.", group: undefined },
];

const sections = `<h2>About</h2><ul>
<li><a href="#basics">Basics</a></li><li><a href="#errors">Errors</a></li>
<li><a href="#filters">Filters</a></li><li><a href="#model">Entities and aspects</a></li></ul>`;

const errorCodes: Readonly<Record<ErrorCode, string>> = texts.errorCodes;

function renderCodes(): string {
  const rows = Object.entries(statusOf).map(
    ([code, status]) =>
      `<tr><td>${status}</td><td><code>${code}</code></td><td>${errorCodes[code as ErrorCode]}</td></tr>`,
  );
  const body = {
    status: 400,
    message: "Parameter 'count' is required",
    exceptionClass: "…",
    code: "malformed",
  };
  return `<section id="errors"><h2>Errors</h2>
<p>A rejected request changes nothing. The message names the invalid value, and how to correct it.</p>
<pre>${escaped(JSON.stringify(body, null, 2))}</pre>
<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table></section>`;
}

const anchor = (endpoint: Endpoint): string =>
  endpoint.kind === "page" ? endpoint.name : `${resourceOf(endpoint)}-${endpoint.name}`;

function renderIndex({ name, endpoints }: Group): string {
  const items = endpoints.map(
    (endpoint) =>
      `<li><a href="#${anchor(endpoint)}">${endpoint.kind === "delete" ? "delete " : ""}${escaped(titleOf(endpoint))}</a></li>`,
  );
  return `<h2>${escaped(name)}</h2><ul>${items.join("")}</ul>`;
}

function titleOf({ kind, name, path }: Endpoint): string {
  if (kind === "action") return name;
  return kind === "batch_get" ? `${path}?ids=` : path;
}

function renderGroup({ name, about, endpoints }: Group, docsOf: DocsOf): string {
  const articles = endpoints.map((endpoint) => renderEndpoint(endpoint, docsOf(endpoint)));
  return `<section><h2>${escaped(name)}</h2><p>${prose(about)}</p>${articles.join("\n")}</section>`;
}

function renderEndpoint(endpoint: Endpoint, docs: EndpointDocs): string {
  const { method, kind, path, name } = endpoint;
  const { summary, about, deprecated, errors, example } = docs;
  const target = kind === "action" ? `${path}?action=${name}` : titleOf(endpoint);
  const response =
    endpoint.responseType !== undefined
      ? ""
      : example.response === undefined
        ? `<h4>Response</h4><p>${endpoint.status ?? 200} with an empty body.</p>`
        : `<h4>Response</h4><pre>${escaped(JSON.stringify(example.response, null, 2))}</pre>`;
  return `<article id="${anchor(endpoint)}">
<h3><span class="${method.toLowerCase()}">${method}</span> <code>${escaped(target)}</code></h3>
${deprecated === undefined ? "" : `<p><strong>Deprecated.</strong> ${prose(deprecated)}</p>\n`}<p><strong>${prose(summary)}.</strong> ${prose(about ?? "")}</p>
${renderParameters(endpoint)}
<h4>Example</h4><pre class="call">${escaped(callOf(endpoint, example))}</pre>
${response}
${renderErrors(errors, errorFormOf(endpoint))}
</article>`;
}

function renderParameters({ parameters = [], body }: Endpoint): string {
  const rows = [
    ...parameters.map(({ name, in: place, type, required, about }) => ({
      name,
      type: `${type === "strings" ? "list" : type}, ${place}`,
      required: required === true,
      about,
    })),
    ...(body === undefined
      ? []
      : body.type === "array"
        ? membersOf(body.items, "[].", 0)
        : membersOf(body, "", 0)),
  ];
  if (rows.length === 0) return "";
  const shown = rows.map(
    ({ name, type, required, about }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${escaped(type)}${required ? ", <b>required</b>" : ""}</td><td>${prose(about)}</td></tr>`,
  );
  return `<h4>Parameters</h4><table><thead><tr><th>Name</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${shown.join("")}</tbody></table>`;
}

interface Row {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly about: string;
}

/** Deeper members are part of the model. */
const memberDepthMax = 2;

/** Members of a body; those of nested records by path: `proposals[].entityUrn`. */
function membersOf(schema: Schema, prefix: string, depth: number): readonly Row[] {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
  const required = (schema.required ?? []) as readonly string[];
  return Object.entries(properties).flatMap(([name, member]) => {
    const items = member.items as Schema | undefined;
    const inner = items ?? member;
    const path = `${prefix}${name}`;
    const row: Row = {
      name: path,
      type: typeOf(member),
      required: required.includes(name),
      about: String(member.description ?? inner.description ?? ""),
    };
    if (depth === memberDepthMax) return [row];
    return [row, ...membersOf(inner, `${path}${items === undefined ? "" : "[]"}.`, depth + 1)];
  });
}

function typeOf(schema: Schema): string {
  if (Array.isArray(schema.enum))
    return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array") return `list of ${typeOf(schema.items as Schema)}`;
  return Array.isArray(schema.type) ? schema.type.join(" or ") : String(schema.type ?? "any");
}

function renderErrors(errors: readonly ErrorCase[], form: ErrorForm | undefined): string {
  if (errors.length === 0) return "";
  const rows = errors.map(
    ({ code, when }) =>
      `<tr><td>${statusesOf(code, form).join(", ")}</td><td><code>${code}</code></td><td>${prose(when)}</td></tr>`,
  );
  return `<h4>Errors</h4><table><tbody>${rows.join("")}</tbody></table>`;
}

/** The example as a shell command. */
export function callOf(
  { method, access }: Pick<Endpoint, "method" | "access">,
  example: Example,
  base = `http://${HOST}`,
): string {
  const url = quoted(`${base}${example.path}`);
  const shown = `-H "Authorization: Bearer $(cat data/operator.token)"`;
  const showing = access === "operator" ? ` \\\n  ${shown}` : "";
  if (method === "GET") return `curl ${url}${showing}`;
  if (method === "HEAD") return `curl -I ${url}${showing}`;
  if (method === "DELETE") return `curl -X DELETE ${url}${showing}`;
  const body = quoted(JSON.stringify(example.body ?? {}, null, 2));
  const actor =
    example.actor === undefined ? "" : `-H ${quoted(`X-Service-Actor: ${example.actor}`)} \\\n  `;
  return `curl -X ${method} ${url}${showing} \\\n  ${actor}-H 'Content-Type: application/json' \\\n  -d ${body}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
