/** Names the page in the title of the window, for tabs, bookmarks and screen readers. */
import { useEffect } from "react";
import { useSummary } from "../api/entities.ts";

const titles = new Map([
  ["/", "Home"],
  ["/ui/search", "Search"],
  ["/ui/browse", "Browse"],
  ["/ui/log", "Log"],
  ["/ui/runs", "Runs"],
  ["/ui/views", "Views and jobs"],
  ["/ui/access", "Access"],
  ["/ui/signin", "Sign in"],
  ["/ui/signup", "Create your account"],
  ["/ui/reset", "Set a new password"],
  ["/api/graphiql", "GraphQL"],
]);

/** The urn in the path of an entity page; an empty text for another page. */
function urnOfPath(path: string): string {
  const [, , kind, urn = ""] = path.split("/");
  try {
    return kind === "entity" ? decodeURIComponent(urn) : "";
  } catch {
    return "";
  }
}

export function PageTitle({ path }: { readonly path: string }) {
  const urn = urnOfPath(path);
  const { name } = useSummary(urn);
  const title = urn === "" ? (titles.get(path) ?? "Not found") : name;
  useEffect(() => {
    document.title = `${title} · Annals`;
  }, [title]);
  return null;
}
