/** The mutations on assets, their governance and documents; the catalog authorizes their writes. */
import { memberMutations } from "./assets/asset-members.ts";
import { erModelMutations } from "./assets/er-models.ts";
import { lineageMutations } from "./assets/lineage.ts";
import { linkMutations } from "./assets/links.ts";
import { logicalModelMutations } from "./assets/logical-models.ts";
import { patchMutations } from "./assets/patch-entities.ts";
import { versionMutations } from "./assets/versions.ts";
import { wholeEntityMutations } from "./assets/whole-entities.ts";
import { documentMutations } from "./documents/documents.ts";
import { importDocumentsFromFiles } from "./documents/import-documents.ts";
import { attributeMutations } from "./governance/business-attributes.ts";
import { productMutations } from "./governance/data-products.ts";
import { formAnswerMutations } from "./governance/form-answers.ts";
import { formAssignmentMutations } from "./governance/form-assignments.ts";
import { formMutations } from "./governance/forms.ts";
import { propertyValueMutations } from "./governance/property-values.ts";
import { relatedTermMutations } from "./governance/related-terms.ts";
import { propertyMutations } from "./governance/structured-properties.ts";

export const assetMutations = {
  ...memberMutations,
  ...erModelMutations,
  ...lineageMutations,
  ...linkMutations,
  ...logicalModelMutations,
  ...patchMutations,
  ...versionMutations,
  ...wholeEntityMutations,
  ...documentMutations,
  importDocumentsFromFiles,
  ...attributeMutations,
  ...productMutations,
  ...formAnswerMutations,
  ...formAssignmentMutations,
  ...formMutations,
  ...propertyValueMutations,
  ...relatedTermMutations,
  ...propertyMutations,
};
