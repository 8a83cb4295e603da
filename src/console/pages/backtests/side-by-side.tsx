import type { BacktestReport, FlagReport, ModelReport } from "../../../backtest/report-types.js";
import { aucText, gainText, rateText, shareText } from "../../../words/backtest.js";
import { formatNumber, printable } from "../../../words/text.js";
import { Empty, Section, Text } from "../../parts.js";
import { type TableColumn, Table } from "../../tables.js";

/** Two models on the same samples: their scores with the difference, and what they say differently. */
export function SideBySide({ report: { models, difference } }: { report: BacktestReport }) {
  const [judged, other] = models as [ModelReport, ModelReport];
  return (
    <Section id="beside" title={`${printable(judged.name)} beside ${printable(other.name)}`}>
      <Table
        name="The scores of both"
        rows={models}
        columns={[
          ["Model", ({ name }) => <Text>{name}</Text>],
          ["AUC of the score", ({ health }) => aucText(health?.auc ?? null), "number"],
          ["Samples with a score", ({ health }) => formatNumber(health?.samples ?? 0), "number"],
        ]}
      >
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

const KINDS = { states: "state", bands: "band", segments: "segment", signals: "signal" } as const;

/** What is told of a flag; of one that a model does not have, too. */
const RATES: Readonly<Record<string, (flag: FlagReport | undefined) => string>> = {
  Flagged: (flag) => (flag === undefined ? "not in it" : formatNumber(flag.flagged)),
  Precision: (flag) => rateText(flag?.precision ?? null),
  Recall: (flag) => shareText(flag?.recall ?? null),
};

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
  return (
    <Table
      name="Where they differ"
      rows={rows}
      columns={[
        ["What they say", ({ name }) => <Text>{name}</Text>],
        ...Object.entries(RATES).flatMap(([what, textOf]) =>
          models.map(({ name }, index): TableColumn<(typeof rows)[number]> => [
            printable(`${what}, ${name}`),
            ({ flags }) => textOf(flags[index]),
            "number",
          ]),
        ),
      ]}
    />
  );
}
