/** Models, their groups, features and keys. */
import { jsonObject, stringsIn } from "../../../lib/json.ts";
import type { FromValue, Mapping } from "../mapping.ts";

const editable = (aspect: string) => ({ editableProperties: aspect });

const lineage: FromValue = ({ trainingJobs, downstreamJobs }) => ({ trainingJobs, downstreamJobs });

/** The text of a version: a record {versionTag}. */
const versionText: FromValue = ({ version }) =>
  typeof version === "object" && version !== null && "versionTag" in version
    ? version.versionTag
    : version;

export const machineLearning: Mapping = {
  entities: {
    MLModel: {
      ...editable("editableMlModelProperties"),
      origin: "key/origin",
      description: "mlModelProperties/description",
      intendedUse: "intendedUse",
      factorPrompts: "mlModelFactorPrompts",
      metrics: "mlModelMetrics",
      evaluationData: "mlModelEvaluationData/evaluationData",
      trainingData: "mlModelTrainingData/trainingData",
      quantitativeAnalyses: "mlModelQuantitativeAnalyses",
      ethicalConsiderations: "mlModelEthicalConsiderations",
      caveatsAndRecommendations: "mlModelCaveatsAndRecommendations",
      sourceCode: "sourceCode",
      cost: "cost",
    },
    MLModelGroup: {
      ...editable("editableMlModelGroupProperties"),
      origin: "key/origin",
      description: "mlModelGroupProperties/description",
    },
    MLFeature: {
      ...editable("editableMlFeatureProperties"),
      featureNamespace: "key/featureNamespace",
      description: "mlFeatureProperties/description",
      dataType: "mlFeatureProperties/dataType",
      featureProperties: "mlFeatureProperties",
    },
    MLPrimaryKey: {
      ...editable("editableMlPrimaryKeyProperties"),
      featureNamespace: "key/featureNamespace",
      description: "mlPrimaryKeyProperties/description",
      dataType: "mlPrimaryKeyProperties/dataType",
      primaryKeyProperties: "mlPrimaryKeyProperties",
    },
    MLFeatureTable: {
      ...editable("editableMlFeatureTableProperties"),
      description: "mlFeatureTableProperties/description",
      featureTableProperties: "mlFeatureTableProperties",
    },
  },
  values: {
    MLModelProperties: {
      version: versionText,
      mlModelLineageInfo: lineage,
      // The schema has one entry where the aspect has a map.
      hyperParameters: ({ hyperParameters }) => {
        const [first] = Object.entries((hyperParameters ?? {}) as object);
        return first && { key: first[0], value: boxed(first[1]) };
      },
      mlFeatures: ({ mlFeatures }) => stringsIn(mlFeatures),
    },
    // The cost is a number or a code.
    Cost: {
      costValue: ({ cost }) => {
        const [value] = jsonObject(cost) ? Object.values(cost) : [cost];
        return typeof value === "number" ? { costId: value } : { costCode: value };
      },
    },
    MLModelGroupProperties: { mlModelLineageInfo: lineage },
    QuantitativeAnalyses: {
      unitaryResults: ({ unitaryResults }) => boxed(unitaryResults),
      intersectionalResults: ({ intersectionalResults }) => boxed(intersectionalResults),
    },
  },
};

const boxes: Readonly<Record<string, readonly [typename: string, field: string]>> = {
  string: ["StringBox", "stringValue"],
  int: ["IntBox", "intValue"],
  float: ["FloatBox", "floatValue"],
  double: ["FloatBox", "floatValue"],
  boolean: ["BooleanBox", "booleanValue"],
};

/** `{int: 3}` → IntBox */
function boxed(value: unknown): object | null {
  const [member] = Object.entries((value ?? {}) as object);
  const [typename, field] = (member && Object.hasOwn(boxes, member[0]) && boxes[member[0]]) || [];
  return typename === undefined || field === undefined
    ? null
    : { __typename: typename, [field]: member?.[1] };
}
