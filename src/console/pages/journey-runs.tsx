import type { ListedRun } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { type ConsolePage, given, expectedRefusal, type Visit } from "../console-page.js";
import { address, Ago, Customer, Empty, FoundList, PageLinks, ProblemNote, Text, TextLink } from "../parts.js";
import { Choose, FilterForm } from "../forms.js";
import { type Column, Table } from "../tables.js";
import { sinceIn, spanIn } from "./journey-span.js";

const PATH = "journey-runs";
const LIMIT = "100";
const STATUSES = [
  { value: "active", text: "under way" },
  { value: "complete", text: "complete" },
  { value: "expired", text: "expired" },
];
const COLUMNS: Column<ListedRun>[] = [
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["Status", ({ status }) => STATUSES.find(({ value }) => value === status)!.text],
  ["Step", (run) => (run.status === "complete" ? <span class="faint">all</span> : <Text>{run.currentStep}</Text>)],
  ["Begun", ({ startedAt }) => <Ago iso={startedAt} />],
  ["Ended", (run) => <Ended at={run.completedAt ?? run.expiredAt} />],
];

/** Which customers are on a journey, or were: the list behind its numbers. */
export const journeyRunsPage: ConsolePage = {
  path: PATH,
  section: null,
  async answer(visit) {
    const { query } = visit;
    const title = "Runs of a journey";
    const filters = <Filters visit={visit} />;
    const found = await listOf(visit);
    if (found instanceof ApiError) {
      return { title, status: found.status, body: [filters, <ProblemNote error={found} key="problem" />] };
    }
    const { data, nextCursor } = found;
    return {
      title,
      customerIds: data.map(({ customerId }) => customerId),
      body: (
        <>
          {filters}
          <FoundList list={found} limit={Number(LIMIT)} none={<Empty>There is no such run.</Empty>}>
            <Table name={title} rows={data} columns={COLUMNS} />
          </FoundList>
          <PageLinks path={PATH} query={query} next={nextCursor} />
        </>
      ),
    };
  },
};

/** The page of the list that the query asks for, or what is wrong with the query. */
function listOf({ ask, query }: Visit) {
  return ask("journeys/:journeyId/runs", {
    journeyId: query.get("id") ?? "",
    status: given(query, "status"),
    step: given(query, "step"),
    completed: given(query, "completed"),
    since: sinceIn(query),
    limit: LIMIT,
    cursor: given(query, "cursor"),
  }).catch((error: unknown) => expectedRefusal(error, "JOURNEY_NOT_FOUND"));
}

function Filters({ visit: { query, model } }: { visit: Visit }) {
  const journeyId = query.get("id") ?? "";
  const steps = model?.journeys.find(({ id }) => id === journeyId)?.steps.map(({ id }) => id) ?? [];
  return (
    <>
      <p>
        <TextLink href={address("journey", { id: journeyId, since: spanIn(query) })} text={journeyId} />
      </p>
      <FilterForm path={PATH} hidden={{ id: journeyId }}>
        <Choose label="Status" name="status" query={query} choices={STATUSES} />
        <Choose label="Waiting or expired at" name="step" query={query} choices={steps} />
        <Choose label="Completed" name="completed" query={query} choices={steps} />
        <input type="hidden" name="since" value={spanIn(query)} />
      </FilterForm>
    </>
  );
}

function Ended({ at }: { at: string | null }) {
  return at === null ? <span class="faint">not yet</span> : <Ago iso={at} />;
}
