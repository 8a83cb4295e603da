import type { ListedRun } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { type ConsolePage, given, expectedRefusal, type Visit } from "../console-page.js";
import {
  address,
  Ago,
  Choose,
  Customer,
  Empty,
  FoundList,
  PageLinks,
  ProblemNote,
  Table,
  Text,
  TextLink,
} from "../parts.js";
import { sinceIn, spanIn } from "./journey-span.js";

const PATH = "journey-runs";
const LIMIT = "100";
const COLUMNS = ["Customer", "Status", "Step", "Begun", "Ended"].map((heading) => ({ heading }));
const STATUSES = [
  { value: "active", text: "under way" },
  { value: "complete", text: "complete" },
  { value: "expired", text: "expired" },
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
            <Table name={title} columns={COLUMNS}>
              {data.map((run) => (
                <Row run={run} key={`${run.run} ${run.customerId}`} />
              ))}
            </Table>
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
  const value = (name: string) => query.get(name) ?? "";
  const journeyId = value("id");
  const steps = model?.journeys.find(({ id }) => id === journeyId)?.steps.map(({ id }) => id) ?? [];
  return (
    <>
      <p>
        <TextLink href={address("journey", { id: journeyId, since: spanIn(query) })} text={journeyId} />
      </p>
      <search>
        <form class="filters" action={PATH} method="get">
          <input type="hidden" name="id" value={journeyId} />
          <Choose label="Status" name="status" value={value("status")} choices={STATUSES} />
          <Choose label="Waiting or expired at" name="step" value={value("step")} choices={steps} />
          <Choose label="Completed" name="completed" value={value("completed")} choices={steps} />
          <input type="hidden" name="since" value={spanIn(query)} />
          <button>Show</button>
        </form>
      </search>
    </>
  );
}

function Row({ run }: { run: ListedRun }) {
  const { customerId, status, currentStep, startedAt, completedAt, expiredAt } = run;
  const ended = completedAt ?? expiredAt;
  return (
    <tr>
      <td>
        <Customer id={customerId} />
      </td>
      <td>{STATUSES.find(({ value }) => value === status)!.text}</td>
      <td>{status === "complete" ? <span class="faint">all</span> : <Text>{currentStep}</Text>}</td>
      <td>
        <Ago iso={startedAt} />
      </td>
      <td>{ended === null ? <span class="faint">not yet</span> : <Ago iso={ended} />}</td>
    </tr>
  );
}
