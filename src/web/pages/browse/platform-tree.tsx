/** Platforms with their folders and containers as a tree that loads level by level. */

import { useQuery } from "@tanstack/react-query";
import { useSummary } from "../../api/entities.ts";
import { read } from "../../api/http.ts";
import { listAt, numberAt, textAt } from "../../api/json.ts";
import { search } from "../../api/search.ts";
import { EntityLabel } from "../../components/entity-link.tsx";
import { TypeGlyph } from "../../components/icon.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { Branch } from "./branch.tsx";
import { LevelState } from "./level-state.tsx";

/** Types with folders. */
const types: readonly string[] = ["dataset", "chart", "dashboard", "dataFlow", "dataJob"];

/** Between the folders of a path, and before the first. */
const separator = "␟";

export function PlatformTree() {
  const { data, error, refetch } = useQuery({
    queryKey: ["search", "platforms"],
    queryFn: ({ signal }) => search({ query: "*", types, count: 0, facets: true, signal }),
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading lines={8} />;
  const platforms = (data.facets.find(({ name }) => name === "platform")?.values ?? [])
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count);
  if (platforms.length === 0) return <Empty title="No platforms yet" />;
  return (
    <ul className="panel tree">
      {platforms.map(({ value, count }) => (
        <Branch
          key={value}
          label={<NameOf urn={value} type="dataPlatform" />}
          count={count}
          filters={[`platform:${value}`]}
        >
          {() => <Level platform={value} path={[]} />}
        </Branch>
      ))}
    </ul>
  );
}

const NameOf = ({ urn, type }: { readonly urn: string; readonly type: string }) => (
  <>
    <TypeGlyph type={type} />
    <span className="clip">{useSummary(urn).name}</span>
  </>
);

interface LevelProps {
  readonly platform: string;
  readonly path: readonly string[];
}

/** Folders and entities of one reply. */
const levelMax = 500;

function Level({ platform, path }: LevelProps) {
  const { data, error } = useQuery({
    queryKey: ["search", "level", platform, path],
    queryFn: ({ signal }) => readLevel(platform, path, signal),
  });
  if (data === undefined || error !== null) return <LevelState error={error} />;
  return (
    <>
      {data.folders.map(({ name, entity, count }) => (
        <Branch
          key={name}
          label={
            entity === undefined ? (
              <>
                <TypeGlyph type="container" />
                <span className="clip">{name}</span>
              </>
            ) : (
              <NameOf urn={entity} type="container" />
            )
          }
          count={count}
          filters={[
            `platform:${platform}`,
            `browsePathV2:${separator}${[...path, name].join(separator)}`,
          ]}
        >
          {() => <Level platform={platform} path={[...path, name]} />}
        </Branch>
      ))}
      {data.entities.map((urn) => (
        <li key={urn} className="tree-row tree-leaf">
          <EntityLabel urn={urn} />
        </li>
      ))}
    </>
  );
}

async function readLevel(platform: string, path: readonly string[], signal: AbortSignal) {
  const reply = await read<unknown>("/entities?action=browseV2", {
    body: {
      entities: types,
      path,
      start: 0,
      count: levelMax,
      filter: { or: [{ and: [{ field: "platform", condition: "EQUAL", values: [platform] }] }] },
    },
    signal,
  });
  const folders = listAt(reply, "value", "groups").map((group) => ({
    name: textAt(group, "name") ?? "",
    entity: textAt(group, "entity"),
    count: numberAt(group, "count") ?? 0,
  }));
  // A folder without further folders lists its entities.
  if (folders.length > 0 || path.length === 0) return { folders, entities: [] };
  const { hits } = await search({
    query: "*",
    types,
    filters: new Map([
      ["platform", [platform]],
      ["browsePathV2", [`${separator}${path.join(separator)}`]],
    ]),
    count: levelMax,
    sort: { field: "name", order: "ASCENDING" },
    signal,
  });
  return { folders, entities: hits.map(({ urn }) => urn) };
}
