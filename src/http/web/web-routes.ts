/**
 * The browser application: its page at `/` and below `/ui/`, and its files below `/ui/assets/`. The API documentation
 * does not list them.
 */
import { CatalogError } from "../../core/errors.ts";
import type { ApiRequest, ApiResponse, Endpoint } from "../schemas/endpoint.ts";
import type { WebFiles } from "./web-files.ts";
import { absentPage, buildingPage, failedPage } from "./web-pages.ts";

export interface WebApp {
  /** The files of the newest build. */
  readonly files: () => WebFiles;
  readonly build: () => WebBuild;
}

/** The state of a build that this process has started. */
export interface WebBuild {
  readonly building: boolean;
  /** Output of the last build, if it failed. */
  readonly failure?: string | undefined;
}

/** Files with a hash of their content in their names. */
const ASSETS = "assets/";
const YEAR_SECONDS = 31_536_000;

/** Editor and charts set styles on elements; scripts come from files only. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const common = {
  method: "GET",
  kind: "page",
  open: true,
  group: "web",
  responseType: "text/html",
} as const;

/** Without the application, `/` redirects to the documentation. */
export function webRoutes(web: WebApp | undefined): readonly Endpoint[] {
  if (web === undefined) return [redirect];
  return [
    {
      ...common,
      path: "/",
      name: "getHomePage",
      handle: () => page(web),
    },
    {
      ...common,
      path: "/ui",
      name: "getPageRoot",
      handle: () => page(web),
    },
    {
      ...common,
      path: "/api/graphiql",
      name: "getGraphiql",
      handle: () => page(web),
    },
    {
      ...common,
      path: "/ui/{*}",
      name: "getPage",
      parameters: [
        {
          name: "accept-encoding",
          in: "header",
          type: "string",
          about: "Codings of the response",
        },
      ],
      handle: async (request) => (await file(web, request)) ?? page(web),
    },
  ];
}

const redirect: Endpoint = {
  ...common,
  path: "/",
  name: "getHomePage",
  handle: () => ({ status: 302, headers: { location: "restli/docs" }, keep: false }),
};

function page({ files, build }: WebApp): ApiResponse {
  const { building, failure } = build();
  if (failure !== undefined) return failedPage(failure);
  const { page } = files();
  if (page !== undefined) return { html: page.text, fixed: page, contentSecurityPolicy };
  return building ? buildingPage : absentPage;
}

/** Undefined for the path of a page. */
async function file(
  web: WebApp,
  { path, parameters }: ApiRequest,
): Promise<ApiResponse | undefined> {
  const name = path["*"] ?? "";
  const hashed = name.startsWith(ASSETS);
  const file = await web.files().open(name, String(parameters["accept-encoding"] ?? ""));
  if (file === undefined) {
    if (!hashed) return undefined;
    throw new CatalogError("not_found", `the browser application has no file "${shown(name)}"`, {
      hint: "Reload the page: a newer version may have replaced the file",
    });
  }
  return {
    file,
    contentSecurityPolicy,
    headers: {
      "cache-control": hashed ? `public, max-age=${YEAR_SECONDS}, immutable` : "no-cache",
    },
  };
}

const shown = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}…` : name);
