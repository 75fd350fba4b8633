/** Entities that contain each other as a tree: domains with their data products, and the glossary. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useSummary } from "../../api/entities.ts";
import { search } from "../../api/search.ts";
import { typeOf } from "../../api/urn.ts";
import { EntityLabel } from "../../components/entity-link.tsx";
import { TypeGlyph } from "../../components/icon.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { Branch } from "./branch.tsx";
import { LevelState } from "./level-state.tsx";
import { useUses } from "./uses.ts";

export interface Hierarchy {
  readonly label: string;
  /** Types of the tree. */
  readonly types: readonly string[];
  /** The type whose members have children. */
  readonly parentType: string;
  /** Fields that hold the parent of an entity, by the types that have them. */
  readonly parentFields: readonly {
    readonly field: string;
    readonly types: readonly string[];
  }[];
  /** The field of other entities that refers to members of the tree. */
  readonly usedBy: string;
}

export const domains: Hierarchy = {
  label: "domains",
  types: ["domain"],
  parentType: "domain",
  parentFields: [
    { field: "parentDomain", types: ["domain"] },
    { field: "domains", types: ["dataProduct"] },
  ],
  usedBy: "domains",
};

export const glossary: Hierarchy = {
  label: "terms",
  types: ["glossaryNode", "glossaryTerm"],
  parentType: "glossaryNode",
  parentFields: [{ field: "parentNode", types: ["glossaryNode", "glossaryTerm"] }],
  usedBy: "glossaryTerms",
};

/** Members of one level. */
const levelMax = 500;

async function readRoots(tree: Hierarchy, signal: AbortSignal): Promise<readonly string[]> {
  const missing = tree.parentFields
    .filter(({ types }) => types.some((type) => tree.types.includes(type)))
    .map(({ field }) => field);
  const { hits } = await search({
    query: "*",
    types: tree.types,
    missing,
    count: levelMax,
    sort: { field: "name", order: "ASCENDING" },
    signal,
  });
  return foldersFirst(
    hits.map(({ urn }) => urn),
    tree,
  );
}

async function readChildren(
  tree: Hierarchy,
  parent: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const results = await Promise.all(
    tree.parentFields.map(({ field, types }) =>
      search({
        query: "*",
        types,
        filters: new Map([[field, [parent]]]),
        count: levelMax,
        sort: { field: "name", order: "ASCENDING" },
        signal,
      }),
    ),
  );
  const urns = results.flatMap(({ hits }) => hits.map(({ urn }) => urn));
  return foldersFirst(urns, tree);
}

const foldersFirst = (urns: readonly string[], { parentType }: Hierarchy): readonly string[] => [
  ...urns.filter((urn) => typeOf(urn) === parentType),
  ...urns.filter((urn) => typeOf(urn) !== parentType),
];

export function HierarchyTree({ tree }: { readonly tree: Hierarchy }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["search", "roots", tree.label],
    queryFn: ({ signal }) => readRoots(tree, signal),
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={8} />;
  if (data.length === 0) return <Empty title={`No ${tree.label} yet`} />;
  return (
    <ul className="panel tree">
      <Members tree={tree} urns={data} startOpen={data.length <= fewRoots} />
    </ul>
  );
}

interface MembersProps {
  readonly tree: Hierarchy;
  readonly urns: readonly string[];
  readonly startOpen?: boolean;
}

/** Up to so many roots, the tree opens with their children. */
const fewRoots = 8;

function Members({ tree, urns, startOpen = false }: MembersProps) {
  const uses = useUses(tree.usedBy, urns);
  return urns.map((urn) =>
    typeOf(urn) === tree.parentType ? (
      <Branch
        key={urn}
        urn={urn}
        label={<NameOf urn={urn} />}
        count={uses.get(urn)}
        filters={[`${tree.usedBy}:${urn}`]}
        startOpen={startOpen}
      >
        {() => <Children tree={tree} parent={urn} />}
      </Branch>
    ) : (
      <li key={urn} className="tree-row tree-leaf">
        <span className="spread">
          <EntityLabel urn={urn} />
        </span>
        <UseCount field={tree.usedBy} urn={urn} count={uses.get(urn)} />
      </li>
    ),
  );
}

function NameOf({ urn }: { readonly urn: string }) {
  const { name, type } = useSummary(urn);
  return (
    <>
      <TypeGlyph type={type} />
      <span className="clip">{name}</span>
    </>
  );
}

interface UseProps {
  readonly field: string;
  readonly urn: string;
  readonly count: number | undefined;
}

/** The number of entities that refer to another one, as a link to their search. */
export const UseCount = ({ field, urn, count }: UseProps) =>
  count === undefined ? null : (
    <Link
      to="/ui/search"
      search={{ f: `${field}:${urn}` }}
      className="muted num tree-count"
      title="Search all of them"
    >
      {count.toLocaleString("en")}
    </Link>
  );

interface ChildrenProps {
  readonly tree: Hierarchy;
  readonly parent: string;
}

function Children({ tree, parent }: ChildrenProps) {
  const { data, error } = useQuery({
    queryKey: ["search", "children", parent],
    queryFn: ({ signal }) => readChildren(tree, parent, signal),
  });
  if (data === undefined || error !== null) return <LevelState error={error} />;
  if (data.length === 0) return <li className="tree-row tree-leaf muted">Nothing below</li>;
  return <Members tree={tree} urns={data} />;
}
