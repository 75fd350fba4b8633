/** Browses the catalog: platforms and folders as a tree, and the entities that organize others. */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useSummary } from "../../api/entities.ts";
import { search } from "../../api/search.ts";
import { createDomain, createGroup, createTag, createTerm } from "../../api/writes.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { Dialog } from "../../components/dialog.tsx";
import { EntityLabel } from "../../components/entity-link.tsx";
import { Icon } from "../../components/icon.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { announceError } from "../../components/toasts.tsx";
import { PlatformTree } from "./platform-tree.tsx";
import "./browse.css";

interface Section {
  readonly id: string;
  readonly label: string;
  readonly types: readonly string[];
  readonly create?: { readonly noun: string; readonly run: (name: string) => Promise<string> };
}

const sections: readonly Section[] = [
  { id: "platforms", label: "Platforms", types: [] },
  {
    id: "domains",
    label: "Domains",
    types: ["domain"],
    create: { noun: "domain", run: (name) => createDomain(name) },
  },
  { id: "products", label: "Data products", types: ["dataProduct"] },
  {
    id: "glossary",
    label: "Glossary",
    types: ["glossaryNode", "glossaryTerm"],
    create: { noun: "term", run: (name) => createTerm(name) },
  },
  { id: "tags", label: "Tags", types: ["tag"], create: { noun: "tag", run: createTag } },
  { id: "users", label: "Users", types: ["corpuser"] },
  {
    id: "groups",
    label: "Groups",
    types: ["corpGroup"],
    create: { noun: "group", run: createGroup },
  },
];

export default function BrowsePage() {
  const url = useSearch({ strict: false }) as UrlQuery;
  const wanted = listOf(url.section)[0];
  const section = sections.find(({ id }) => id === wanted) ?? sections[0];
  if (section === undefined) return null;
  return (
    <div className="page">
      <header className="page-head">
        <h1>Browse</h1>
        {section.create !== undefined && <CreateButton {...section.create} />}
      </header>
      <nav className="tabs" aria-label="Kinds of entities">
        {sections.map(({ id, label }) => (
          <Link
            key={id}
            to="/ui/browse"
            search={{ section: id }}
            aria-current={id === section.id ? "page" : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      <div className="browse-body">
        {section.id === "platforms" ? (
          <PlatformTree />
        ) : (
          <EntityCards key={section.id} types={section.types} label={section.label} />
        )}
      </div>
    </div>
  );
}

const pageSize = 60;

interface CardsProps {
  readonly types: readonly string[];
  readonly label: string;
}

function EntityCards({ types, label }: CardsProps) {
  const [count, setCount] = useState(pageSize);
  const { data, error, refetch } = useQuery({
    queryKey: ["search", "browse", types, count],
    queryFn: ({ signal }) =>
      search({ query: "*", types, count, sort: { field: "name", order: "ASCENDING" }, signal }),
    placeholderData: keepPreviousData,
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={8} />;
  if (data.total === 0) return <Empty title={`No ${label.toLowerCase()} yet`} />;
  return (
    <>
      <ul className="cards">
        {data.hits.map(({ urn }) => (
          <Card key={urn} urn={urn} />
        ))}
      </ul>
      {data.total > count && (
        <button type="button" className="button" onClick={() => setCount(count + pageSize)}>
          More of {data.total}
        </button>
      )}
    </>
  );
}

function Card({ urn }: { readonly urn: string }) {
  const { description } = useSummary(urn);
  return (
    <li className="panel card">
      <EntityLabel urn={urn} />
      {description !== "" && <p className="muted small card-text">{description}</p>}
    </li>
  );
}

interface CreateProps {
  readonly noun: string;
  readonly run: (name: string) => Promise<string>;
}

function CreateButton({ noun, run }: CreateProps) {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const navigate = useNavigate();
  const queries = useQueryClient();
  const create = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const urn = await run(name.trim());
      await queries.invalidateQueries({ queryKey: ["search"] });
      setOpen(false);
      void navigate({ to: "/ui/entity/$urn", params: { urn } });
    } catch (error) {
      announceError(error);
    }
  };
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        <Icon name="plus" /> Create a {noun}
      </button>
      {open && (
        <Dialog title={`Create a ${noun}`} onClose={() => setOpen(false)}>
          <form className="stack" onSubmit={(event) => void create(event)}>
            <label className="field-label">
              Name
              <input
                className="field"
                value={name}
                autoFocus
                onChange={(event) => setName(event.target.value)}
              />
            </label>
            <div className="actions">
              <button type="button" className="button" onClick={() => setOpen(false)}>
                Cancel
              </button>
              <button type="submit" className="button primary" disabled={name.trim() === ""}>
                Create
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
