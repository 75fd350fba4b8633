/**
 * Checks aspect values against the model and normalises them in place (Model.check). Validators are
 * compiled by ajv from JSON Schemas of the records, each when a value first asks for it; aspects
 * that share a record share its validator.
 */
import { createRequire } from "node:module";
import type { CodeKeywordDefinition, FuncKeywordDefinition, ValidateFunction } from "ajv";
import { withNamespace } from "../core/urn.ts";
import { createRecordSchemas, type Expectation, validationErrorsMax } from "./json-schema.ts";
import type { Aspect, Checked, Entity, NamedType, UrnInValue, WrongUrn } from "./model.ts";
import { createNameIndex } from "./record-names.ts";
import type { UrnChecks } from "./urn-check.ts";
import type { UrnRule } from "./urn-rules.ts";
import { tooDeep, validationErrorsOf, validationErrorsOfUrns } from "./validation-errors.ts";

const require = createRequire(import.meta.url);
/** The package ajv. The first value loads it: the start of a service validates none. */
const ajvPackage = (): typeof import("ajv") => require("ajv");

/** Any namespace, any type, some id. What is inside the id is the entity's own matter. */
const URN = /^urn:[A-Za-z0-9][A-Za-z0-9-]{0,31}:[A-Za-z][A-Za-z0-9_]*:./s;

interface ValidatorOptions {
  readonly entities: ReadonlyMap<string, Entity>;
  readonly urnChecks: UrnChecks;
  readonly prefix: string;
  readonly namespace: string;
}

/** The urns that a validator reports besides its result; a new report for each value. */
interface UrnReport {
  readonly wrong: WrongUrn[];
  readonly required: UrnInValue[];
}

export function createValidator(
  types: ReadonlyMap<string, NamedType>,
  { entities, urnChecks, prefix, namespace }: ValidatorOptions,
): (aspect: Aspect, value: unknown) => Checked {
  let report: UrnReport = { wrong: [], required: [] };
  const keywords = () => [
    absentWhenNull,
    boundedValidationErrors,
    urn(namespace, { urnChecks, reportTo: () => report }),
    oneMember(prefix),
  ];
  let schemaOf: ReturnType<typeof createSchemas> | undefined;
  const validators = new Map<string, ValidateFunction>();
  const compile = (record: string): ValidateFunction => {
    schemaOf ??= createSchemas({ types, entities, keywords: keywords() });
    const validate = schemaOf(record);
    if (validate === undefined) throw new Error(`assertion failed: ${record} is a record`);
    validators.set(record, validate);
    return validate;
  };

  return ({ record }, value) => {
    const validate = validators.get(record) ?? compile(record);
    if (report.wrong.length + report.required.length > 0) report = { wrong: [], required: [] };
    const { wrong, required } = report;
    try {
      if (validate(value)) {
        return {
          ok: true,
          value: value as Record<string, unknown>,
          ...(wrong.length > 0 && { wrongUrns: wrong }),
          ...(required.length > 0 && { requiredUrns: required }),
        };
      }
    } catch (error) {
      // A record may contain itself: then the value decides how deep the validator calls itself.
      if (error instanceof RangeError) return { ok: false, validationErrors: [tooDeep] };
      throw error;
    }
    const validationErrors = [
      ...validationErrorsOf(validate.errors ?? []),
      ...validationErrorsOfUrns(wrong),
    ];
    return { ok: false, validationErrors: validationErrors.slice(0, validationErrorsMax) };
  };
}

/** Returns a function that compiles the validator of a record. */
function createSchemas({
  types,
  entities,
  keywords,
}: Pick<ValidatorOptions, "entities"> & {
  readonly types: ReadonlyMap<string, NamedType>;
  readonly keywords: readonly KeywordDefinition[];
}): (record: string) => ValidateFunction | undefined {
  const { Ajv } = ajvPackage();
  const ajv = new Ajv({
    allErrors: true, // bounded by validationErrorsMax
    verbose: true, // an error shows the value that was found
    useDefaults: true,
    removeAdditional: true,
    // json-schema.ts makes the schemas; none is read from outside.
    validateSchema: false,
    meta: false,
    logger: false,
    // As in body-schemas.ts: a first write waits for the code.
    code: { optimize: false },
  });
  ajv.addVocabulary(["expects"]);
  for (const keyword of keywords) ajv.addKeyword(keyword);
  const add = (schema: object): void => void ajv.addSchema(schema);
  const idOf = createRecordSchemas({ types, entities, add });
  return (record) => ajv.getSchema(idOf(record));
}

type KeywordDefinition = CodeKeywordDefinition | FuncKeywordDefinition;

/** Has no type, so that ajv runs it before it fills in the defaults of an object. */
const absentWhenNull: CodeKeywordDefinition = {
  keyword: "absentWhenNull",
  schemaType: "array",
  code({ gen, data, schema }) {
    const { _ } = ajvPackage();
    gen.if(_`${data} && typeof ${data} == "object"`, () => {
      for (const name of schema as readonly string[]) {
        const member = _`${data}[${name}]`;
        gen.if(_`${member} === null`, () => gen.code(_`delete ${member}`));
      }
    });
  },
};

const boundedValidationErrors: CodeKeywordDefinition = {
  keyword: "validationErrorsMax",
  schemaType: "number",
  code({ gen, schema, it }) {
    const { _, Name } = ajvPackage();
    // Variables in the functions that ajv generates.
    const [errors, foundErrors] = [new Name("errors"), new Name("vErrors")];
    gen.if(_`${errors} >= ${schema}`, () => {
      gen.assign(_`${it.validateName}.errors`, foundErrors);
      gen.return(false);
    });
  },
};

/**
 * Checks that a text is a urn. A wrong entity type or wrong key parts are reported separately, because an
 * aspect may keep a urn that it already has. Lone surrogates are rejected. Control characters are
 * accepted, although no urn of an entity has them: one such reference does not invalidate an aspect.
 */
function urn(
  namespace: string,
  { urnChecks, reportTo }: { urnChecks: UrnChecks; reportTo: () => UrnReport },
): CodeKeywordDefinition {
  const normalise = (text: string) =>
    URN.test(text) && text.isWellFormed() ? withNamespace(text, namespace) : undefined;
  const inspect = (rule: UrnRule, expectation: Expectation) => {
    const faultOf = urnChecks(rule);
    return (found: string, path: string): void => {
      const fault = faultOf(found);
      if (fault !== undefined) {
        reportTo().wrong.push({ urn: found, path, fault, expected: expectation.text });
      } else if (rule.exist === true) reportTo().required.push({ urn: found, path });
    };
  };
  return {
    keyword: "urn",
    type: "string",
    schemaType: "object",
    code(context) {
      const { gen, data, schema, parentSchema, it } = context;
      const { _, Name } = ajvPackage();
      const instancePath = new Name("instancePath");
      const found = gen.const("urn", _`${gen.scopeValue("func", { ref: normalise })}(${data})`);
      context.fail(_`${found} === undefined`);
      const ref = inspect(schema, parentSchema.expects);
      gen.if(_`${found} !== undefined`, () => {
        gen.code(
          _`${gen.scopeValue("func", { ref })}(${found}, ${instancePath} + ${it.errorPath})`,
        );
        gen.if(_`${found} !== ${data}`, () =>
          gen.assign(_`${it.parentData}[${it.parentDataProperty}]`, found),
        );
      });
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
 * Files written by DataHub's Python classes have a union of aliases as a record:
 * {costId: null, costCode: "x", fieldDiscriminator: "costCode"} → {costCode: "x"}
 */
function keepDiscriminated(value: Record<string, unknown>, keys: readonly string[]): void {
  const { fieldDiscriminator: chosen } = value;
  if (typeof chosen !== "string" || !keys.includes(chosen)) return;
  for (const member of Object.keys(value)) if (member !== chosen) delete value[member];
}
