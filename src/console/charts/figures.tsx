import { formatNumber } from "../../words/text.js";
import { dateTime, Empty, Text } from "../parts.js";
import { type TableColumn, Table } from "../tables.js";

/** A series of numbers, one for each period; null for a period without a value. */
export interface Series {
  name: string;
  values: readonly (number | null)[];
}

/** The most figures that a table shows. */
const FIGURES_MAX = 3_000;

/** The figures of a chart as a table: a row for each period, newest first, and as many series as FIGURES_MAX allows. @param periods first days */
export function Figures(props: { name: string; periods: readonly string[]; series: readonly Series[] }) {
  const { name, periods, series } = props;
  const shown = series.slice(0, Math.max(1, Math.floor(FIGURES_MAX / periods.length)));
  return (
    <details>
      <summary>The figures</summary>
      {shown.length === series.length ? null : (
        <Empty>
          Only the first {formatNumber(shown.length)} of {formatNumber(series.length)} are shown;{" "}
          <code>svc trends</code> prints all of them.
        </Empty>
      )}
      <Table
        name={name}
        rows={periods.map((_, index) => index).toReversed()}
        columns={[
          ["From", (index) => dateTime(periods[index]!, "UTC")],
          ...shown.map(({ name: heading, values }): TableColumn<number> => [
            <Text>{heading}</Text>,
            (index) => <Value of={values[index] ?? null} />,
            "number",
          ]),
        ]}
      />
    </details>
  );
}

function Value({ of: value }: { of: number | null }) {
  return value === null ? <span class="faint">none</span> : <>{formatNumber(value)}</>;
}
