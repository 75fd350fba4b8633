/** Secrets and connections. They are stored encrypted, and decrypted for callers with the privilege. */
import { CatalogError } from "../../../core/errors.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import { rejectMore } from "../../limits.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { type EntitySource, entityOf } from "../../queries/entity-source.ts";
import { createEntity, given, stampOf } from "../changes.ts";
import { deleting } from "../declared.ts";
import { proposalOf, rejectMissing, urnOf, write } from "../writing.ts";

const TYPE = "dataHubSecret";
const VALUE = "dataHubSecretValue";

interface SecretInput {
  readonly name: string;
  readonly value: string;
  readonly description?: Maybe<string>;
}

const secretOf = ({ name, value, description }: SecretInput, viewer: Viewer) => ({
  ...given({ description }),
  name,
  value: viewer.secrets.encrypt(value),
  created: stampOf(viewer),
});

export const secretMutations = {
  createSecret: ({ input }: InputArgs<SecretInput>, viewer: Viewer) =>
    createEntity(TYPE, { id: input.name, aspects: { [VALUE]: secretOf(input, viewer) } }, viewer),

  async updateSecret({ input }: InputArgs<SecretInput & { readonly urn: string }>, viewer: Viewer) {
    const urn = urnOf(input.urn, [TYPE], viewer);
    await rejectMissing([urn], viewer);
    await write([proposalOf(urn, VALUE, secretOf(input, viewer))], viewer);
    return urn;
  },

  deleteSecret: deleting([TYPE], { answer: "urn" }),
};

const secretsMax = 1_000;

export const secretQueries = {
  /** The decrypted values of the secrets that exist, in the order of the names. */
  async getSecretValues(
    { input }: InputArgs<{ readonly secrets: readonly string[] }>,
    { entities, secrets, namespace }: Viewer,
  ) {
    const { length } = input.secrets;
    rejectMore(length, secretsMax, "secrets has", "names", "Send them in several requests");
    const found = await Promise.all(
      input.secrets.map(async (name) => {
        const stored = await entities.find(`urn:${namespace}:${TYPE}:${name}`);
        const value = memberAt(stored, [VALUE, "value"]);
        return typeof value === "string" ? [{ name, value: secrets.decrypt(value) }] : [];
      }),
    );
    return found.flat();
  },
};

interface ConnectionInput {
  readonly id?: Maybe<string>;
  readonly type: string;
  readonly platformUrn: string;
  readonly json?: Maybe<{ readonly blob: string }>;
  readonly name?: Maybe<string>;
}

export const connectionMutations = {
  async upsertConnection({ input }: InputArgs<ConnectionInput>, viewer: Viewer) {
    const { type, platformUrn, json, name, id } = input;
    if (type === "JSON" && !json) {
      throw new CatalogError("malformed", "a connection of type JSON has no json", {
        hint: "Send json: {blob: …}",
      });
    }
    const key = id?.trim() || crypto.randomUUID();
    const urn = `urn:${viewer.namespace}:dataHubConnection:${key}`;
    const details = {
      type,
      name: name ?? key,
      ...(json && { json: { encryptedBlob: viewer.secrets.encrypt(json.blob) } }),
    };
    const platform = urnOf(platformUrn, ["dataPlatform"], viewer);
    await write(
      [
        proposalOf(urn, "dataHubConnectionDetails", details),
        proposalOf(urn, "dataPlatformInstance", { platform }),
      ],
      viewer,
    );
    return entityOf(urn);
  },
};

/**
 * The details of a connection whose aspect the caller may read; `json` has the decrypted text if the caller
 * manages connections, else it is null.
 */
async function details(
  { urn }: EntitySource,
  _: never,
  { authority, actor, loader, secrets }: Viewer,
) {
  const stored = (await loader.load(urn)).aspect("dataHubConnectionDetails");
  const blob = memberAt(stored, ["json", "encryptedBlob"]);
  const reads = await authority.allows(actor, [["MANAGE_CONNECTIONS"]]);
  return {
    type: memberAt(stored, ["type"]) ?? "JSON",
    name: memberAt(stored, ["name"]),
    json: reads && typeof blob === "string" ? { blob: secrets.decrypt(blob) } : null,
  };
}

export const connectionFields = { DataHubConnection: { details } };
