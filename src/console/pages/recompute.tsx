import type { Recompute } from "../../http/admin/answers.js";
import type { ConsolePage, Visit } from "../console-page.js";
import { address, Customer, LinkLine } from "../parts.js";
import { ChangeForm } from "../changes.js";
import { JobModel, jobView, partQuery } from "./recomputes/job.js";

const PATH = "recompute";

/** The address of a recompute's page. */
export const recomputeHref = (id: string) => address(PATH, { id });

/** A recompute or dry run: how far it came, what it changes and for whom; what can be done next. */
export const recomputePage: ConsolePage = {
  path: PATH,
  inService: true,
  async answer(visit) {
    const { ask, query } = visit;
    const recompute = query.get("id") ?? "";
    const [job, changed] = await Promise.all([
      ask("recomputes/:recompute", { recompute }),
      ask("recomputes/:recompute/customers", { recompute, ...partQuery(query) }),
    ]);
    const { customerId } = job;
    const view = jobView({ path: PATH }, visit, {
      job,
      changed,
      title: job.dry_run ? "Dry run" : "Recompute",
      about: {
        Of: customerId === null ? "all customers" : <Customer id={customerId} />,
        Model: <JobModel job={job} />,
        Id: job.id,
      },
      actions: <Next visit={visit} job={job} />,
    });
    return { ...view, customerIds: [...(view.customerIds ?? []), ...(customerId === null ? [] : [customerId])] };
  },
  change: {
    fields: ["id"],
    async make({ tell, form: { id = "" } }) {
      await tell("POST recomputes/:recompute/retry", { recompute: id });
      return recomputeHref(id);
    },
  },
};

/** What can be done with it, by whoever may: from a dry run on to the recompute, and on with one that was given up. */
function Next({ visit, job }: { visit: Visit; job: Recompute }) {
  const { environment, may } = visit;
  if (job.status === "dead_letter" && may("retry_recompute")) {
    return (
      <ChangeForm visit={visit} path={PATH} hidden={{ id: job.id }}>
        <button>Go on with it in {environment}</button>
      </ChangeForm>
    );
  }
  if (job.dry_run && job.status === "completed" && may("create_recompute")) {
    return <LinkLine href={address("begin-recompute", { from: job.id })} text="Recompute like this" />;
  }
  return null;
}
