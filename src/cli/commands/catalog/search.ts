/** `annals list` and `annals search`: entities of a type, and entities that match a query. */
import { type components, dataOf } from "../../../client/client.ts";
import { appendAll } from "../../../lib/lists.ts";
import type { PageArguments } from "../../arguments.ts";
import { entityTypeIn } from "../../client/model.ts";
import type { Session } from "../../client/session.ts";
import { UsageError } from "../../failure.ts";

/** Of one request. */
const pageMax = 1_000;

export async function list(
  session: Session,
  entityType: string,
  { start, count, all }: PageArguments & { readonly all: boolean },
): Promise<void> {
  const urns: string[] = [];
  let total = Number.POSITIVE_INFINITY;
  const wanted = all ? Number.POSITIVE_INFINITY : count;
  const bar = session.terminal.startBar("reading {bar} {percentage}% | {value} of {total}");
  while (urns.length < wanted && start + urns.length < total) {
    const body = {
      ...{ entity: entityType, start: start + urns.length },
      count: Math.min(pageMax, wanted - urns.length),
    };
    const read = session.client.POST("/entities?action=listUrns", { body });
    const { value } = await dataOf(read).finally(() => bar.update(urns.length, total));
    total = value.total;
    if (value.entities.length === 0) break;
    appendAll(urns, value.entities);
  }
  bar.stop();
  await session.print({
    value: { start, count: urns.length, total, entities: urns },
    urns,
    table: { heads: ["URN"], rows: urns.map((urn) => [urn]) },
    none: `there are no entities of type "${entityType}"`,
  });
  if (urns.length > 0 && start + urns.length < total) {
    session.terminal.note(`${urns.length} of ${total}; --all lists every one`);
  }
}

export interface SearchCommandFlags extends PageArguments {
  readonly type?: readonly string[];
  readonly filter?: readonly string[];
  readonly sort?: string;
  readonly facets: boolean;
  readonly scroll: boolean;
}

type Found = components["schemas"]["ScrollResult" | "SearchResult"];
type Metadata = Found["metadata"];

export async function search(
  session: Session,
  input: string,
  flags: SearchCommandFlags,
): Promise<void> {
  const query = {
    input,
    ...(flags.type !== undefined && { entities: [...flags.type] }),
    ...(flags.filter !== undefined && { filter: filterOf(flags.filter) }),
    ...(flags.sort !== undefined && { sort: sortOf(flags.sort) }),
  };
  const found = flags.scroll
    ? await scroll(session, query)
    : await searchPage(session, {
        ...{ ...query, start: flags.start, count: flags.count },
        searchFlags: { getSuggestions: true },
      });
  const { numEntities, metadata } = found;
  const facets = metadata.aggregations ?? [];
  const matches = metadata.matches ?? [];
  const suggestions = metadata.suggestions ?? [];
  const hits = found.entities.map((hit, at) =>
    typeof hit === "string"
      ? { urn: hit, match: matchOf(matches[at]?.matchedFields ?? []) }
      : { urn: hit.entity, match: matchOf(hit.matchedFields) },
  );
  const entities = hits.map(({ urn }) => urn);
  await session.print({
    value: { total: numEntities, entities, facets, suggestions },
    urns: entities,
    table: flags.facets
      ? { heads: ["FACET", "VALUE", "COUNT"], rows: facetRows(facets) }
      : {
          heads: ["TYPE", "URN", "MATCH"],
          rows: hits.map(({ urn, match }) => [entityTypeIn(urn), urn, match]),
        },
    none: noHits(input, suggestions),
  });
  const shown = flags.start + entities.length;
  if (!flags.facets && entities.length > 0 && shown < numEntities) {
    session.terminal.note(`${entities.length} of ${numEntities}; --scroll lists every one`);
  }
}

function noHits(input: string, suggestions: NonNullable<Metadata["suggestions"]>): string {
  const texts = suggestions.map(({ text }) => `"${text}"`);
  const hint = texts.length === 0 ? "" : `. Did you mean ${texts.join(" or ")}?`;
  return `nothing matches "${input}"${hint}`;
}

async function searchPage(
  { client }: Session,
  body: components["schemas"]["EntitiesSearchAcrossEntities"],
): Promise<Found> {
  return (await dataOf(client.POST("/entities?action=searchAcrossEntities", { body }))).value;
}

/** Every page of the result. */
async function scroll(
  session: Session,
  query: Omit<components["schemas"]["EntitiesScrollAcrossEntities"], "count">,
): Promise<Found> {
  const bar = session.terminal.startBar("reading {bar} {percentage}% | {value} of {total}");
  const entities: Found["entities"] = [];
  const matches: NonNullable<Metadata["matches"]> = [];
  let page: components["schemas"]["ScrollResult"] | undefined;
  try {
    do {
      const scrollId = page?.scrollId;
      const body = { ...query, count: pageMax, ...(scrollId !== undefined && { scrollId }) };
      const read = session.client.POST("/entities?action=scrollAcrossEntities", { body });
      page = (await dataOf(read)).value;
      appendAll(entities, page.entities);
      appendAll(matches, page.metadata.matches ?? []);
      bar.update(entities.length, page.numEntities);
    } while (page.scrollId !== undefined);
    return { ...page, entities, metadata: { ...page.metadata, matches } };
  } finally {
    bar.stop();
  }
}

/** `field=value` and `field!=value`; all of them hold. */
function filterOf(filters: readonly string[]) {
  const and = filters.map((filter) => {
    const [, field, not, value] = /^([\w.]+)(!?)=(.*)$/s.exec(filter) ?? [];
    if (field === undefined || value === undefined) {
      throw new UsageError(`"${filter}" is not a filter. Write field=value or field!=value`);
    }
    return { field, condition: "EQUAL" as const, values: [value], negated: not === "!" };
  });
  return { or: [{ and }] };
}

/** `name` or `name:desc` */
function sortOf(given: string) {
  const [, field, order = "asc"] = /^([\w.]+)(?::(asc|desc))?$/.exec(given) ?? [];
  if (field === undefined) throw new UsageError(`"${given}" is not a sort order. Write name:desc`);
  return { field, order: order === "asc" ? ("ASCENDING" as const) : ("DESCENDING" as const) };
}

const matchOf = (fields: readonly { readonly name: string; readonly value: string }[]): string => {
  // A urn matches itself: the column beside shows it.
  const first = fields.find(({ name }) => name !== "urn");
  if (first === undefined) return "";
  const text = `${first.name}: ${first.value.replaceAll(/\s+/g, " ")}`;
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
};

const facetRows = (facets: NonNullable<Metadata["aggregations"]>) =>
  facets
    .filter(({ name }) => !name.includes("␞"))
    .flatMap(({ name, filterValues }) =>
      filterValues.map(({ value, facetCount }) => [name, value, facetCount]),
    );
