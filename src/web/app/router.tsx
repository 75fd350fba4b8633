/** The pages and their URLs. Pages load on demand, except Home and Search. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { entityQuery } from "../api/entities.ts";
import { sessionStore } from "../api/http.ts";
import { privilegesQuery } from "../api/privileges.ts";
import { Failure, NotFound, PageLoading } from "../components/states.tsx";
import { preloadTab } from "../pages/entity/tab-pages.ts";
import { HomePage } from "../pages/home/home-page.tsx";
import { queries } from "./queries.ts";
import { Shell } from "./shell.tsx";
import { beginsSession } from "./sign-in-paths.ts";
import { formatUrlQuery, listOf, parseUrlQuery, type UrlQuery } from "./url-query.ts";

const root = createRootRoute({
  component: Shell,
  // Before a page is mounted, so that it sends no request without a session.
  beforeLoad: ({ location }) => {
    const { signInRequired, authenticated } = sessionStore.get();
    if (!signInRequired || authenticated || beginsSession(location.pathname)) return;
    throw redirect({ to: "/ui/signin", search: { to: location.href } });
  },
  notFoundComponent: NotFound,
  validateSearch: (query: Record<string, unknown>) => query as UrlQuery,
});

const EntityPage = lazyRouteComponent(() => import("../pages/entity/entity-page.tsx"));

const page = (path: string, component: ReturnType<typeof lazyRouteComponent> | typeof HomePage) =>
  createRoute({ getParentRoute: () => root, path, component });

/** The entity, the code of its page and the code of its tab load at the same time. */
const entity = createRoute({
  getParentRoute: () => root,
  path: "/ui/entity/$urn/{-$tab}",
  component: EntityPage,
  loaderDeps: ({ search }) => ({ asOf: listOf(search.asOf)[0] }),
  loader: async ({ params: { urn, tab }, deps: { asOf } }) => {
    // The page itself reports an entity that cannot be read.
    const entityRead = queries.ensureQueryData(entityQuery(urn, asOf)).catch(() => undefined);
    if (sessionStore.get().signInRequired) void queries.prefetchQuery(privilegesQuery(urn));
    await Promise.all([entityRead, preloadTab(tab)]);
  },
});

const routes = [
  page(
    "/api/graphiql",
    lazyRouteComponent(() => import("../pages/graphiql/graphiql-page.tsx")),
  ),
  page("/", HomePage),
  createRoute({
    getParentRoute: () => root,
    path: "/ui",
    beforeLoad: () => {
      throw redirect({ to: "/" });
    },
  }),
  page(
    "/ui/search",
    lazyRouteComponent(() => import("../pages/search/search-page.tsx")),
  ),
  entity,
  page(
    "/ui/signin",
    lazyRouteComponent(() => import("../pages/signin/signin-page.tsx")),
  ),
  page(
    "/ui/signup",
    lazyRouteComponent(() => import("../pages/signin/new-password-page.tsx"), "SignUpPage"),
  ),
  page(
    "/ui/reset",
    lazyRouteComponent(() => import("../pages/signin/new-password-page.tsx"), "ResetPage"),
  ),
  page(
    "/ui/browse",
    lazyRouteComponent(() => import("../pages/browse/browse-page.tsx")),
  ),
  page(
    "/ui/log",
    lazyRouteComponent(() => import("../pages/log/log-page.tsx")),
  ),
  page(
    "/ui/runs",
    lazyRouteComponent(() => import("../pages/runs/runs-page.tsx")),
  ),
  page(
    "/ui/views",
    lazyRouteComponent(() => import("../pages/views/views-page.tsx")),
  ),
  page(
    "/ui/access",
    lazyRouteComponent(() => import("../pages/access/access-page.tsx")),
  ),
];

export const router = createRouter({
  routeTree: root.addChildren(routes),
  parseSearch: parseUrlQuery,
  stringifySearch: (query) => formatUrlQuery(query as UrlQuery),
  defaultPreload: "intent",
  // The cache of queries decides whether a response is fresh.
  defaultPreloadStaleTime: 0,
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: ({ error }) => <Failure error={error} />,
  scrollRestoration: true,
});

/** Loads the code of the entity page before somebody opens one. */
export const preloadEntityPage = (): void => {
  void router.loadRouteChunk(entity);
  void preloadTab(undefined);
};
