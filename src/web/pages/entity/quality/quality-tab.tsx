/** Quality and use of an entity: incidents, assertions, and charts and events of its timeseries. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { at, type JsonObject, numberAt } from "../../../api/json.ts";
import { sentenceCase } from "../../../api/type-names.ts";
import { typeOf } from "../../../api/urn.ts";
import { ScrollRegion } from "../../../components/scroll-region.tsx";
import { Empty, Failure, Loading } from "../../../components/states.tsx";
import { Table } from "../../../components/table.tsx";
import { Time } from "../../../components/time.tsx";
import { Assertions } from "./assertions.tsx";
import { readEvents, timeOf } from "./events.ts";
import { Incidents } from "./incidents.tsx";
import "./quality.css";
import { hasAssertions, hasIncidents, timeseriesAspectsOf } from "./timeseries-aspects.ts";

const SeriesChart = lazy(() => import("../../../components/series-chart.tsx"));

interface TabProps {
  readonly urn: string;
  readonly asOf: string | undefined;
}

export default function QualityTab({ urn, asOf }: TabProps) {
  const type = typeOf(urn);
  const assessed = hasIncidents(type) || hasAssertions(type);
  return (
    <div className="stack">
      {asOf !== undefined && assessed && (
        <p className="notice">The lists of incidents and assertions show the present.</p>
      )}
      {hasIncidents(type) && <Incidents urn={urn} readOnly={asOf !== undefined} />}
      {hasAssertions(type) && <Assertions urn={urn} asOf={asOf} />}
      {timeseriesAspectsOf(type).map((aspect) => (
        <Series key={aspect} urn={urn} aspect={aspect} asOf={asOf} />
      ))}
    </div>
  );
}

const eventsMax = 500;

interface SeriesProps extends TabProps {
  readonly aspect: string;
}

function Series({ urn, aspect, asOf }: SeriesProps) {
  const { data, error } = useQuery({
    queryKey: ["entity", urn, "series", aspect, asOf ?? ""],
    queryFn: () => readEvents({ urn, aspect, asOf, limit: eventsMax }),
  });
  const events = data ?? [];
  const names = numbersOf(events);
  return (
    <section className="panel">
      <header>
        <h2>{sentenceCase(aspect)}</h2>
        <span className="muted num">
          {data !== undefined && `${events.length} ${events.length === 1 ? "event" : "events"}`}
        </span>
      </header>
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading lines={4} />}
      {data !== undefined && events.length === 0 && <Empty title="No events" />}
      {events.length > 0 && (
        <>
          <div className="charts">
            {events.length > 1 &&
              names.map((name) => (
                <figure key={name}>
                  <figcaption className="small muted">{sentenceCase(name)}</figcaption>
                  <Suspense fallback={<Loading lines={3} />}>
                    <SeriesChart
                      label={sentenceCase(name)}
                      times={events.map((event) => timeOf(event) / 1000)}
                      values={events.map((event) => numberAt(event, name) ?? null)}
                    />
                  </Suspense>
                </figure>
              ))}
          </div>
          <EventTable
            label={`Events of ${sentenceCase(aspect)}`}
            events={events.toReversed().slice(0, 20)}
          />
        </>
      )}
    </section>
  );
}

/** True for a member that holds a time, in milliseconds. */
const isTime = (name: string): boolean => /(millis|time|timestamp)/i.test(name);

/** Members with numbers, except times. */
const numbersOf = (events: readonly JsonObject[]): readonly string[] =>
  [...new Set(events.flatMap((event) => Object.keys(event)))].filter(
    (name) => !isTime(name) && events.some((event) => numberAt(event, name) !== undefined),
  );

/** Members that the table shows otherwise, or that say nothing to people. */
const hiddenMembers: ReadonlySet<string> = new Set([
  ..."timestampMillis partitionSpec eventGranularity messageId".split(" "),
]);

interface EventTableProps {
  readonly label: string;
  readonly events: readonly JsonObject[];
}

function EventTable({ label, events }: EventTableProps) {
  const names = [...new Set(events.flatMap((event) => Object.keys(event)))]
    .filter((name) => !hiddenMembers.has(name))
    .slice(0, 6);
  return (
    <Table label={label} heads={["Time", ...names.map(sentenceCase)]}>
      {events.map((event, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: events have no identity of their own.
        <tr key={n}>
          <td className="nowrap">
            <Time at={timeOf(event)} />
          </td>
          {names.map((name) => (
            <td key={name} className="num">
              <Cell event={event} name={name} />
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

function Cell({ event, name }: { readonly event: JsonObject; readonly name: string }) {
  const value = at(event, name);
  if (typeof value === "number" && isTime(name)) return <Time at={value} />;
  if (typeof value === "object" && value !== null)
    return <Json name={sentenceCase(name)} value={value} />;
  return <span className="cell-text">{cellText(value)}</span>;
}

function Json({ name, value }: { readonly name: string; readonly value: object }) {
  const count = Object.keys(value).length;
  return (
    <details className="cell-json">
      <summary>
        {count} {count === 1 ? "value" : "values"}
      </summary>
      <ScrollRegion label={name} className="cell-json-text">
        <pre>{JSON.stringify(value, null, 2)}</pre>
      </ScrollRegion>
    </details>
  );
}

const cellText = (value: unknown): string =>
  typeof value === "number" ? value.toLocaleString("en") : String(value ?? "");
