import type { BacktestReport, ModelReport } from "../../../backtest/report-types.js";
import type { Snapshot } from "../../../model/snapshot/types.js";
import {
  type BacktestResult,
  backtestNotes,
  backtestSentences,
  calibrationTable,
  namedTables,
  type ReportTable,
  thresholdTable,
} from "../../../words/backtest.js";
import { printable } from "../../../words/text.js";
import { Calibration, TradeOff } from "../../charts/score-rates.js";
import { partNames } from "../../model.js";
import { address, Empty, LinkLine, MaybeLink, Section, Text } from "../../parts.js";
import { type TableColumn, Table } from "../../tables.js";
import { SideBySide } from "./side-by-side.js";

/** What a backtest came to. @param model the active one: what it has is linked */
export function Report({ backtest, model }: { backtest: BacktestResult; model: Snapshot | null }) {
  const { report } = backtest;
  const { models } = report;
  return (
    <>
      <Section id="result" title="What came of it">
        {report.baseRate === null ? <Empty>There was no sample, so nothing can be told.</Empty> : null}
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
          <h3>How often the outcome came, by score</h3>
          <Calibration id={`${id}-calibration`} bins={calibration} baseRate={baseRate}>
            <Figures table={calibrationTable(health)} name={`Outcomes by score of ${name}`} />
          </Calibration>
        </>
      )}
      {thresholds.length === 0 ? null : (
        <>
          <h3>What comes of a threshold</h3>
          <TradeOff id={`${id}-threshold`} thresholds={thresholds} direction={direction} baseRate={baseRate}>
            <Figures table={thresholdTable(health)} name={`Thresholds of ${name}`} />
          </TradeOff>
        </>
      )}
    </>
  );
}

type Names = ReturnType<typeof partNames>;

/** What the rows of a table are: its title in the plural, and where the active model's lead. */
const SUBJECTS: Readonly<Record<string, { heading: string; of?: keyof Names; href?: (id: string) => string }>> = {
  State: { heading: "States", of: "states", href: (id) => address("customers", { lifecycle: id }) },
  Band: { heading: "Bands", of: "bands", href: (id) => address("customers", { health: id }) },
  Segment: { heading: "Segments", of: "segments", href: (id) => address("segment", { id }) },
  Signal: { heading: "Signals", of: "signals", href: (id) => address("signals", { signal: id }) },
  Component: { heading: "Components of the score" },
};

/** A table of the report; what the active model has is linked. */
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
