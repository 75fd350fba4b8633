/**
 * Entity types that are meant where a request names none: what people look for, as the reference has it.
 * What the service or its clients keep for themselves (executions, posts, policies, assertions …) has to
 * be named: who deletes all that a search finds does not mean it.
 */
import type { EntityTypes } from "./entity-types.ts";

const completed = [
  ...["dataset", "dashboard", "chart", "container", "mlModel", "mlModelGroup", "mlFeatureTable"],
  ...["dataFlow", "dataJob", "glossaryTerm", "tag", "corpuser", "corpGroup", "notebook"],
  ...["dataProduct", "domain", "businessAttribute", "application", "document"],
];

const searched = [
  ...completed,
  ...["mlFeature", "mlPrimaryKey", "glossaryNode", "role", "schemaField", "dataPlatformInstance"],
];

/** Queries are on the edges that lineage goes along, and not at their ends. */
const onEdges: ReadonlySet<string> = new Set(["query"]);

const known =
  (types: readonly string[]) =>
  ({ names }: EntityTypes): readonly string[] =>
    types.filter((type) => names.has(type));

/** Of searches. */
export const searchedTypes = known(searched);

/** Of completions. */
export const completedTypes = known(completed);

/** Of searches along lineage. */
export const walkedTypes = ({ names }: EntityTypes): readonly string[] =>
  [...names].filter((type) => !onEdges.has(type));
