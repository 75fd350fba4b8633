/** A search without results: the errors of its query, and other queries. */
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../../api/http.ts";
import { search } from "../../api/search.ts";
import { Empty } from "../../components/states.tsx";
import { problemsOf } from "./query-problems.ts";

interface NothingProps {
  readonly query: string;
  readonly suggestions: readonly string[];
  readonly filtered: boolean;
  readonly onQuery: (query: string) => void;
  readonly onClear: () => void;
}

/** Fields whose names are checked. */
const fieldsMax = 5;

/** The message of the service for a field that it does not have. */
async function messageAbout(field: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    await search({ query: "*", missing: [field], count: 0, signal });
    return [];
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 400)) throw error;
    const [, near] = /Did you mean (.*)\?$/.exec(error.message) ?? [];
    return [`${field} is not a field.${near === undefined ? "" : ` Did you mean ${near}?`}`];
  }
}

/** Shown where nothing is found only: a query without results may be correct, and others need not be. */
function useProblems(query: string): readonly string[] {
  const { found, fields } = problemsOf(query);
  const checked = fields.slice(0, fieldsMax);
  const { data = [] } = useQuery({
    queryKey: ["search", "fields", ...checked],
    queryFn: async ({ signal }) =>
      (await Promise.all(checked.map((field) => messageAbout(field, signal)))).flat(),
    enabled: checked.length > 0,
    staleTime: 60_000,
  });
  return [...found, ...data];
}

export function NothingFound({ query, suggestions, filtered, onQuery, onClear }: NothingProps) {
  const problems = useProblems(query);
  return (
    <Empty title={problems.length > 0 ? "The query has an error" : "No results"}>
      {problems.length > 0 && (
        <ul className="query-problems">
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      <p>
        {problems.length > 0
          ? "Such parts are searched as words."
          : "A shorter word, or a word with * at its end, finds more."}{" "}
        In the search field, <kbd>Ctrl</kbd> <kbd>Space</kbd> lists fields and operators.
      </p>
      <div className="row tight centered">
        {suggestions.map((text) => (
          <button key={text} type="button" className="button" onClick={() => onQuery(text)}>
            Search for “{text}”
          </button>
        ))}
        {filtered && (
          <button type="button" className="button" onClick={onClear}>
            Remove all filters
          </button>
        )}
      </div>
    </Empty>
  );
}
