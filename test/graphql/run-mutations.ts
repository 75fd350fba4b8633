/** Runs mutations with the signatures of DataHub's schema (datahub-schema.json). */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { type Client, encoded } from "../support/client.ts";
import { ask, faultOf } from "./graphql-client.ts";

interface Signature {
  readonly type: string;
  readonly args: Readonly<Record<string, string>>;
}

const signatures: Readonly<Record<string, Signature>> = JSON.parse(
  readFileSync(new URL("./datahub-schema.json", import.meta.url), "utf8"),
).Mutation.fields;

type Args = Readonly<Record<string, unknown>>;

export function mutationsOf(client: () => Client, headers?: Record<string, string>) {
  const send = (name: string, args: Args, selection = "") => {
    const { args: types = {} } = signatures[name] as Signature;
    const declared = Object.entries(types).filter(([arg]) => arg in args);
    const variables = declared.map(([arg, type]) => `$${arg}: ${type}`).join(", ");
    const passed = declared.map(([arg]) => `${arg}: $${arg}`).join(", ");
    const query = `mutation(${variables}) { ${name}(${passed}) ${selection} }`;
    return ask(client(), query, args, headers);
  };
  return {
    /** The result of a mutation that succeeds. */
    async run(name: string, args: Args, selection = "") {
      const { body } = await send(name, args, selection);
      expect(body.errors, `${name}: ${JSON.stringify(body.errors)}`).toBeUndefined();
      return body.data[name];
    },
    /** The code of a mutation that is rejected. */
    async codeOf(name: string, args: Args, selection = ""): Promise<number | undefined> {
      return faultOf(await send(name, args, selection))?.extensions.code;
    },
    /** An aspect's value; undefined without the aspect. */
    async aspect(urn: string, name: string) {
      const path = `/entitiesV2/${encoded(urn)}?aspects=List(${name})`;
      const { body } = await client().call("GET", path, undefined, headers);
      return body.aspects?.[name]?.value;
    },
  };
}

/** A schema with columns of the type number. */
export const schemaOf = (...fieldPaths: readonly string[]) => ({
  ...{ schemaName: "orders", platform: "urn:li:dataPlatform:hive", version: 0, hash: "" },
  platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
  fields: fieldPaths.map((fieldPath) => ({
    ...{ fieldPath, nativeDataType: "int" },
    type: { type: { "com.linkedin.schema.NumberType": {} } },
  })),
});
