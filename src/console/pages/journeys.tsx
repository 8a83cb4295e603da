import type { JourneyCounts } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { formatNumber } from "../../words/text.js";
import { type ConsolePage, expectedRefusal, type Visit } from "../console-page.js";
import { address, Empty, Figure, ProblemNote, Table, TextLink } from "../parts.js";
import { runsHref, sinceIn, spanIn, SpanForm } from "./journey-span.js";

const PATH = "journeys";
const COLUMNS = [
  { heading: "Journey" },
  ...["Begun", "Under way", "Complete", "Expired", "Completion rate"].map((heading) => ({
    heading,
    isNumber: true,
  })),
];

/** How many customers began each journey, and what became of them. */
export const journeysPage: ConsolePage = {
  path: PATH,
  section: "Journeys",
  async answer(visit) {
    const { query, model } = visit;
    const filters = <SpanForm path={PATH} query={query} />;
    const found = await countsOf(visit);
    if (found instanceof ApiError) {
      return { title: "Journeys", status: found.status, body: [filters, <ProblemNote error={found} key="problem" />] };
    }
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
            <Table name="Journeys" columns={COLUMNS}>
              {found.map((journey) => (
                <Row journey={journey} query={query} key={journey.journeyId} />
              ))}
            </Table>
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

function Row({ journey, query }: { journey: JourneyCounts; query: URLSearchParams }) {
  const { journeyId, declared, active, complete, expired } = journey;
  const ended = complete + expired;
  return (
    <tr>
      <td>
        <TextLink href={address("journey", { id: journeyId, since: spanIn(query) })} text={journeyId} />
        {declared ? null : <span class="faint"> not in the model any more</span>}
      </td>
      <Figure href={runsHref(journeyId, query)}>{active + ended}</Figure>
      <Figure href={runsHref(journeyId, query, { status: "active" })}>{active}</Figure>
      <Figure href={runsHref(journeyId, query, { status: "complete" })}>{complete}</Figure>
      <Figure href={runsHref(journeyId, query, { status: "expired" })}>{expired}</Figure>
      <td class="number">{ended === 0 ? "" : `${formatNumber(Math.round((complete / ended) * 100))} %`}</td>
    </tr>
  );
}
