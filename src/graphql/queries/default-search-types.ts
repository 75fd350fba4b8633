/**
 * Default entity types of a query that names none, as in DataHub. Internal types (executions, posts,
 * policies, assertions …) must be named, so that deleting all hits of a search does not affect them.
 */
import type { EntityTypes } from "../schema/entity-types.ts";

const completed = [
  ...["dataset", "dashboard", "chart", "container", "mlModel", "mlModelGroup", "mlFeatureTable"],
  ...["dataFlow", "dataJob", "glossaryTerm", "tag", "corpuser", "corpGroup", "notebook"],
  ...["dataProduct", "domain", "businessAttribute", "application", "document"],
];

const searched = [
  ...completed,
  ...["mlFeature", "mlPrimaryKey", "glossaryNode", "role", "schemaField", "dataPlatformInstance"],
];

/** Queries lie on lineage edges, not at their ends. */
const onEdges: ReadonlySet<string> = new Set(["query"]);

const known =
  (types: readonly string[]) =>
  ({ names }: EntityTypes): readonly string[] =>
    types.filter((type) => names.has(type));

/** For searches. */
export const searchedTypes = known(searched);

/** For autocompletion. */
export const completedTypes = known(completed);

/** For searches across lineage. */
export const walkedTypes = ({ names }: EntityTypes): readonly string[] =>
  [...names].filter((type) => !onEdges.has(type));
