import { formatNumber } from "../../words/text.js";
import { Table, Text } from "../parts.js";

/** A series of numbers, one for each period; null where there is none. */
export interface Series {
  name: string;
  values: readonly (number | null)[];
}

/** The figures behind a chart of this name: a row for each period, the newest first. @param periods their first days */
export function Figures(props: { name: string; periods: readonly string[]; series: readonly Series[] }) {
  const { name, periods, series } = props;
  const columns = [
    { heading: "From" },
    ...series.map((each) => ({ heading: <Text>{each.name}</Text>, isNumber: true })),
  ];
  return (
    <details>
      <summary>The figures</summary>
      <Table name={name} columns={columns}>
        {periods
          .map((period, index) => (
            <tr key={period}>
              <td>{dayText(period)}</td>
              {series.map(({ values }, column) => {
                const value = values[index] ?? null;
                return (
                  <td class="number" key={column}>
                    {value === null ? <span class="faint">none</span> : formatNumber(value)}
                  </td>
                );
              })}
            </tr>
          ))
          .toReversed()}
      </Table>
    </details>
  );
}

const format = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** `2026-03-01` as `1 Mar 2026`. */
function dayText(day: string): string {
  return format.format(new Date(day));
}
