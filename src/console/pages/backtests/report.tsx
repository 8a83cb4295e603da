import type { BacktestReport, FlagReport, ModelReport } from "../../../backtest/report-types.js";
import type { Snapshot } from "../../../model/snapshot/types.js";
import {
  aucText,
  backtestNotes,
  type BacktestResult,
  backtestSentences,
  calibrationTable,
  gainText,
  namedTables,
  rateText,
  type ReportTable,
  shareText,
  thresholdTable,
} from "../../../words/backtest.js";
import { formatNumber, printable } from "../../../words/text.js";
import { Calibration, TradeOff } from "../../charts/score-rates.js";
import { partNames } from "../../model.js";
import { address, Empty, LinkLine, MaybeLink, Section, Text } from "../../parts.js";
import { Table, type TableColumn } from "../../tables.js";

/** The report of a backtest. @param model the active model, whose parts are linked */
export function Report({ backtest, model }: { backtest: BacktestResult; model: Snapshot | null }) {
  const { report } = backtest;
  const { models } = report;
  return (
    <>
      <Section id="result" title="Result">
        {report.baseRate === null ? <Empty>There were no samples, so there is no result.</Empty> : null}
        {backtestSentences(report).map((sentence) => (
          <p key={sentence}>
            <Text>{sentence}</Text>
          </p>
        ))}
        <LinkLine href="#notes" text="Before you believe it" />
      </Section>
      {models.length > 1 ? <SideBySide report={report} /> : null}
      {models.map((each, index) => (
        <Model report={each} baseRate={report.baseRate} id={`model-${index}`} active={model} key={index} />
      ))}
      <Section id="notes" title="Before you believe it">
        <ul>
          {backtestNotes(backtest).map((note) => (
            <li key={note}>
              <Text>{note}</Text>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}

interface ModelProps {
  report: ModelReport;
  baseRate: BacktestReport["baseRate"];
  id: string;
  active: Snapshot | null;
}

function Model({ report, baseRate, id, active }: ModelProps) {
  const { name, health } = report;
  return (
    <Section id={id} title={`What ${printable(name)} said`}>
      {health === null || baseRate === null ? null : (
        <Score health={health} baseRate={baseRate.value} id={id} name={name} />
      )}
      {namedTables(report).map((table) => (
        <section key={table.title}>
          <h3>{SUBJECTS[table.title]!.heading}</h3>
          <Figures table={table} name={`${SUBJECTS[table.title]!.heading} of ${name}`} active={active} />
        </section>
      ))}
    </Section>
  );
}

interface ScoreProps {
  health: NonNullable<ModelReport["health"]>;
  baseRate: number;
  id: string;
  name: string;
}

function Score({ health, baseRate, id, name }: ScoreProps) {
  const { calibration, thresholds, direction } = health;
  return (
    <>
      {calibration.length === 0 ? null : (
        <>
          <h3>How often the outcome occurred, by score</h3>
          <Calibration id={`${id}-calibration`} bins={calibration} baseRate={baseRate}>
            <Figures table={calibrationTable(health)} name={`Outcomes by score of ${name}`} />
          </Calibration>
        </>
      )}
      {thresholds.length === 0 ? null : (
        <>
          <h3>The effect of a threshold</h3>
          <TradeOff id={`${id}-threshold`} thresholds={thresholds} direction={direction} baseRate={baseRate}>
            <Figures table={thresholdTable(health)} name={`Thresholds of ${name}`} />
          </TradeOff>
        </>
      )}
    </>
  );
}

type Names = ReturnType<typeof partNames>;

/** Tables of the report by the kind of their rows: a heading, and the links of parts of the active model. */
const SUBJECTS: Readonly<Record<string, { heading: string; of?: keyof Names; href?: (id: string) => string }>> = {
  State: { heading: "States", of: "states", href: (id) => address("customers", { lifecycle: id }) },
  Band: { heading: "Bands", of: "bands", href: (id) => address("customers", { health: id }) },
  Segment: { heading: "Segments", of: "segments", href: (id) => address("segment", { id }) },
  Signal: { heading: "Signals", of: "signals", href: (id) => address("signals", { signal: id }) },
  Component: { heading: "Components of the score" },
};

/** A table of the report; parts of the active model are linked. */
function Figures({ table, name, active = null }: { table: ReportTable; name: string; active?: Snapshot | null }) {
  const { title, heads, rows } = table;
  const { of, href } = SUBJECTS[title] ?? {};
  const known = of === undefined ? [] : partNames(active)[of];
  return (
    <Table
      name={printable(name)}
      rows={rows}
      columns={heads.map((heading, index): TableColumn<ReportTable["rows"][number]> =>
        index > 0
          ? [heading, ({ cells }) => cells[index], "number"]
          : [
              heading,
              ({ cells: [first = ""] }) => (
                <MaybeLink href={known.includes(first) ? href!(first) : null}>
                  <Text>{first}</Text>
                </MaybeLink>
              ),
            ],
      )}
    />
  );
}

/** Two models on the same samples: their scores with the difference, and where they differ. */
function SideBySide({ report: { models, difference } }: { report: BacktestReport }) {
  const [judged, other] = models as [ModelReport, ModelReport];
  return (
    <Section id="beside" title={`${printable(judged.name)} compared with ${printable(other.name)}`}>
      <Table
        name="Scores of both models"
        rows={models}
        columns={[
          ["Model", ({ name }) => <Text>{name}</Text>],
          ["AUC of the score", ({ health }) => aucText(health?.auc ?? null), "number"],
          ["Samples with a score", ({ health }) => formatNumber(health?.samples ?? 0), "number"],
        ]}
      >
        <tr>
          <td>first minus second</td>
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

/** The figures of a flag; undefined if the model does not have it. */
const RATES: Readonly<Record<string, (flag: FlagReport | undefined) => string>> = {
  Flagged: (flag) => (flag === undefined ? "not in it" : formatNumber(flag.flagged)),
  Precision: (flag) => rateText(flag?.precision ?? null),
  Recall: (flag) => shareText(flag?.recall ?? null),
};

/** States, bands, segments and signals with different figures in the two models. */
function Flags({ models }: { models: readonly [ModelReport, ModelReport] }) {
  const rows = Object.entries(KINDS).flatMap(([member, kind]) => {
    const [judged, other] = models.map((model) => model[member as keyof typeof KINDS]) as [FlagReport[], FlagReport[]];
    const ids = new Set([...judged, ...other].map(({ id }) => id));
    const byModel = (id: string) => [judged, other].map((flags) => flags.find((flag) => flag.id === id));
    return [...ids]
      .map((id) => ({ name: `${kind} ${id}`, flags: byModel(id) }))
      .filter(({ flags: [first, second] }) => JSON.stringify(first) !== JSON.stringify(second));
  });
  if (rows.length === 0) return <Empty>States, bands, segments and signals have the same figures in both.</Empty>;
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
