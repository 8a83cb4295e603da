import type { ListedRun } from "../../http/admin/answers.js";
import { queryParams, type ConsolePage, expectedRefusal, type Visit } from "../console-page.js";
import { address, Ago, Customer, Text, TextLink } from "../parts.js";
import { listView } from "../list-page.js";
import { Choose, FilterForm } from "../forms.js";
import type { TableColumn } from "../tables.js";
import { sinceIn, spanIn } from "./journeys.js";

const PATH = "journey-runs";
const LIMIT = "100";
const STATUSES = [
  { value: "active", text: "under way" },
  { value: "complete", text: "complete" },
  { value: "expired", text: "expired" },
];
const COLUMNS: TableColumn<ListedRun>[] = [
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["Status", ({ status }) => STATUSES.find(({ value }) => value === status)!.text],
  ["Step", (run) => (run.status === "complete" ? <span class="faint">all</span> : <Text>{run.currentStep}</Text>)],
  ["Started", ({ startedAt }) => <Ago iso={startedAt} />],
  ["Ended", (run) => <Ended at={run.completedAt ?? run.expiredAt} />],
];

/** The customers that are or were on a journey. */
export const journeyRunsPage: ConsolePage = {
  path: PATH,
  async answer(visit) {
    const { ask, query } = visit;
    const of = {
      ...queryParams(query, ["status", "step", "completed", "cursor"]),
      journeyId: query.get("id") ?? "",
      since: sinceIn(query),
      limit: LIMIT,
    };
    return listView({
      path: PATH,
      title: "Runs of a journey",
      query,
      filters: <Filters visit={visit} />,
      found: await ask("journeys/:journeyId/runs", of).catch((error: unknown) =>
        expectedRefusal(error, "JOURNEY_NOT_FOUND"),
      ),
      limit: LIMIT,
      none: "No runs match these filters.",
      columns: COLUMNS,
    });
  },
};

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
