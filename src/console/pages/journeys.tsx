import type { JourneyCounts } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { formatNumber } from "../../words/text.js";
import { type ConsolePage, expectedRefusal, type Visit } from "../console-page.js";
import { address, Empty, TextLink } from "../parts.js";
import { refused } from "../list-page.js";
import { type TableColumn, Figure, Table } from "../tables.js";
import { runsHref, sinceIn, spanIn, SpanForm } from "./journey-span.js";

const PATH = "journeys";

/** How many customers began each journey, and what became of them. */
export const journeysPage: ConsolePage = {
  path: PATH,
  section: "Journeys",
  async answer(visit) {
    const { query, model } = visit;
    const filters = <SpanForm path={PATH} query={query} />;
    const found = await countsOf(visit);
    if (found instanceof ApiError) return refused("Journeys", filters, found);
    return {
      title: "Journeys",
      body: (
        <>
          {filters}
          {found.length === 0 ? (
            <Empty>
              {model === null
                ? "No model is deployed yet. Its journeys will be shown here."
                : "The model has no journeys. Once it declares one, customers are counted at each of its steps here."}
            </Empty>
          ) : (
            <Table name="Journeys" rows={found} columns={columnsOf(query)} />
          )}
          {found.length === 0 ? null : <p class="hint">The completion rate is of those that have ended.</p>}
        </>
      ),
    };
  },
};

/** The journeys that began in the span that the query names, or what is wrong with that. */
export async function countsOf({ ask, query }: Visit): Promise<JourneyCounts[] | ApiError> {
  const found = await ask("journeys", { since: sinceIn(query) }).catch(expectedRefusal);
  return found instanceof ApiError ? found : found.journeys;
}

const STATUSES = [
  ["active", "Under way"],
  ["complete", "Complete"],
  ["expired", "Expired"],
] as const;

const columnsOf = (query: URLSearchParams): TableColumn<JourneyCounts>[] => [
  ["Journey", (journey) => <Name of={journey} query={query} />],
  ["Begun", (journey) => <Figure href={runsHref(journey.journeyId, query)}>{begun(journey)}</Figure>, "number"],
  ...STATUSES.map(([status, heading]): TableColumn<JourneyCounts> => [
    heading,
    (journey) => <Figure href={runsHref(journey.journeyId, query, { status })}>{journey[status]}</Figure>,
    "number",
  ]),
  ["Completion rate", ({ complete, expired }) => rate(complete, complete + expired), "number"],
];

const begun = ({ active, complete, expired }: JourneyCounts) => active + complete + expired;

const rate = (part: number, whole: number) =>
  whole === 0 ? "" : `${formatNumber(Math.round((part / whole) * 100))} %`;

function Name({ of: { journeyId, declared }, query }: { of: JourneyCounts; query: URLSearchParams }) {
  return (
    <>
      <TextLink href={address("journey", { id: journeyId, since: spanIn(query) })} text={journeyId} />
      {declared ? null : <span class="faint"> not in the model any more</span>}
    </>
  );
}
