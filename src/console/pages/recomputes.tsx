import type { Recompute } from "../../http/admin/answers.js";
import { formatNumber, plural } from "../../words/text.js";
import { Allowed, ChangeForm, changeIn } from "../changes.js";
import { type ConsolePage, queryParam, type Visit } from "../console-page.js";
import { address, Ago, Customer, Empty, LinkLine, PageLinks } from "../parts.js";
import { Choose, ViewForm } from "../forms.js";
import { Table, type TableColumn } from "../tables.js";
import { isUnderWay, JobProgress, JobStatus, JobModel, jobView, partQuery } from "./recomputes/job.js";

const LIST = "recomputes";
const ENTRY = "recompute";
const BEGIN = "begin-recompute";

const STATUSES = ["queued", "running", "retrying", "completed", { value: "dead_letter", text: "ended early" }];

/** The recomputes and dry runs of the environment, and the form that starts a dry run. */
export const recomputesPage: ConsolePage = {
  path: LIST,
  inService: true,
  async answer(visit) {
    const { ask, query, environment } = visit;
    const status = queryParam(query, "status");
    const { data, nextCursor } = await ask("recomputes", { status, limit: "50", cursor: queryParam(query, "cursor") });
    return {
      title: "Recomputes",
      customerIds: data.flatMap(({ customerId }) => customerId ?? []),
      body: (
        <>
          <p>
            A recompute replays the history of customers as if the active model had been active from the start. A dry
            run shows what that would change, and changes nothing.
          </p>
          <Allowed
            visit={visit}
            operation="create_recompute"
            what="start one here"
            who="an owner of the organization for a higher role"
          >
            <ChangeForm visit={visit} path={LIST}>
              <button>Start a dry run for all customers in {environment}</button>
            </ChangeForm>
          </Allowed>
          <h2>Newest first</h2>
          <ViewForm path={LIST}>
            <Choose label="Status" name="status" query={query} choices={STATUSES} />
          </ViewForm>
          {data.length === 0 && !query.has("cursor") ? (
            <Empty>{status === undefined ? "There are no recomputes yet." : "No recomputes have this status."}</Empty>
          ) : (
            <Recomputes recomputes={data} />
          )}
          <PageLinks path={LIST} query={query} next={nextCursor} />
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
  ["Requested", ({ requestedAt, requestedBy }) => <Ago iso={requestedAt} by={requestedBy} />],
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

/** The address of a recompute's page. */
const recomputeHref = (id: string) => address(ENTRY, { id });

/** A recompute or dry run: its progress, the changes and the customers that they affect, and the next step. */
export const recomputePage: ConsolePage = {
  path: ENTRY,
  list: LIST,
  inService: true,
  async answer(visit) {
    const { ask, query } = visit;
    const recompute = query.get("id") ?? "";
    const [job, changed] = await Promise.all([
      ask("recomputes/:recompute", { recompute }),
      ask("recomputes/:recompute/customers", { recompute, ...partQuery(query) }),
    ]);
    const { customerId } = job;
    const by = await carriedOutBy(visit, job);
    const view = jobView(ENTRY, visit, {
      job,
      changed,
      title: job.dry_run ? "Dry run" : "Recompute",
      about: {
        For: customerId === null ? "all customers" : <Customer id={customerId} />,
        Model: <JobModel job={job} />,
        Id: job.id,
      },
      actions: by === undefined ? <Next visit={visit} job={job} /> : <CarriedOut by={by} />,
    });
    return { ...view, customerIds: [...(view.customerIds ?? []), ...(customerId === null ? [] : [customerId])] };
  },
  change: {
    fields: ["as", "id"],
    async make({ tell, form }) {
      const { id = "" } = form;
      await tell(`POST recomputes/:recompute/${changeIn(form, ["cancel", "retry"])}`, { recompute: id });
      return recomputeHref(id);
    },
  },
};

/** The recompute with the pins of a dry run, which carries it out, among the newest; undefined if there is none. */
async function carriedOutBy({ ask }: Visit, { dry_run, status, customerId, pins }: Recompute) {
  if (!dry_run || status !== "completed") return undefined;
  const { data } = await ask("recomputes", { limit: "200" });
  return data.find(
    (job) =>
      !job.dry_run &&
      job.customerId === customerId &&
      job.pins.configVersion === pins.configVersion &&
      job.pins.evaluatedAt === pins.evaluatedAt,
  );
}

/** Says that a dry run is carried out: doing it once more would change nothing, and write another generation of the history. */
function CarriedOut({ by }: { by: Recompute }) {
  return (
    <p class="note">
      <a href={recomputeHref(by.id)}>A recompute</a>, requested <Ago iso={by.requestedAt} by={by.requestedBy} />, does
      what this dry run showed.
    </p>
  );
}

/** The next step, for users who may take it: from a dry run to the recompute, cancelling one that is under way, or resuming one that ended early. */
function Next({ visit, job }: { visit: Visit; job: Recompute }) {
  const { environment, may } = visit;
  if (job.status === "dead_letter" && may("retry_recompute")) {
    return (
      <ChangeForm visit={visit} path={ENTRY} hidden={{ as: "retry", id: job.id }}>
        <button>Resume it in {environment}</button>
      </ChangeForm>
    );
  }
  if (isUnderWay(job) && may("cancel_recompute")) {
    return (
      <ChangeForm visit={visit} path={ENTRY} hidden={{ as: "cancel", id: job.id }}>
        <button>Cancel it in {environment}</button>
      </ChangeForm>
    );
  }
  if (job.dry_run && job.status === "completed" && may("create_recompute")) {
    return <LinkLine href={address(BEGIN, { from: job.id })} text="Start this recompute" />;
  }
  return null;
}

/** Asks for confirmation before the recompute of a dry run. */
export const beginRecomputePage: ConsolePage = {
  path: BEGIN,
  list: LIST,
  inService: true,
  async answer(visit) {
    const { ask, query, environment, activeVersion } = visit;
    const from = query.get("from") ?? "";
    const dryRun = await ask("recomputes/:recompute", { recompute: from });
    const isOfActive = dryRun.pins.configVersion === activeVersion;
    const by = await carriedOutBy(visit, dryRun);
    return {
      title: "Recompute?",
      body: (
        <>
          <p>
            In <strong class={environment === "live" ? "live" : undefined}>{environment}</strong>, the history of{" "}
            {dryRun.customerId === null ? "all customers" : "the customer"} is replayed under <JobModel job={dryRun} />,
            and the changes listed by <a href={recomputeHref(from)}>the dry run</a> are written:{" "}
            {plural(dryRun.result.customersChanged, "customer changes", "customers change")}. Corrections are delivered
            to webhooks.
          </p>
          <p class="note">
            The record is replaced: each customer gets the lifecycle and the runs of rules of the replay, and a single
            health score, the present one. Trends of these follow; those of segments and signals count the corrections
            today. What was recorded before is marked as superseded, and kept for as long as the plan says.
          </p>
          {isOfActive ? null : (
            <p class="error">
              The dry run is of {dryRun.pins.configVersion ?? "no version"}, but {activeVersion ?? "none"} is active
              here: start another one.
            </p>
          )}
          {by === undefined ? null : <CarriedOut by={by} />}
          <Allowed
            visit={visit}
            operation="create_recompute"
            what={`recompute in ${environment}`}
            who="an owner for a higher role"
          >
            {isOfActive && by === undefined ? (
              <ChangeForm visit={visit} path={BEGIN} hidden={{ from }}>
                <button>Recompute in {environment}</button>
              </ChangeForm>
            ) : null}
          </Allowed>
          <LinkLine href={recomputeHref(from)} text="Cancel" />
        </>
      ),
    };
  },
  change: {
    fields: ["from"],
    async make({ tell, form: { from = "" } }) {
      const begun = (await tell("POST recomputes", {}, { from })) as Recompute;
      return recomputeHref(begun.id);
    },
  },
};
