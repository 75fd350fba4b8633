/** Edits the values of a structured property as its definition allows. */
import { type FormEvent, useId, useState } from "react";
import type { PropertyValue } from "../../../api/writes.ts";
import { Dialog } from "../../../components/dialog.tsx";
import { EntityChip } from "../../../components/entity-link.tsx";
import { EntityPicker } from "../../../components/entity-picker.tsx";
import { Icon } from "../../../components/icon.tsx";
import { type Definition, parseValue, textOf } from "./definition.ts";

interface DialogProps {
  readonly definition: Definition;
  readonly values: readonly PropertyValue[];
  readonly onClose: () => void;
  /** No values: the property is removed. */
  readonly onSave: (values: readonly PropertyValue[]) => void;
}

export function PropertyDialog({ definition, values, onClose, onSave }: DialogProps) {
  const [texts, setTexts] = useState<readonly string[]>(values.map(textOf));
  const [error, setError] = useState<string>();
  const save = (event: FormEvent) => {
    event.preventDefault();
    const filled = texts.filter((text) => text.trim() !== "");
    const parsed = filled.map((text) => parseValue(definition, text));
    const wrong = filled.find((_, n) => parsed[n] === undefined);
    if (wrong !== undefined) return setError(`“${wrong}” is not a ${noun(definition)}`);
    onSave(parsed.flatMap((value) => value ?? []));
  };
  return (
    <Dialog title={definition.name} onClose={onClose}>
      <form className="stack" onSubmit={save}>
        {definition.description !== undefined && <p className="muted">{definition.description}</p>}
        <Fields definition={definition} texts={texts} onTexts={setTexts} />
        {error !== undefined && (
          <p className="bad" role="alert">
            {error}
          </p>
        )}
        <div className="actions">
          {values.length > 0 && (
            <button type="button" className="button danger" onClick={() => onSave([])}>
              Remove
            </button>
          )}
          <span className="spread" />
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className="button primary"
            disabled={texts.every((text) => text.trim() === "")}
          >
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const noun = ({ type, allowed }: Definition): string => {
  if (allowed !== undefined) return "value that the definition allows";
  return type === "urn" ? "urn" : type === "date" ? "date" : "number";
};

interface FieldsProps {
  readonly definition: Definition;
  readonly texts: readonly string[];
  readonly onTexts: (texts: readonly string[]) => void;
}

function Fields(props: FieldsProps) {
  const { definition } = props;
  if (definition.allowed !== undefined) return <Choices {...props} />;
  if (definition.type === "urn") return <Urns {...props} />;
  return <Texts {...props} />;
}

/** One of the allowed values, or several of them. */
function Choices({ definition, texts, onTexts }: FieldsProps) {
  const id = useId();
  const { multiple, allowed = [], name } = definition;
  const select = (text: string, on: boolean) => {
    if (!multiple) onTexts([text]);
    else onTexts(on ? [...texts, text] : texts.filter((one) => one !== text));
  };
  return (
    <fieldset className="choices">
      <legend className="hidden-text">{name}</legend>
      {allowed.map(({ value, description }) => {
        const text = textOf(value);
        return (
          <label key={text} className="choice">
            <input
              type={multiple ? "checkbox" : "radio"}
              name={id}
              checked={texts.includes(text)}
              onChange={(event) => select(text, event.target.checked)}
            />
            <span>
              {text}
              {description !== undefined && <span className="muted small">{description}</span>}
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}

function Urns({ definition, texts, onTexts }: FieldsProps) {
  const { multiple, urnTypes, name } = definition;
  return (
    <>
      {texts.length > 0 && (
        <div className="row tight">
          {texts.map((urn) => (
            <EntityChip
              key={urn}
              urn={urn}
              onRemove={() => onTexts(texts.filter((one) => one !== urn))}
            />
          ))}
        </div>
      )}
      <EntityPicker
        {...(urnTypes.length === 0 ? {} : { types: urnTypes })}
        label={`Find a value of ${name}`}
        onPick={(urn) => onTexts(multiple ? [...new Set([...texts, urn])] : [urn])}
      />
    </>
  );
}

function Texts({ definition, texts, onTexts }: FieldsProps) {
  const { multiple, name, type } = definition;
  const shown = texts.length === 0 ? [""] : texts;
  const set = (n: number, text: string) => onTexts(shown.map((one, m) => (m === n ? text : one)));
  return (
    <div className="stack tight">
      {shown.map((text, n) => {
        const label = multiple ? `${name}, value ${n + 1}` : name;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: values have no identity of their own.
          <div key={n} className="row tight value-row">
            {type === "rich_text" ? (
              <textarea
                className="field"
                rows={6}
                aria-label={label}
                value={text}
                onChange={(event) => set(n, event.target.value)}
              />
            ) : (
              <input
                className="field"
                type={type === "date" ? "date" : "text"}
                inputMode={type === "number" ? "decimal" : "text"}
                aria-label={label}
                value={text}
                onChange={(event) => set(n, event.target.value)}
              />
            )}
            {multiple && shown.length > 1 && (
              <button
                type="button"
                className="button quiet icon"
                aria-label={`Remove value ${n + 1}`}
                onClick={() => onTexts(shown.filter((_, m) => m !== n))}
              >
                <Icon name="close" />
              </button>
            )}
          </div>
        );
      })}
      {multiple && (
        <button type="button" className="button quiet" onClick={() => onTexts([...shown, ""])}>
          <Icon name="plus" /> Another value
        </button>
      )}
    </div>
  );
}
