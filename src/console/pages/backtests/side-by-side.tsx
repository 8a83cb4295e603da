import type { BacktestReport, FlagReport, ModelReport } from "../../../backtest/report-types.js";
import { aucText, gainText, rateText, shareText } from "../../../words/backtest.js";
import { formatNumber, printable } from "../../../words/text.js";
import { Empty, Section, Table, Text } from "../../parts.js";

/** Two models on the same samples: their scores with the difference, and what they say differently. */
export function SideBySide({ report: { models, difference } }: { report: BacktestReport }) {
  const [judged, other] = models as [ModelReport, ModelReport];
  return (
    <Section id="beside" title={`${printable(judged.name)} beside ${printable(other.name)}`}>
      <Table
        name="The scores of both"
        columns={[{ heading: "Model" }, ...["AUC of the score", "Samples with a score"].map(number)]}
      >
        {models.map(({ name, health }) => (
          <tr key={name}>
            <td>
              <Text>{name}</Text>
            </td>
            <td class="number">{aucText(health?.auc ?? null)}</td>
            <td class="number">{formatNumber(health?.samples ?? 0)}</td>
          </tr>
        ))}
        <tr>
          <td>the first less the second</td>
          <td class="number">{gainText(difference)}</td>
          <td />
        </tr>
      </Table>
      <h3>Where they differ</h3>
      <Flags models={[judged, other]} />
    </Section>
  );
}

const number = (heading: string) => ({ heading: printable(heading), isNumber: true });

const KINDS = { states: "state", bands: "band", segments: "segment", signals: "signal" } as const;

/** What both or one of them has, where they do not say it of the same samples. */
function Flags({ models }: { models: readonly [ModelReport, ModelReport] }) {
  const rows = Object.entries(KINDS).flatMap(([member, kind]) => {
    const [judged, other] = models.map((model) => model[member as keyof typeof KINDS]) as [FlagReport[], FlagReport[]];
    const ids = new Set([...judged, ...other].map(({ id }) => id));
    const byModel = (id: string) => [judged, other].map((flags) => flags.find((flag) => flag.id === id));
    return [...ids]
      .map((id) => ({ name: `${kind} ${id}`, flags: byModel(id) }))
      .filter(({ flags: [first, second] }) => JSON.stringify(first) !== JSON.stringify(second));
  });
  if (rows.length === 0) return <Empty>States, bands, segments and signals come to the same in both.</Empty>;
  const columns = ["Flagged", "Precision", "Recall"].flatMap((what) =>
    models.map(({ name }) => number(`${what}, ${name}`)),
  );
  return (
    <Table name="Where they differ" columns={[{ heading: "What they say" }, ...columns]}>
      {rows.map(({ name, flags }) => (
        <tr key={name}>
          <td>
            <Text>{name}</Text>
          </td>
          {[
            ...flags.map((flag) => (flag === undefined ? "not in it" : formatNumber(flag.flagged))),
            ...flags.map((flag) => rateText(flag?.precision ?? null)),
            ...flags.map((flag) => shareText(flag?.recall ?? null)),
          ].map((cell, index) => (
            <td class="number" key={index}>
              {cell}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}
