import type { Trends } from "../../http/admin/answers.js";
import type { Health, Score } from "../../model/snapshot/types.js";
import { componentText, measureText } from "../../model/snapshot/words.js";
import { formatNumber } from "../../words/text.js";
import { SeriesLines } from "../charts/series-lines.js";
import { ShareBar } from "../charts/in-cells.js";
import type { ConsolePage, Visit } from "../console-page.js";
import { address, At, IncompleteTrendsNote, Empty, NoPart, Section, Text } from "../parts.js";
import { Table } from "../tables.js";
import { DaysForm, daysOf, trendSpan, nowOf, presentParts } from "../trends.js";

const PATH = "health";

/** The number of customers in each band, the scores over time, and the components of the score. */
export const healthPage: ConsolePage = {
  path: PATH,
  section: "Health",
  async answer(visit) {
    const { ask, model } = visit;
    const health = model?.health ?? null;
    if (health === null) return { title: "Health", body: <NoPart model={model} what="health score" /> };
    const trends = await ask("trends", { what: "health", ...trendSpan(visit) });
    return {
      title: "Health",
      derived: "bands",
      body: (
        <>
          <IncompleteTrendsNote trends={trends} />
          <Bands health={health} trends={trends} />
          <OverTime visit={visit} trends={trends} />
          <Components health={health} />
        </>
      ),
    };
  },
};

/** The number of customers in each band now, including bands that the model no longer has. */
function Bands({ health: { bands }, trends }: { health: Health; trends: Trends }) {
  const declared = bands.map(({ id }) => id);
  const rows = presentParts(trends, "customers", "band", declared).map((id) => {
    return { id, index: declared.indexOf(id), customers: nowOf(trends, { metric: "customers", band: id }) };
  });
  const scored = rows.reduce((sum, { customers }) => sum + customers, 0);
  return (
    <Section title="Bands">
      <Table
        name="Bands"
        rows={rows}
        columns={[
          ["Band", ({ id }) => <Text>{id}</Text>],
          [
            "Score",
            ({ index }) =>
              index < 0 ? <span class="faint">not a band of the active model</span> : rangeText(bands, index),
          ],
          [
            "Customers",
            (row) => <a href={address("customers", { health: row.id })}>{formatNumber(row.customers)}</a>,
            "number",
          ],
          ["Share", ({ customers }) => <ShareBar share={scored === 0 ? 0 : customers / scored} />],
        ]}
      />
    </Section>
  );
}

/** `from 40, below 70`. */
function rangeText(bands: Health["bands"], index: number): string {
  const { from } = bands[index]!;
  const above = bands[index - 1];
  return above === undefined ? `${from} to 100` : `from ${from}, below ${above.from}`;
}

function OverTime({ visit, trends }: { visit: Visit; trends: Trends }) {
  const { periods, series, recomputedAt } = trends;
  const days = daysOf(visit);
  const of = (metric: string, name: string) => {
    const found = series.find((each) => each.metric === metric);
    return { name, values: found?.values ?? periods.map(() => null) };
  };
  const median = of("median", "median");
  const now = median.values.at(-1) ?? null;
  return (
    <Section id="time" title="Over time">
      <DaysForm path={PATH} days={days} />
      {recomputedAt === undefined ? null : (
        <p class="note" role="status">
          A <a href="recomputes">recompute</a> that ran until <At iso={recomputedAt} /> kept one record of each
          customer's health: earlier ones are missing here. The page of a customer shows where it stood, by a replay.
        </p>
      )}
      {median.values.every((value) => value === null) ? (
        <Empty>No customer had a score in this period.</Empty>
      ) : (
        <SeriesLines
          id="scores"
          title={`Median and quartiles of the scores over the last ${days} days${now === null ? "" : `, median now ${now}`}`}
          periods={periods}
          lines={[median]}
          between={[of("lowerQuartile", "lower quartile"), of("upperQuartile", "upper quartile")]}
          max={100}
        />
      )}
      <p class="hint">Half of the customers score between the quartiles, a quarter below and a quarter above.</p>
    </Section>
  );
}

function Components({ health: { components } }: { health: Health }) {
  const weights = components.reduce((sum, { weight }) => sum + weight, 0);
  return (
    <Section title="What makes up the score">
      <Table
        name="What makes up the score"
        rows={components}
        columns={[
          ["Component", ({ id }) => <Text>{id}</Text>],
          ["Weight", ({ weight }) => formatNumber(weight), "number"],
          ["Share", ({ weight }) => <ShareBar share={weights === 0 ? 0 : weight / weights} />],
          ["Scored by", (component) => <Text>{componentText(component, scoreInWords(component.score))}</Text>, "words"],
        ]}
      />
    </Section>
  );
}

/** `days since the last "login": 100 points up to 3, 70 up to 7, else 0`. */
function scoreInWords(score: Score): string {
  if (score.kind === "scale") {
    return `${measureText(score.of)}: 0 points at ${score.from}, 100 points at ${score.to}, in between in proportion`;
  }
  const pointsOf = (points: number, index: number) => `${points}${index === 0 ? " points" : ""}`;
  if (score.kind === "steps") {
    const steps = score.steps.map(([limit, points], index) => `${pointsOf(points, index)} up to ${limit}`);
    return `${measureText(score.of)}: ${steps.join(", ")}, else ${score.otherwise}`;
  }
  const values = Object.entries(score.values)
    .toSorted(([, a], [, b]) => b - a)
    .map(([value, points], index) => `${pointsOf(points, index)} for ${value}`);
  return `${score.trait}: ${values.join(", ")}, else 0`;
}
