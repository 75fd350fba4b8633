/** Aspects by entity type, for fields that several entity types share. */

/** The aspect with the properties of an entity type. */
export const propertiesAspects: Readonly<Record<string, string>> = {
  dataset: "datasetProperties",
  chart: "chartInfo",
  dashboard: "dashboardInfo",
  dataJob: "dataJobInfo",
  dataFlow: "dataFlowInfo",
  dataProcessInstance: "dataProcessInstanceProperties",
  container: "containerProperties",
  corpGroup: "corpGroupInfo",
  domain: "domainProperties",
  dataProduct: "dataProductProperties",
  glossaryTerm: "glossaryTermInfo",
  glossaryNode: "glossaryNodeInfo",
  tag: "tagProperties",
  mlModel: "mlModelProperties",
  mlModelGroup: "mlModelGroupProperties",
  mlFeature: "mlFeatureProperties",
  mlFeatureTable: "mlFeatureTableProperties",
  mlPrimaryKey: "mlPrimaryKeyProperties",
  notebook: "notebookInfo",
  document: "documentInfo",
  dataPlatform: "dataPlatformInfo",
  dataPlatformInstance: "dataPlatformInstanceProperties",
  versionSet: "versionSetProperties",
  application: "applicationProperties",
  role: "roleProperties",
  assertion: "assertionInfo",
  schemaField: "schemafieldInfo",
};

/** The editable aspect, and the name of its description field. */
export const descriptionAspects: Readonly<
  Record<string, readonly [aspect: string, field: string]>
> = {
  dataset: ["editableDatasetProperties", "description"],
  chart: ["editableChartProperties", "description"],
  dashboard: ["editableDashboardProperties", "description"],
  dataJob: ["editableDataJobProperties", "description"],
  dataFlow: ["editableDataFlowProperties", "description"],
  container: ["editableContainerProperties", "description"],
  corpGroup: ["corpGroupEditableInfo", "description"],
  domain: ["domainProperties", "description"],
  dataProduct: ["dataProductProperties", "description"],
  glossaryTerm: ["glossaryTermInfo", "definition"],
  glossaryNode: ["glossaryNodeInfo", "definition"],
  tag: ["tagProperties", "description"],
  mlModel: ["editableMlModelProperties", "description"],
  mlModelGroup: ["editableMlModelGroupProperties", "description"],
  mlFeature: ["editableMlFeatureProperties", "description"],
  mlFeatureTable: ["editableMlFeatureTableProperties", "description"],
  mlPrimaryKey: ["editableMlPrimaryKeyProperties", "description"],
  notebook: ["editableNotebookProperties", "description"],
};
