/** Names of the types of entities and owners for people. */

const names = new Map<string, readonly [string, string]>([
  ["dataset", ["Dataset", "Datasets"]],
  ["chart", ["Chart", "Charts"]],
  ["dashboard", ["Dashboard", "Dashboards"]],
  ["dataJob", ["Job", "Jobs"]],
  ["dataFlow", ["Flow", "Flows"]],
  ["container", ["Container", "Containers"]],
  ["corpuser", ["User", "Users"]],
  ["corpGroup", ["Group", "Groups"]],
  ["tag", ["Tag", "Tags"]],
  ["domain", ["Domain", "Domains"]],
  ["glossaryTerm", ["Term", "Terms"]],
  ["glossaryNode", ["Term group", "Term groups"]],
  ["dataProduct", ["Data product", "Data products"]],
  ["dataPlatform", ["Platform", "Platforms"]],
  ["dataPlatformInstance", ["Platform instance", "Platform instances"]],
  ["dataProcessInstance", ["Job run", "Job runs"]],
  ["mlModel", ["ML model", "ML models"]],
  ["mlModelGroup", ["ML model group", "ML model groups"]],
  ["mlFeature", ["ML feature", "ML features"]],
  ["mlFeatureTable", ["ML feature table", "ML feature tables"]],
  ["mlPrimaryKey", ["ML primary key", "ML primary keys"]],
  ["mlModelDeployment", ["ML deployment", "ML deployments"]],
  ["schemaField", ["Column", "Columns"]],
  ["structuredProperty", ["Structured property", "Structured properties"]],
  ["ownershipType", ["Ownership type", "Ownership types"]],
  ["query", ["Query", "Queries"]],
]);

/** `mlModelDeployment` → `Ml model deployment` */
export function sentenceCase(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase()
    .replace(/\bsql\b/, "SQL");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const typeLabel = (type: string): string => names.get(type)?.[0] ?? sentenceCase(type);

export function typeLabels(type: string): string {
  const known = names.get(type)?.[1];
  if (known !== undefined) return known;
  const one = sentenceCase(type);
  return one.endsWith("y") ? `${one.slice(0, -1)}ies` : `${one}s`;
}

/** `DATA_STEWARD` → `data steward`; one member of the enum is written as one word. */
export const ownerTypeLabel = (type: string): string =>
  type
    .replace(/^DATAOWNER$/, "DATA_OWNER")
    .toLowerCase()
    .replaceAll("_", " ");

/** `dataJob` → `DATA_JOB`, `mlModel` → `MLMODEL`, as GraphQL names the types of entities. */
export const graphqlType = (type: string): string =>
  type === "corpuser"
    ? "CORP_USER"
    : type
        .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
        .toUpperCase()
        .replace(/^ML_/, "ML");
