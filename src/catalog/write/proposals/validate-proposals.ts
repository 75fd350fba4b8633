/**
 * Validates proposals and turns them into aspect commands, as far as the entity's state is not
 * needed: form, names, size, schema and derived fields. An error names the member of the request.
 */

import type { AuditStamp } from "../../../core/change.ts";
import type { AspectCommand, AspectValue, ComputedValue } from "../../../core/decide.ts";
import { CatalogError } from "../../../core/errors.ts";
import type { JsonLimits } from "../../../core/json-text.ts";
import { applyPatch, type Patch, type PatchRules, parsePatch } from "../../../core/patch/patch.ts";
import { defaultAspects } from "../../../core/rules/default-aspects.ts";
import { type OtherEntities, textsIn } from "../../../core/rules/other-entities.ts";
import {
  applyWriteRule,
  looksBack,
  othersNeeded,
  rejectionOf,
  type WriteContext,
} from "../../../core/rules/write-rules.ts";
import { entityTypeOf, isUrn } from "../../../core/urn.ts";
import { nearest } from "../../../lib/did-you-mean.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { urnOfKey } from "../../../model/entity-key.ts";
import {
  type Aspect,
  type Checked,
  type Entity,
  type Model,
  unknownEntityType,
} from "../../../model/model.ts";
import { withoutTypeNames } from "../../../model/type-names.ts";
import type { Addresses } from "../../address.ts";
import {
  CHECKED,
  HAS_TYPE_NAMES,
  largeCharacters,
  type Proposal,
  type ProposedChange,
} from "../../catalog.ts";
import { labelled, labelOf } from "../../labels.ts";
import { computedAhead, type ValueThread } from "../computed-ahead.ts";
import { createLinkPaths } from "./link-paths.ts";
import {
  checkedBefore,
  invalidValue,
  parsedOnce,
  parseJsonText,
  systemOf,
} from "./proposal-parts.ts";
import type { Addressed, ProposalValidation, ValidatedProposal } from "./validated-proposal.ts";
import { conditionsOf, rejectConditions } from "./write-conditions.ts";
import { rejectNewUrns } from "./wrong-urns.ts";

type CheckedValue = Extract<Checked, { readonly ok: true }>;

interface Dependencies {
  readonly model: Model;
  readonly addresses: Addresses;
  readonly namespace: string;
  readonly aspectBytesMax: number;
  /** Limits of JSON texts in proposals. */
  readonly jsonLimits: JsonLimits;
  readonly patchRules: PatchRules;
  /** Computes large values; they are computed here if it is absent. */
  readonly valueThread?: ValueThread | undefined;
  /** Called if a sent key aspect contradicts the urn. */
  readonly onContradictedKey: (urn: string) => void;
}

const KINDS: Readonly<Record<ProposedChange, AspectCommand["kind"]>> = {
  UPSERT: "put",
  UPDATE: "put",
  RESTATE: "put",
  PATCH: "put",
  CREATE: "create",
  CREATE_ENTITY: "create_entity",
  DELETE: "delete",
};

const CONTENT_TYPES = ["application/json", "application/json-patch+json"];

export function createProposalValidation(dependencies: Dependencies): ProposalValidation {
  const { model, addresses, namespace, aspectBytesMax, patchRules } = dependencies;
  const linksOf = createLinkPaths(model);
  const parseText = (text: string, member: string) =>
    parseJsonText(text, member, dependencies.jsonLimits);

  function address(proposal: Proposal, place: { index: number; count: number }): Addressed {
    const label = labelOf(proposal, place);
    return labelled(label, () => {
      const stated = model.findEntity(proposal.entityType);
      if (stated === undefined) throw unknownEntityType(model, proposal.entityType, "invalid");
      const { urn, entity, key } = addresses.writable(entityUrn(proposal, stated));
      if (entity !== stated) {
        throw new CatalogError(
          "invalid",
          `urn "${urn}" is of entity type "${entity.name}", the proposal says "${stated.name}"`,
        );
      }
      const aspect = aspectOf(proposal, entity);
      const sent = parsedOnce(() => sentValue(proposal));
      return { urn, entity, key, aspect, proposal, sent, label };
    });
  }

  function entityUrn(proposal: Proposal, entity: Entity): string {
    if (proposal.entityUrn !== undefined) return proposal.entityUrn;
    if (proposal.entityKeyAspect === undefined) {
      throw new CatalogError("malformed", "the proposal has neither entityUrn nor entityKeyAspect");
    }
    const key = parseText(proposal.entityKeyAspect.value, "entityKeyAspect.value");
    return urnOfKey(entity, key, namespace);
  }

  function aspectOf({ aspectName }: Proposal, entity: Entity): Aspect {
    if (aspectName === undefined || aspectName === "") {
      throw new CatalogError("malformed", "the proposal has no aspectName");
    }
    const aspect = model.findAspectOf(entity, aspectName);
    if (aspect !== undefined) return aspect;
    throw new CatalogError("invalid", `Unknown aspect ${aspectName} for entity ${entity.name}`, {
      hint: nearest(aspectName, [entity.keyAspect, ...entity.aspects]),
    });
  }

  function validate(
    addressed: Addressed,
    stamp: AuditStamp,
    others?: OtherEntities,
  ): ValidatedProposal {
    const { urn, entity, aspect, proposal, label } = addressed;
    return labelled(label, () => {
      if (
        aspect.timeseries &&
        proposal.changeType !== "UPSERT" &&
        proposal.changeType !== "DELETE"
      ) {
        throw new CatalogError(
          "invalid",
          `change type ${proposal.changeType} is not supported for the timeseries aspect "${aspect.name}"`,
          { hint: "Send UPSERT: an event with the same time and key replaces the earlier one" },
        );
      }
      const conditions = conditionsOf(proposal);
      if (aspect.timeseries) rejectConditions(proposal, `the timeseries aspect "${aspect.name}"`);
      const command: AspectCommand = {
        aspect: aspect.name,
        kind: KINDS[proposal.changeType],
        ...(proposal.changeType !== "DELETE" && newValue(addressed, stamp, others)),
        schemaVersion: aspect.schemaVersion,
        system: systemOf(proposal),
        conditions,
        headers: proposal.headers,
        label,
      };
      return { urn, entity, aspect, command };
    });
  }

  const dependsOnNothingElse = ({
    entity,
    aspect,
  }: Pick<Addressed, "entity" | "aspect">): boolean =>
    !aspect.timeseries &&
    aspect.name !== entity.keyAspect &&
    othersNeeded(aspect.name) === undefined &&
    !model.requiresEntities(aspect);

  function newValue(
    addressed: Addressed,
    stamp: AuditStamp,
    others: OtherEntities | undefined,
  ): Pick<AspectCommand, "value" | "ahead"> {
    const { proposal, label } = addressed;
    const { valueThread } = dependencies;
    const sent = proposal.aspect?.value;
    // A parsed value is from a small body.
    const characters = typeof sent === "string" ? sent.length : 0;
    const isAlone = dependsOnNothingElse(addressed);
    // The body thread has found no error in it, and it is parsed there again.
    const isOpen = isAlone && proposal[CHECKED] === "open" && characters > largeCharacters;
    const value: AspectCommand["value"] = isOpen
      ? (current, sibling) => {
          const now = commandValue(addressed, stamp, others);
          return typeof now === "function" ? now(current, sibling) : now;
        }
      : commandValue(addressed, stamp, others);
    if (!isAlone || valueThread === undefined || typeof value !== "function") return { value };
    return computedAhead(value, characters, (current) =>
      valueThread.compute({ proposal, label, stamp, current }),
    );
  }

  function commandValue(
    { urn, entity, aspect, proposal, sent: sentOnce, label }: Addressed,
    stamp: AuditStamp,
    others: OtherEntities | undefined,
  ): AspectValue | ComputedValue {
    const validatedBefore = checkedBefore(proposal);
    if (validatedBefore !== undefined) return validatedBefore;
    const rule: WriteContext = { namespace, urn, others, links: linksOf(aspect.record) };
    const parsed = sentOnce();
    const type = { kind: "named", name: aspect.record } as const;
    const sent =
      proposal[HAS_TYPE_NAMES] === undefined ? parsed : withoutTypeNames(parsed, type, model.types);
    /** Checks its required entities, except for RESTATE, which restores values in any order, as in DataHub. */
    const check = (value: unknown): CheckedValue =>
      checkedValue(aspect, value, proposal.changeType === "RESTATE" ? undefined : others);
    if (proposal.changeType === "PATCH") {
      const patch = parsePatch(sent, patchRules, aspect.name);
      rejectUnknownFields(patch, aspect);
      if (aspect.name === entity.keyAspect) {
        const { key } = addresses.readable(urn);
        return (current) =>
          labelled(label, () =>
            keyOf(urn, aspect, applyPatch(current?.value ?? key, patch, stamp)),
          );
      }
      return (current, sibling) =>
        labelled(label, () => {
          const previous = current?.value;
          const checked = check(applyPatch(previous, patch, stamp));
          rejectNewUrns(model, aspect, checked, previous);
          return checkedByRules(aspect, checked.value, {
            ...rule,
            previous,
            sibling,
            patched: true,
          });
        });
    }
    if (aspect.name === entity.keyAspect) return keyOf(urn, aspect, sent);
    const checked = check(sent);
    // Events have no previous value.
    if (aspect.timeseries) {
      rejectNewUrns(model, aspect, checked, undefined);
      return checkedByRules(aspect, checked.value, rule);
    }
    if (looksBack(aspect.name)) {
      return (current, sibling) =>
        labelled(label, () => {
          const previous = current?.value;
          rejectNewUrns(model, aspect, checked, previous);
          return checkedByRules(aspect, checked.value, { ...rule, previous, sibling });
        });
    }
    const validated = withRules(aspect, checked.value, rule);
    const rejected = rejectionOf(aspect.name, validated.value, rule) !== undefined;
    if (!rejected && checked.wrongUrns === undefined) return validated;
    // A value that the aspect already has may be written again.
    return (current, sibling) =>
      labelled(label, () => {
        const previous = current?.value;
        rejectNewUrns(model, aspect, checked, previous);
        return allowed(aspect, validated, { ...rule, previous, sibling });
      });
  }

  /**
   * Fields that are not in the schema are removed from a sent value; in a patch they are an error,
   * because the patch would change nothing.
   */
  function rejectUnknownFields({ operations }: Patch, { name, record }: Aspect): void {
    const type = model.types.get(record);
    if (type?.kind !== "record") return;
    const fields = new Set(type.fields.map((field) => field.name));
    for (const { op, path } of operations) {
      const [field] = path.segments;
      if (op === "remove" || field === undefined || fields.has(field)) continue;
      throw new CatalogError(
        "invalid",
        `the patch of "${name}" has ${op} "${path.text}", and "${name}" has no field "${field}"`,
        { hint: nearest(field, fields) ?? `It has ${[...fields].join(", ")}` },
      );
    }
  }

  /** The urn takes precedence; a sent key is only compared with it. */
  function keyOf(urn: string, aspect: Aspect, sent: unknown): AspectValue {
    const value = addresses.readable(urn).key;
    const checked = model.check(aspect, sent);
    const text = JSON.stringify(value);
    if (!checked.ok || JSON.stringify(checked.value) !== text) dependencies.onContradictedKey(urn);
    return { value, text };
  }

  function sentValue({ aspect, changeType }: Proposal): unknown {
    if (aspect?.value === undefined || aspect.value === null) {
      throw new CatalogError("malformed", `the proposal has no aspect value`, {
        hint: `${changeType} needs aspect: {value: "<JSON text>", contentType: "application/json"}`,
      });
    }
    const { contentType } = aspect;
    if (
      contentType !== undefined &&
      !CONTENT_TYPES.includes(contentType.split(";")[0]?.trim().toLowerCase() ?? "")
    ) {
      throw new CatalogError("invalid", `unsupported contentType "${contentType}" of the aspect`, {
        hint: "Send application/json",
      });
    }
    if (typeof aspect.value !== "string") return aspect.value;
    checkSize(aspect.value);
    return parseText(aspect.value, "aspect.value");
  }

  function checkedValue(
    aspect: Aspect,
    value: unknown,
    others: OtherEntities | undefined,
  ): CheckedValue {
    const checked = model.check(aspect, value);
    if (!checked.ok) throw invalidValue(aspect, checked.validationErrors);
    const { requiredUrns, wrongUrns = [] } = checked;
    if (requiredUrns === undefined || others === undefined) return checked;
    const missing = requiredUrns
      .filter(({ urn }) => others.find(urn) === undefined)
      .map((one) => ({
        ...one,
        fault: "the entity does not exist",
        expected: "an existing entity",
      }));
    return missing.length === 0 ? checked : { ...checked, wrongUrns: [...wrongUrns, ...missing] };
  }

  const checkedByRules = (
    aspect: Aspect,
    checked: JsonObject,
    context: WriteContext,
  ): AspectValue => allowed(aspect, withRules(aspect, checked, context), context);

  function allowed(aspect: Aspect, validated: AspectValue, context: WriteContext): AspectValue {
    const rejection = rejectionOf(aspect.name, validated.value, context);
    if (rejection !== undefined) throw rejection;
    return validated;
  }

  function withRules(aspect: Aspect, checked: JsonObject, context: WriteContext): AspectValue {
    const value = applyWriteRule(aspect.name, checked, context);
    const text = JSON.stringify(value);
    checkSize(text);
    return { value, text };
  }

  function checkSize(text: string): void {
    // Text of n UTF-16 units has at least n and at most 3n bytes.
    if (text.length * 3 <= aspectBytesMax) return;
    const bytes = Buffer.byteLength(text);
    if (bytes <= aspectBytesMax) return;
    throw new CatalogError(
      "too_large",
      `the aspect value has ${bytes} bytes; at most ${aspectBytesMax} are allowed`,
    );
  }

  return {
    address,
    validate,
    dependsOnNothingElse,

    dependencies({ urn, aspect, proposal, sent, label }) {
      const rule = othersNeeded(aspect.name);
      const requiring = model.requiresEntities(aspect);
      if (proposal.changeType === "DELETE" || (rule === undefined && !requiring)) return undefined;
      if (checkedBefore(proposal) !== undefined) return undefined;
      const { types = [], beside = () => [], all } = rule ?? {};
      const reads = (text: string): boolean =>
        requiring ? isUrn(text) : types.includes(entityTypeOf(text)) && isUrn(text);
      const value = labelled(label, () =>
        proposal.changeType === "PATCH" ? parsePatch(sent(), patchRules, aspect.name) : sent(),
      );
      const mentioned = [...new Set(textsIn(value))].filter(reads);
      const urns = [...mentioned, ...[urn, ...mentioned].flatMap(beside)];
      if (urns.length === 0 && all === undefined) return undefined;
      return { urns, all: all && { ...all, key: all.keyOf(urn) } };
    },

    defaultAspects(entity, urn, delimiterOf) {
      const { key } = addresses.readable(urn);
      const made: Record<string, unknown> = {
        [entity.keyAspect]: key,
        ...defaultAspects(entity, key, { namespace, delimiterOf }),
      };
      return Object.entries(made).map(([name, value]) => ({
        aspect: name,
        validated: { value: value as Record<string, unknown>, text: JSON.stringify(value) },
        schemaVersion: model.aspects.get(name)?.schemaVersion ?? 1,
      }));
    },
  };
}
