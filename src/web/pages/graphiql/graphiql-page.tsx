/** A page to try GraphQL queries on, with the session of the reader. */
import { useEffect, useMemo, useState } from "react";
import { ApiError, send } from "../../api/http.ts";
import { Failure } from "../../components/states.tsx";
import { DocsPanel } from "./docs-panel.tsx";
import { Editor, jsonExtensions } from "./editor.tsx";
import "./graphiql.css";
import { type Run, storedRuns, titleOf, withRun } from "./history.ts";
import { queryExtensions } from "./query-extensions.ts";
import { useSchema } from "./schema.ts";

const firstQuery = `# Ctrl-Space completes, Ctrl-Enter runs the query.
query Find($text: String!) {
  searchAcrossEntities(input: { query: $text, start: 0, count: 5 }) {
    total
    searchResults {
      entity {
        urn
        type
      }
    }
  }
}
`;
const firstVariables = `{ "text": "*" }\n`;

type Side = "schema" | "history";

export default function GraphiqlPage() {
  const schema = useSchema();
  const [runs, setRuns] = useState(storedRuns);
  const [query, setQuery] = useState(runs[0]?.query ?? firstQuery);
  const [variables, setVariables] = useState(runs[0]?.variables ?? firstVariables);
  const [result, setResult] = useState(runs[0]?.result ?? "");
  const [state, setState] = useState("");
  const [side, setSide] = useState<Side>("schema");
  /** Counts the runs opened from the history: each begins with new editors. */
  const [opened, setOpened] = useState(0);
  const extensions = useMemo(() => queryExtensions(schema.data), [schema.data]);
  useEffect(() => {
    document.title = "GraphQL · Annals";
  }, []);

  const run = async () => {
    setState("Running");
    const at = Date.now();
    const answer = await execute(query, variables);
    setResult(answer.result);
    setRuns((before) => withRun(before, { at, query, variables, ...answer }));
    setState(`${answer.failed ? "Failed" : "Done"} in ${Date.now() - at} ms`);
  };
  const show = (one: Run) => {
    setQuery(one.query);
    setVariables(one.variables);
    setOpened(opened + 1);
    setResult(one.result);
    setState("");
  };

  return (
    <div className="graphiql">
      <header className="graphiql-head">
        <h1>GraphQL</h1>
        <span className="muted" role="status">
          {state}
        </span>
        <button type="button" className="button primary" onClick={() => void run()}>
          Run query
        </button>
      </header>
      <div className="graphiql-editors">
        <h2>Query</h2>
        <Editor
          key={`query ${opened}`}
          label="Query"
          text={query}
          extensions={extensions}
          onChange={setQuery}
          onRun={() => void run()}
        />
        <h2>Variables</h2>
        <Editor
          key={`variables ${opened}`}
          label="Variables"
          text={variables}
          extensions={jsonExtensions}
          onChange={setVariables}
          onRun={() => void run()}
        />
      </div>
      <div className="graphiql-result">
        <h2>Result</h2>
        <Editor label="Result" text={result} extensions={jsonExtensions} readOnly />
      </div>
      <div className="graphiql-side">
        <fieldset className="segmented">
          <legend className="hidden-text">Side panel</legend>
          {(["schema", "history"] as const).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={side === one}
              onClick={() => setSide(one)}
            >
              {one === "schema" ? "Schema" : "History"}
            </button>
          ))}
        </fieldset>
        {side === "history" ? (
          <History runs={runs} show={show} />
        ) : schema.data !== undefined ? (
          <DocsPanel schema={schema.data} />
        ) : (
          schema.error !== null && (
            <Failure error={schema.error} retry={() => void schema.refetch()} />
          )
        )}
      </div>
    </div>
  );
}

interface HistoryProps {
  readonly runs: readonly Run[];
  readonly show: (run: Run) => void;
}

const History = ({ runs, show }: HistoryProps) =>
  runs.length === 0 ? (
    <p className="muted">Queries that you run are listed here.</p>
  ) : (
    <ul className="graphiql-history">
      {runs.map((run) => (
        <li key={run.at}>
          <button type="button" className="graphiql-run" onClick={() => show(run)}>
            <span className="clip">{titleOf(run)}</span>
            <span className="muted">
              {new Date(run.at).toLocaleTimeString()}
              {run.failed && ", failed"}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );

/** Sends the query; an error becomes the shown result. */
async function execute(query: string, variables: string): Promise<Pick<Run, "result" | "failed">> {
  try {
    const body = { query, variables: variables.trim() === "" ? {} : JSON.parse(variables) };
    const { value } = await send<{ readonly errors?: unknown }>("/api/graphql", { body });
    return { result: JSON.stringify(value, null, 2), failed: value.errors !== undefined };
  } catch (error) {
    const result =
      error instanceof ApiError
        ? { status: error.status, code: error.code, message: error.message }
        : { message: `The variables are not JSON: ${(error as Error).message}` };
    return { result: JSON.stringify(result, null, 2), failed: true };
  }
}
