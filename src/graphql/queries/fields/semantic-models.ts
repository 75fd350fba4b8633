/** The datasets of a semantic model, and the meaning of their columns. */

import { objectsIn, stringsIn } from "../../../lib/json.ts";
import type { Viewer } from "../../context.ts";
import type { FromValue } from "../../mapping/mapping.ts";
import { entityOf } from "../entity-source.ts";
import { nameOf } from "../entity-values.ts";
import { existingRelated } from "../related.ts";

/** Datasets name their model; the model lists those of older clients. */
export const modelDatasets: FromValue = async ({ datasets }, owner, viewer) => {
  const parts = await existingRelated(owner, "IsPartOf", viewer);
  const members = parts.filter((urn) => entityOf(urn).__typename === "Dataset");
  const urns = new Set([...stringsIn(datasets), ...members]);
  return Promise.all([...urns].map((urn) => modelDataset(urn, viewer)));
};

async function modelDataset(urn: string, viewer: Viewer) {
  const dataset = await viewer.loader.load(urn);
  const columns = objectsIn(dataset.aspect("schemaMetadata")?.fields);
  const fields = await Promise.all(
    columns.map(async (schemaField) => {
      const column = `urn:${viewer.namespace}:schemaField:(${urn},${schemaField.fieldPath})`;
      const { aspect } = await viewer.loader.load(column);
      const annotation = aspect("semanticFieldAnnotation");
      return annotation && { ...annotation, schemaField, aiContext: aspect("aiContext") };
    }),
  );
  return {
    name: dataset.aspect("semanticModelProperties")?.alias ?? nameOf(dataset),
    source: urn,
    fields: fields.filter((field) => field !== undefined),
  };
}
