/** The last verification of each view, and the differences that it found. */
import { useQuery } from "@tanstack/react-query";
import { type Difference, listDifferences, type Verification } from "../../api/operations.ts";
import { EntityLink } from "../../components/entity-link.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";

const refreshMs = 4_000;

export function DifferencesPanel() {
  const { data, error } = useQuery({
    queryKey: ["operations", "differences"],
    queryFn: ({ signal }) => listDifferences(signal),
    refetchInterval: refreshMs,
  });
  return (
    <section className="panel">
      <header>
        <h2>Last verification</h2>
        {data !== undefined && data.views.length > 0 && (
          <span className={data.total === 0 ? "badge good-badge" : "badge bad-badge"}>
            {data.total === 1 ? "1 difference" : `${data.total.toLocaleString("en")} differences`}
          </span>
        )}
      </header>
      {error !== null && <Failure error={error} />}
      {data === undefined && error === null && <Loading lines={3} />}
      {data?.views.length === 0 && (
        <Empty title="Not verified yet">A verification compares each view with the log.</Empty>
      )}
      {data !== undefined && data.views.length > 0 && <VerificationTable views={data.views} />}
      {data !== undefined && data.differences.length > 0 && (
        <DifferenceTable differences={data.differences} />
      )}
    </section>
  );
}

const VerificationTable = ({ views }: { readonly views: readonly Verification[] }) => (
  <Table
    label="Verifications"
    heads={[
      "View",
      "Verified",
      { label: "Up to position", right: true },
      { label: "Rows", right: true },
      { label: "Differences", right: true },
    ]}
  >
    {views.map(({ view, time, position, rows, differences }) => (
      <tr key={view}>
        <td>{view}</td>
        <td>
          <Time at={time} relative />
        </td>
        <td className="right num">{position.toLocaleString("en")}</td>
        <td className="right num">{rows.toLocaleString("en")}</td>
        <td className={differences === 0 ? "right num" : "right num bad"}>
          {differences.toLocaleString("en")}
        </td>
      </tr>
    ))}
  </Table>
);

const DifferenceTable = ({ differences }: { readonly differences: readonly Difference[] }) => (
  <Table
    label="Differences"
    heads={["View", "Entity", "Kind", "According to the log", "In the view"]}
  >
    {differences.map((one, n) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: differences have no identity.
      <tr key={n}>
        <td>{one.view}</td>
        <td>
          {one.urn === "" ? (
            <span className="muted">the whole view</span>
          ) : (
            <EntityLink urn={one.urn} />
          )}
          <span className="muted small block">{one.aspect}</span>
        </td>
        <td>{one.kind}</td>
        <td className="cause mono">{one.should}</td>
        <td className="cause mono">{one.there}</td>
      </tr>
    ))}
  </Table>
);
