/** Columns of datasets: their urns and types. */
import { entityTypeOf, nestedUrn } from "../../../core/urn.ts";
import type { Viewer } from "../../context.ts";
import { urnOf } from "../writing.ts";

interface Column {
  /** Of the schemaField. */
  readonly urn: string;
  readonly dataset: string;
  readonly fieldPath: string;
}

export function columnOf(text: string, viewer: Viewer): Column {
  const urn = urnOf(text, ["schemaField"], viewer);
  const dataset = nestedUrn(urn, "dataset") ?? "";
  const start = urn.indexOf(dataset) + dataset.length + 1;
  return { urn, dataset, fieldPath: urn.slice(start, -1) };
}

export const columnUrn = (dataset: string, fieldPath: string, { namespace }: Viewer): string =>
  `urn:${namespace}:schemaField:(${dataset},${fieldPath})`;

/** The dataset of a column; any other entity itself. */
export const datasetOf = (urn: string): string =>
  entityTypeOf(urn) === "schemaField" ? (nestedUrn(urn, "dataset") ?? urn) : urn;

/** STRING → {type: {"com.linkedin.schema.StringType": {}}} */
export function columnType(member: string): object {
  const name = member === "STRUCT" ? "Record" : member.charAt(0) + member.slice(1).toLowerCase();
  return { type: { [`com.linkedin.schema.${name}Type`]: {} } };
}
