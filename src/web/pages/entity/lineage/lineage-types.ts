/** The entity types that lineage connects. */
export const lineageTypes: readonly string[] = [
  ..."dataset chart dashboard dataJob dataFlow dataProcessInstance mlModel mlModelGroup".split(" "),
  ..."mlFeature mlFeatureTable mlPrimaryKey notebook metric semanticModel".split(" "),
];
