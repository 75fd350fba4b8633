/** Lineage of an entity: a graph that grows step by step, and a list of everything it affects. */
import { useState } from "react";
import { ImpactList } from "./impact-list.tsx";
import { LineageGraph } from "./lineage-graph.tsx";

export default function LineageTab({ urn }: { readonly urn: string }) {
  const [list, setList] = useState(false);
  const [hops, setHops] = useState(1);
  const [days, setDays] = useState(0);
  const since = days === 0 ? undefined : sinceOf(days);
  const tools = (
    <>
      <fieldset className="segmented">
        <legend className="hidden-text">Form</legend>
        <button type="button" aria-pressed={!list} onClick={() => setList(false)}>
          Graph
        </button>
        <button type="button" aria-pressed={list} onClick={() => setList(true)}>
          Impact list
        </button>
      </fieldset>
      {!list && (
        <label className="row tight">
          <span className="muted">Hops</span>
          <select
            className="field"
            value={hops}
            onChange={(event) => setHops(Number(event.target.value))}
          >
            {[1, 2, 3, 5, 10].map((n) => (
              <option key={n}>{n}</option>
            ))}
          </select>
        </label>
      )}
      <label className="row tight">
        <span className="muted">Edges written</span>
        <select
          className="field"
          value={days}
          onChange={(event) => setDays(Number(event.target.value))}
        >
          <option value={0}>at any time</option>
          <option value={1}>today</option>
          <option value={7}>in the last week</option>
          <option value={30}>in the last month</option>
          <option value={365}>in the last year</option>
        </select>
      </label>
    </>
  );
  return (
    <div className="stack">
      {list ? (
        <>
          <div className="row">{tools}</div>
          <ImpactList urn={urn} since={since} />
        </>
      ) : (
        <LineageGraph key={`${hops} ${days}`} urn={urn} hops={hops} since={since} tools={tools} />
      )}
    </div>
  );
}

/** The beginning of a day of the reader, so that the value stays the same while the page is open. */
function sinceOf(days: number): number {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  return day.setDate(day.getDate() - days + 1);
}
