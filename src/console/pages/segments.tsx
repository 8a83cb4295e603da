import type { Segment, Snapshot } from "../../model/snapshot/types.js";
import { conditionText } from "../../model/snapshot/words.js";
import { formatNumber } from "../../words/text.js";
import { Figures } from "../charts/figures.js";
import { Spark } from "../charts/in-cells.js";
import type { ConsolePage } from "../console-page.js";
import { DecidingRules, idsDefinedInList, DefinitionLink } from "../definition.js";
import { partNames } from "../model.js";
import { address, IncompleteTrendsNote, NoPart, Text, TextLink } from "../parts.js";
import { Table } from "../tables.js";
import { DaysForm, daysOf, trendSpan, presentParts, valuesOf } from "../trends.js";

const PATH = "segments";

/** All segments: what each means, how many customers are in it, and how that developed. */
export const segmentsPage: ConsolePage = {
  path: PATH,
  section: "Segments",
  async answer(visit) {
    const { ask, model } = visit;
    const trends = await ask("trends", { what: "segments", ...trendSpan(visit) });
    const ids = presentParts(trends, "members", "segment", partNames(model).segments);
    if (ids.length === 0) return { title: "Segments", body: <NoPart model={model} what="segments" /> };
    const series = ids.map((id) => ({ name: id, values: valuesOf(trends, { metric: "members", segment: id }) }));
    const days = daysOf(visit);
    const defined = idsDefinedInList(model?.segments ?? []);
    return {
      title: "Segments",
      derived: "segments",
      body: (
        <>
          <DaysForm path={PATH} days={days} />
          <IncompleteTrendsNote trends={trends} />
          <Table
            name="Segments"
            rows={series}
            columns={[
              ["Segment", ({ name }) => <TextLink href={address("segment", { id: name })} text={name} />],
              [
                "Customers",
                ({ name, values }) => (
                  <a href={address("customers", { segment: name })}>{formatNumber(values.at(-1) ?? 0)}</a>
                ),
                "number",
              ],
              [`Last ${days} days`, ({ values }) => <Spark values={values} />],
              [
                "Who is in it",
                ({ name }) => (
                  <Summary segment={model?.segments.find(({ id }) => id === name)} model={model} defined={defined} />
                ),
                "words",
              ],
            ]}
          />
          <Figures name="Customers in each segment" periods={trends.periods} series={series} />
        </>
      ),
    };
  },
};

function Summary(props: { segment: Segment | undefined; model: Snapshot | null; defined: ReadonlySet<string> }) {
  const { segment, model, defined } = props;
  if (segment === undefined) return <span class="faint">The active model no longer has this segment.</span>;
  if (!defined.has(segment.id)) return <DefinitionLink href={address("segment", { id: segment.id })} />;
  return segment.when === undefined ? (
    <DecidingRules model={model} segment={segment.id} />
  ) : (
    <Text>{conditionText(segment.when)}</Text>
  );
}
