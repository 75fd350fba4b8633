/** Browses the catalog: platforms and folders as a tree, and the entities that organize others. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useSummary } from "../../api/entities.ts";
import { sessionStore } from "../../api/http.ts";
import { useMay, useMayCreate } from "../../api/privileges.ts";
import { search } from "../../api/search.ts";
import { useStore } from "../../api/store.ts";
import {
  createDataProduct,
  createDomain,
  createGroup,
  createNode,
  createTag,
  createTerm,
} from "../../api/writes.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { EntityChip, EntityLabel } from "../../components/entity-link.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { CreateButton, type Creation } from "./create-button.tsx";
import { domains, glossary, type Hierarchy, HierarchyTree, UseCount } from "./hierarchy-tree.tsx";
import { InviteButton } from "./invite-button.tsx";
import { PlatformTree } from "./platform-tree.tsx";
import { useUses } from "./uses.ts";
import "./browse.css";

interface Section {
  readonly id: string;
  readonly label: string;
  readonly types: readonly string[];
  /** Shown as a tree instead of cards. */
  readonly tree?: Hierarchy;
  /** The field of other entities that refers to those of the section. */
  readonly usedBy?: string;
  readonly creations?: readonly Creation[];
}

const domainParent = { label: "Parent domain", types: ["domain"], required: false };
const nodeParent = { label: "Term group", types: ["glossaryNode"], required: false };

const sections: readonly Section[] = [
  { id: "platforms", label: "Platforms", types: [] },
  {
    id: "domains",
    label: "Domains",
    types: ["domain"],
    tree: domains,
    creations: [
      {
        noun: "domain",
        type: "domain",
        parent: domainParent,
        run: createDomain,
      },
    ],
  },
  {
    id: "products",
    label: "Data products",
    types: ["dataProduct"],
    creations: [
      {
        noun: "data product",
        type: "dataProduct",
        parent: { label: "Domain", types: ["domain"], required: true },
        run: (name, domain = "") => createDataProduct(name, domain),
      },
    ],
  },
  {
    id: "glossary",
    label: "Glossary",
    types: ["glossaryNode", "glossaryTerm"],
    tree: glossary,
    creations: [
      { noun: "term", type: "glossaryTerm", parent: nodeParent, run: createTerm },
      {
        noun: "term group",
        type: "glossaryNode",
        parent: nodeParent,
        run: createNode,
      },
    ],
  },
  {
    id: "tags",
    label: "Tags",
    types: ["tag"],
    usedBy: "tags",
    creations: [{ noun: "tag", type: "tag", run: createTag }],
  },
  { id: "users", label: "Users", types: ["corpuser"], usedBy: "owners" },
  {
    id: "groups",
    label: "Groups",
    types: ["corpGroup"],
    usedBy: "owners",
    creations: [{ noun: "group", type: "corpGroup", run: createGroup }],
  },
];

export default function BrowsePage() {
  const url = useSearch({ strict: false }) as UrlQuery;
  const { signInRequired } = useStore(sessionStore);
  const may = useMay();
  const mayCreate = useMayCreate();
  const wanted = listOf(url.section)[0];
  const section = sections.find(({ id }) => id === wanted) ?? sections[0];
  if (section === undefined) return null;
  return (
    <div className="page">
      <header className="page-head">
        <h1>Browse</h1>
        {section.creations
          ?.filter(({ type }) => mayCreate(type))
          .map((creation) => (
            <CreateButton key={creation.noun} creation={creation} />
          ))}
        {section.id === "users" && signInRequired && may("MANAGE_USER_CREDENTIALS") && (
          <InviteButton />
        )}
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
        <SectionBody key={section.id} section={section} />
      </div>
    </div>
  );
}

function SectionBody({ section }: { readonly section: Section }) {
  if (section.id === "platforms") return <PlatformTree />;
  if (section.tree !== undefined) return <HierarchyTree tree={section.tree} />;
  return <EntityCards section={section} />;
}

const pageSize = 60;

function EntityCards({ section }: { readonly section: Section }) {
  const { types, label, usedBy = "" } = section;
  const [count, setCount] = useState(pageSize);
  const { data, error, refetch } = useQuery({
    queryKey: ["search", "browse", types, count],
    queryFn: ({ signal }) =>
      search({ query: "*", types, count, sort: { field: "name", order: "ASCENDING" }, signal }),
    placeholderData: keepPreviousData,
  });
  const uses = useUses(usedBy, data?.hits.map(({ urn }) => urn) ?? []);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={8} />;
  if (data.total === 0) return <Empty title={`No ${label.toLowerCase()} yet`} />;
  return (
    <>
      <ul className="cards">
        {data.hits.map(({ urn }) => (
          <Card key={urn} urn={urn} field={usedBy} count={uses.get(urn)} />
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

interface CardProps {
  readonly urn: string;
  /** The field of other entities that refers to the entity. */
  readonly field: string;
  readonly count: number | undefined;
}

function Card({ urn, field, count }: CardProps) {
  const { description, domain } = useSummary(urn);
  return (
    <li className="panel card">
      <span className="row">
        <span className="spread">
          <EntityLabel urn={urn} />
        </span>
        <UseCount field={field} urn={urn} count={count} />
      </span>
      {description !== "" && <p className="muted small card-text">{description}</p>}
      {domain !== undefined && (
        <span>
          <EntityChip urn={domain} />
        </span>
      )}
    </li>
  );
}
