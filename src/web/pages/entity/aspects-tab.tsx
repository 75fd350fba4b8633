/** The aspects of an entity as JSON, with editing and as cURL. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import type { Aspect } from "../../api/aspect.ts";
import type { Entity } from "../../api/entities.ts";
import { actorStore, sessionStore } from "../../api/http.ts";
import { isObject } from "../../api/json.ts";
import { useMayDelete, useMayWrite } from "../../api/privileges.ts";
import { typeOf } from "../../api/urn.ts";
import { deleteAspect, proposalBody, writeAspect } from "../../api/writes.ts";
import { listOf, type UrlQuery } from "../../app/url-query.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { Dialog, DialogButtons } from "../../components/dialog.tsx";
import { EntityLink } from "../../components/entity-link.tsx";
import { Loading, messageOf } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { announce } from "../../components/toasts.tsx";
import { useEdit } from "./editing/use-edit.ts";
import { aspectSchemaQuery, modelQuery } from "./model.ts";
import { DiffersBadge, differs } from "./now.tsx";

const JsonEditor = lazy(() => import("../../components/json-editor.tsx"));

interface TabProps {
  readonly entity: Entity;
  readonly asOf: string | undefined;
  /** The entity as it is now, while the page shows the past. */
  readonly now: Entity | undefined;
}

export default function AspectsTab({ entity, asOf, now }: TabProps) {
  const { urn } = entity;
  const names = [...entity.aspects.keys()].toSorted();
  const url = useSearch({ strict: false }) as UrlQuery;
  const navigate = useNavigate();
  const { data: model = [] } = useQuery(modelQuery(typeOf(urn)));
  const mayWrite = useMayWrite(urn);
  const absent = model
    .filter(({ name, timeseries }) => !timeseries && !entity.aspects.has(name) && mayWrite(name))
    .map(({ name }) => name)
    .toSorted();
  const [wanted = ""] = listOf(url.aspect);
  const selected = names.includes(wanted) || absent.includes(wanted) ? wanted : (names[0] ?? "");
  const setSelected = (aspect: string) =>
    void navigate({
      to: ".",
      search: { ...url, aspect, path: undefined },
      replace: true,
      resetScroll: false,
    });
  const marked = (name: string): boolean =>
    now !== undefined && differs(entity.aspects.get(name)?.value, now.aspects.get(name)?.value);
  return (
    <div className="aspects">
      <nav className="aspect-names" aria-label="Aspects">
        {names.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === selected}
            onClick={() => setSelected(name)}
          >
            {name} {marked(name) && <DiffersBadge />}
          </button>
        ))}
        {asOf === undefined && absent.length > 0 && (
          <select
            className="field"
            aria-label="Add an aspect"
            value={names.includes(selected) ? "" : selected}
            onChange={(event) => setSelected(event.target.value)}
          >
            <option value="">Add an aspect</option>
            {absent.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </nav>
      {selected !== "" && (
        <AspectPanel
          key={`${selected}${entity.aspects.get(selected)?.time}${asOf}`}
          urn={urn}
          name={selected}
          aspect={entity.aspects.get(selected)}
          path={selected === wanted ? listOf(url.path) : []}
          readOnly={asOf !== undefined}
        />
      )}
    </div>
  );
}

interface PanelProps {
  readonly urn: string;
  readonly name: string;
  readonly aspect: Aspect | undefined;
  /** The value to mark. */
  readonly path: readonly string[];
  readonly readOnly: boolean;
}

function AspectPanel({ urn, name, aspect, path, readOnly: past }: PanelProps) {
  const readOnly = !useMayWrite(urn)(name) || past;
  const mayDelete = useMayDelete(urn)(name) && !past;
  const stored = JSON.stringify(aspect?.value ?? {}, null, 2);
  const [text, setText] = useState(stored);
  const [error, setError] = useState<string>();
  const [deleting, setDeleting] = useState(false);
  const edit = useEdit(urn);
  const isKey = name.endsWith("Key");
  const { data: schema } = useQuery({ ...aspectSchemaQuery(name), enabled: !readOnly && !isKey });
  const save = async () => {
    const value = parse(text);
    if (!isObject(value)) return setError("The value of an aspect is a JSON object");
    try {
      const position = await writeAspect(urn, name, value, aspect?.version ?? "-1");
      setError(undefined);
      announce(`Saved at position ${position}`);
      await edit(() => Promise.resolve(), `${name} saved`);
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  return (
    <section className="panel">
      <header>
        <h2 className="mono">{name}</h2>
        <div className="actions">
          <CopyButton text={() => curlOf(urn, name, text)} label="Copy as cURL" />
          {mayDelete && aspect !== undefined && !isKey && (
            <button type="button" className="button danger" onClick={() => setDeleting(true)}>
              Delete
            </button>
          )}
          {!readOnly && !isKey && (
            <button
              type="button"
              className="button primary"
              disabled={text === stored}
              onClick={() => void save()}
            >
              Save
            </button>
          )}
        </div>
      </header>
      {aspect !== undefined && (
        <p className="history-meta small muted aspect-meta">
          <span>version {aspect.version}</span>
          <Time at={aspect.time} />
          <EntityLink urn={aspect.actor} />
        </p>
      )}
      <Suspense fallback={<Loading lines={10} />}>
        <JsonEditor
          label={`Value of ${name}`}
          text={stored}
          error={error}
          path={path.join("/")}
          readOnly={readOnly || isKey}
          schema={schema}
          onChange={setText}
        />
      </Suspense>
      {error !== undefined && (
        <p className="editor-error" role="alert">
          {error}
        </p>
      )}
      {deleting && (
        <Dialog title={`Delete ${name}`} onClose={() => setDeleting(false)}>
          <p>The history keeps the value. It can be restored there.</p>
          <DialogButtons
            label="Delete"
            danger
            onCancel={() => setDeleting(false)}
            onConfirm={() => {
              setDeleting(false);
              void edit(() => deleteAspect(urn, name), `${name} deleted`);
            }}
          />
        </Dialog>
      )}
    </section>
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The write of the shown value as a command of a shell, by the acting user or with a token of the reader. */
function curlOf(urn: string, name: string, text: string): string {
  const value = parse(text);
  if (!isObject(value)) throw new Error("The value of an aspect is a JSON object");
  const actor = actorStore.get();
  const caller = sessionStore.get().signInRequired
    ? [`-H "Authorization: Bearer $ANNALS_TOKEN"`]
    : actor === ""
      ? []
      : [`-H ${quoted(`X-Service-Actor: ${actor}`)}`];
  return [
    `curl ${quoted(`${location.origin}/aspects?action=ingestProposal`)}`,
    `-H ${quoted("Content-Type: application/json")}`,
    ...caller,
    `-d ${quoted(JSON.stringify(proposalBody(urn, name, value)))}`,
  ].join(" ");
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
