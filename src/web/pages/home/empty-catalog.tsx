/** The home page of an empty catalog: three ways to fill it. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import sample from "../../../../test/data/sample/catalog.json?url";
import { read } from "../../api/http.ts";
import { ingestRecords } from "../../api/ingest.ts";
import { useMayChange } from "../../api/privileges.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { Failure } from "../../components/states.tsx";
import { announce } from "../../components/toasts.tsx";

export function EmptyCatalog() {
  const mayFill = useMayChange()("CREATE_ENTITY", "EDIT_ENTITY");
  return (
    <div className="page empty-catalog">
      <h1>The catalog is empty</h1>
      <p className="muted">Fill it in one of {mayFill ? "three" : "two"} ways.</p>
      <div className="ways">
        {mayFill && <SampleWay />}
        <section className="panel panel-body stack">
          <h2>Load a file</h2>
          <p className="muted">The command line ingests records of DataHub and its own exports.</p>
          <Code text={`npm run -s annals -- ingest ${serverFlag()}catalog.json`} />
        </section>
        <section className="panel panel-body stack">
          <h2>Run a DataHub recipe</h2>
          <p className="muted">
            The sources of DataHub write to this address with their REST sink.
          </p>
          <Code text={`sink:\n  type: datahub-rest\n  config:\n    server: ${location.origin}`} />
        </section>
      </div>
    </div>
  );
}

/** The server that commands use without a flag. */
const defaultServer = "http://127.0.0.1:8080";

const serverFlag = (): string =>
  location.origin === defaultServer ? "" : `--server ${location.origin} `;

const Code = ({ text }: { readonly text: string }) => (
  <div className="code-box">
    <pre>{text}</pre>
    <CopyButton text={text} />
  </div>
);

/** Loads the sample with one click. */
function SampleWay() {
  const queries = useQueryClient();
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const load = async () => {
    setRunning(true);
    setError(undefined);
    try {
      const count = await ingestRecords(await read<readonly unknown[]>(sample));
      announce(`Loaded ${count} records`);
      await queries.invalidateQueries();
    } catch (failure) {
      setError(failure);
    } finally {
      setRunning(false);
    }
  };
  return (
    <section className="panel panel-body stack">
      <h2>Load the sample</h2>
      <p className="muted">The catalog of a seed library: 37 records, loaded in a second.</p>
      <div>
        <button
          type="button"
          className="button primary"
          disabled={running}
          onClick={() => void load()}
        >
          {running ? "Loading" : "Load the sample"}
        </button>
      </div>
      {error !== undefined && <Failure error={error} />}
    </section>
  );
}
