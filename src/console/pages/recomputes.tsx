import type { Recompute } from "../../http/admin/answers.js";
import { formatNumber } from "../../words/text.js";
import { Allowed, ChangeForm } from "../changes.js";
import { type ConsolePage, given } from "../console-page.js";
import { Ago, Customer, Empty, PageLinks } from "../parts.js";
import { Choose, ViewForm } from "../forms.js";
import { type TableColumn, Table } from "../tables.js";
import { JobStatus, JobProgress } from "./recomputes/status.js";
import { recomputeHref } from "./recompute.js";

const PATH = "recomputes";

const STATUSES = ["queued", "running", "retrying", "completed", { value: "dead_letter", text: "given up" }];

/** The recomputes and dry runs of the environment, and how another dry run is begun. */
export const recomputesPage: ConsolePage = {
  path: PATH,
  inService: true,
  async answer(visit) {
    const { ask, query, environment } = visit;
    const status = given(query, "status");
    const { data, nextCursor } = await ask("recomputes", { status, limit: "50", cursor: given(query, "cursor") });
    return {
      title: "Recomputes",
      customerIds: data.flatMap(({ customerId }) => customerId ?? []),
      body: (
        <>
          <p>
            A recompute replays the history of customers as if the active model had been so from the start. A dry run
            tells what that would change, and changes nothing.
          </p>
          <Allowed
            visit={visit}
            operation="create_recompute"
            what="begin one here"
            who="an owner of the organization for a higher one"
          >
            <ChangeForm visit={visit} path={PATH}>
              <button>Begin a dry run of all customers in {environment}</button>
            </ChangeForm>
          </Allowed>
          <h2>The newest first</h2>
          <ViewForm path={PATH}>
            <Choose label="Status" name="status" query={query} choices={STATUSES} />
          </ViewForm>
          {data.length === 0 && !query.has("cursor") ? (
            <Empty>{status === undefined ? "There was none yet." : "There is none like this."}</Empty>
          ) : (
            <Recomputes recomputes={data} />
          )}
          <PageLinks path={PATH} query={query} next={nextCursor} />
        </>
      ),
    };
  },
  change: {
    fields: [],
    async make({ tell }) {
      const { id } = (await tell("POST recomputes", {}, { all: true, dryRun: true })) as Recompute;
      return recomputeHref(id);
    },
  },
};

const COLUMNS: TableColumn<Recompute>[] = [
  ["What", (job) => <What job={job} />],
  ["Status", (job) => <JobStatus job={job} />],
  ["Done", (job) => <JobProgress job={job} />],
  ["Customers changed", ({ result }) => formatNumber(result.customersChanged), "number"],
  ["Asked for", ({ requestedAt, requestedBy }) => <Ago iso={requestedAt} by={requestedBy} />],
];

/** Recomputes as a table. */
export function Recomputes({ recomputes }: { recomputes: readonly Recompute[] }) {
  return <Table name="Recomputes and dry runs" rows={recomputes} columns={COLUMNS} />;
}

function What({ job: { id, dry_run: isDry, customerId, pins } }: { job: Recompute }) {
  return (
    <>
      <a href={recomputeHref(id)}>{isDry ? "Dry run" : "Recompute"}</a>
      {customerId === null ? null : (
        <>
          {" "}
          of <Customer id={customerId} isShort />
        </>
      )}
      <br />
      <span class="faint">{pins.configVersion}</span>
    </>
  );
}
