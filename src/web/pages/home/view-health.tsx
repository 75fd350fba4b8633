/** The views and their distance from the log. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { conditionOf, readServiceState } from "../../api/metrics.ts";
import { Failure, Loading } from "../../components/states.tsx";

export function ViewHealth() {
  const { data, error } = useQuery({
    queryKey: ["service"],
    queryFn: ({ signal }) => readServiceState(signal),
    refetchInterval: 5_000,
  });
  return (
    <section className="panel">
      <header>
        <h2>Views</h2>
        <Link to="/ui/views">Details</Link>
      </header>
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading lines={4} />}
      {data !== undefined && (
        <ul className="plain-list">
          <li className="spread-row">
            <span>Log</span>
            <span className="muted num">position {data.logPosition.toLocaleString("en")}</span>
          </li>
          {data.views.map((view) => {
            const { text, level } = conditionOf(view);
            return (
              <li key={view.name} className="spread-row">
                <span>{view.name}</span>
                <span className={level}>{text}</span>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
