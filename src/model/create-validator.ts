/**
 * Checks aspect values against the model and normalises them in place (Model.check). Validators are
 * compiled by ajv from JSON Schemas of the records, each when a value first asks for it; aspects
 * that share a record share its validator.
 */
import {
  _,
  Ajv,
  type CodeKeywordDefinition,
  type FuncKeywordDefinition,
  Name,
  type ValidateFunction,
} from "ajv";
import { withNamespace } from "../core/urn.ts";
import { namesIn } from "./coherence.ts";
import { recordSchema } from "./json-schema.ts";
import { misfitsOf, tooDeep } from "./misfits.ts";
import type { Aspect, Checked, NamedType } from "./model.ts";
import { createNameIndex } from "./record-names.ts";

/** Any namespace, any type, some id. What is inside the id is the entity's own matter. */
const URN = /^urn:[A-Za-z0-9][A-Za-z0-9-]{0,31}:[A-Za-z][A-Za-z0-9_]*:./s;

export function createValidator(
  types: ReadonlyMap<string, NamedType>,
  { prefix, namespace }: { readonly prefix: string; readonly namespace: string },
): (aspect: Aspect, value: unknown) => Checked {
  const ajv = new Ajv({
    allErrors: true, // bounded by misfitsMax
    verbose: true, // a misfit shows the value that was found
    useDefaults: true,
    removeAdditional: true,
    // The schemas are ours: made by json-schema.ts, not read from anywhere.
    validateSchema: false,
    meta: false,
    logger: false,
  });
  ajv.addVocabulary(["expects"]);
  ajv.addKeyword(absentWhenNull);
  ajv.addKeyword(boundedMisfits);
  ajv.addKeyword(urn(namespace));
  ajv.addKeyword(oneMember(prefix));

  const added = new Set<string>();
  const add = (record: string): void => {
    const type = types.get(record);
    if (type?.kind !== "record" || added.has(record)) return;
    added.add(record);
    ajv.addSchema(recordSchema(record, type.fields, types));
    for (const field of type.fields) namesIn(field.type).forEach(add);
  };
  const validators = new Map<string, ValidateFunction>();
  const compile = (record: string): ValidateFunction => {
    add(record);
    const validate = ajv.getSchema(record);
    if (validate === undefined) throw new Error(`assertion failed: ${record} is a record`);
    validators.set(record, validate);
    return validate;
  };

  return ({ record }, value) => {
    const validate = validators.get(record) ?? compile(record);
    try {
      if (validate(value)) return { ok: true, value: value as Record<string, unknown> };
    } catch (error) {
      // A record may contain itself: then the value decides how deep the validator calls itself.
      if (error instanceof RangeError) return { ok: false, misfits: [tooDeep] };
      throw error;
    }
    return { ok: false, misfits: misfitsOf(validate.errors ?? []) };
  };
}

/** Has no type, so that ajv runs it before it fills in the defaults of an object. */
const absentWhenNull: CodeKeywordDefinition = {
  keyword: "absentWhenNull",
  schemaType: "array",
  code({ gen, data, schema }) {
    gen.if(_`${data} && typeof ${data} == "object"`, () => {
      for (const name of schema as readonly string[]) {
        const member = _`${data}[${name}]`;
        gen.if(_`${member} === null`, () => gen.code(_`delete ${member}`));
      }
    });
  },
};

/** What ajv calls them in the functions that it makes. */
const [errors, foundErrors] = [new Name("errors"), new Name("vErrors")];

const boundedMisfits: CodeKeywordDefinition = {
  keyword: "misfitsMax",
  schemaType: "number",
  code({ gen, schema, it }) {
    gen.if(_`${errors} >= ${schema}`, () => {
      gen.assign(_`${it.validateName}.errors`, foundErrors);
      gen.return(false);
    });
  },
};

function urn(namespace: string): CodeKeywordDefinition {
  // Half a character is refused, which costs next to nothing. Control characters are not, though no
  // entity has them in its urn: what else the aspect says counts more than one such reference.
  const normalise = (text: string) =>
    URN.test(text) && text.isWellFormed() ? withNamespace(text, namespace) : undefined;
  return {
    keyword: "urn",
    type: "string",
    schemaType: "boolean",
    code(context) {
      const { gen, data, it } = context;
      const found = gen.const("urn", _`${gen.scopeValue("func", { ref: normalise })}(${data})`);
      context.fail(_`${found} === undefined`);
      gen.if(_`${found} !== undefined && ${found} !== ${data}`, () =>
        gen.assign(_`${it.parentData}[${it.parentDataProperty}]`, found),
      );
    },
  };
}

function oneMember(prefix: string): FuncKeywordDefinition {
  return {
    keyword: "oneMember",
    type: "object",
    schemaType: "array",
    before: "properties",
    modifying: true,
    errors: false,
    compile(keys: readonly string[]) {
      const find = createNameIndex(
        keys.map((key) => [key, key]),
        prefix,
      );
      return (value: Record<string, unknown>) => {
        keepDiscriminated(value, keys);
        const members = Object.keys(value);
        const [member] = members;
        const key = member === undefined ? undefined : find(member);
        if (members.length !== 1 || member === undefined || key === undefined) return false;
        if (key !== member) {
          value[key] = value[member];
          delete value[member];
        }
        return true;
      };
    },
  };
}

/**
 * Files written by the reference's Python classes tell a union of aliases as a record:
 * {costId: null, costCode: "x", fieldDiscriminator: "costCode"} → {costCode: "x"}
 */
function keepDiscriminated(value: Record<string, unknown>, keys: readonly string[]): void {
  const { fieldDiscriminator: chosen } = value;
  if (typeof chosen !== "string" || !keys.includes(chosen)) return;
  for (const member of Object.keys(value)) if (member !== chosen) delete value[member];
}
