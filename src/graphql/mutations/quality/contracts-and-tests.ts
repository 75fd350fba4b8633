/** Mutations of data contracts, of the definitions of tests, and of assertions as entities. */
import { randomUUID } from "node:crypto";
import type { InputArgs, UpdateArgs, Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { assertedEntity, toEditAssertions } from "../../queries/assertions.ts";
import { entityOf } from "../../queries/entity-source.ts";
import { relatedEntities } from "../../queries/related.ts";
import { createEntity, given, storedAspect } from "../changes.ts";
import { deleting } from "../declared.ts";
import { anyOf, proposalOf, rejectMissing, urnOf, write } from "../writing.ts";

interface Part {
  readonly assertionUrn: string;
}

interface ContractInput {
  readonly entityUrn: string;
  readonly freshness?: Maybe<readonly Part[]>;
  readonly schema?: Maybe<readonly Part[]>;
  readonly dataQuality?: Maybe<readonly Part[]>;
  readonly state?: Maybe<string>;
  readonly id?: Maybe<string>;
}

/** An entity has one contract, which is found by its relationship to the entity. */
async function contractUrn(
  { urn, entity, id }: { urn: Maybe<string>; entity: string; id: Maybe<string> },
  viewer: Viewer,
): Promise<string> {
  const query = { urn: entity, relationship: "ContractFor", typename: "DataContract" };
  const [stored] = await relatedEntities(query, viewer);
  if (stored !== undefined) return stored.urn;
  if (urn) return urnOf(urn, ["dataContract"], viewer);
  return `urn:${viewer.namespace}:dataContract:${id || randomUUID()}`;
}

async function upsertDataContract(
  { urn: text, input }: { urn?: Maybe<string>; input: ContractInput },
  viewer: Viewer,
) {
  const entity = urnOf(input.entityUrn, ["dataset"], viewer);
  const partsOf = (parts: Maybe<readonly Part[]>) =>
    parts?.map(({ assertionUrn }) => ({ assertion: urnOf(assertionUrn, ["assertion"], viewer) }));
  const parts = given({
    freshness: partsOf(input.freshness),
    schema: partsOf(input.schema),
    dataQuality: partsOf(input.dataQuality),
  });
  const assertions = Object.values(parts).flatMap((all) => all.map((one) => one.assertion));
  await rejectMissing([entity, ...assertions], viewer);
  const urn = await contractUrn({ urn: text, entity, id: input.id }, viewer);
  const before = memberAt(await viewer.entities.find(urn), ["dataContractProperties", "entity"]);
  const entities = [entity, ...(typeof before === "string" ? [before] : [])];
  await write(
    [
      proposalOf(urn, "dataContractProperties", { entity, ...parts }),
      proposalOf(urn, "dataContractStatus", { state: input.state ?? "ACTIVE" }),
    ],
    viewer,
    [anyOf(["EDIT_ENTITY", "EDIT_ENTITY_DATA_CONTRACT"], entities)],
  );
  return entityOf(urn);
}

interface TestInput {
  readonly id?: Maybe<string>;
  readonly name: string;
  readonly category: string;
  readonly description?: Maybe<string>;
  readonly definition: { readonly json?: Maybe<string> };
}

const testOf = ({ name, category, description, definition }: TestInput) => ({
  ...given({ description }),
  name,
  category,
  definition: { type: "JSON", ...given({ json: definition.json }) },
});

export const contractMutations = { upsertDataContract };

export const testMutations = {
  createTest: ({ input }: InputArgs<TestInput>, viewer: Viewer) =>
    createEntity("test", { id: input.id, aspects: { testInfo: testOf(input) } }, viewer),

  async updateTest({ urn: text, input }: UpdateArgs<TestInput>, viewer: Viewer) {
    const urn = urnOf(text, ["test"], viewer);
    await storedAspect(urn, "testInfo", viewer);
    await write([proposalOf(urn, "testInfo", testOf(input))], viewer);
    return urn;
  },

  deleteTest: deleting(["test"]),
};

export const assertionDeletion = {
  deleteAssertion: deleting(["assertion"], {
    async required(urn, viewer) {
      const entity = await assertedEntity(urn, viewer);
      const ofEntity = entity === undefined ? [] : toEditAssertions([entity]);
      return [...ofEntity, anyOf(["DELETE_ENTITY"], [urn])];
    },
  }),
};
