/** Fields of the query language that the search field completes. */

interface QueryField {
  readonly name: string;
  readonly label: string;
  /** Decides which values are offered. */
  readonly kind: "entity" | "facet" | "date" | "flag" | "number" | "text";
  /** Types of the entities that the values of the field are. */
  readonly types?: readonly string[];
}

/** Common fields, the most useful ones first. The language accepts every searchable field of the model. */
export const queryFields: readonly QueryField[] = [
  { name: "owners", label: "Owner", kind: "entity", types: ["corpuser", "corpGroup"] },
  { name: "tags", label: "Tag", kind: "entity", types: ["tag"] },
  { name: "glossaryTerms", label: "Term", kind: "entity", types: ["glossaryTerm"] },
  { name: "domains", label: "Domain", kind: "entity", types: ["domain"] },
  { name: "platform", label: "Platform", kind: "facet" },
  { name: "_entityType", label: "Type", kind: "facet" },
  { name: "typeNames", label: "Subtype", kind: "facet" },
  { name: "container", label: "Container", kind: "entity", types: ["container"] },
  { name: "origin", label: "Environment", kind: "facet" },
  { name: "name", label: "Name", kind: "text" },
  { name: "fieldPaths", label: "Column", kind: "text" },
  { name: "description", label: "Description", kind: "text" },
  { name: "deprecated", label: "Deprecated", kind: "flag" },
  { name: "hasOwners", label: "Has owners", kind: "flag" },
  { name: "hasDescription", label: "Has a description", kind: "flag" },
  { name: "createdAt", label: "Created", kind: "date" },
  { name: "lastModifiedAt", label: "Last modified", kind: "date" },
  { name: "rowCount", label: "Rows", kind: "number" },
  { name: "columnCount", label: "Columns", kind: "number" },
];

export const fieldNamed = (name: string): QueryField | undefined =>
  queryFields.find((field) => field.name === name);
