import type { Recompute } from "../../http/admin/answers.js";
import type { ConsolePage, Visit } from "../console-page.js";
import { address, Customer, LinkLine } from "../parts.js";
import { JobModel, jobView, partQuery } from "./recomputes/job.js";

const PATH = "recompute";

/** The address of a recompute's page. */
export const recomputeHref = (id: string) => address(PATH, { id });

/** A recompute or dry run: how far it came, what it changes and for whom; what can be done next. */
export const recomputePage: ConsolePage = {
  path: PATH,
  section: null,
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
function Next({ visit: { environment, may, token }, job }: { visit: Visit; job: Recompute }) {
  if (job.status === "dead_letter" && may("retry_recompute")) {
    return (
      <form method="post" action={PATH}>
        {token}
        <input type="hidden" name="id" value={job.id} />
        <button>Go on with it in {environment}</button>
      </form>
    );
  }
  if (job.dry_run && job.status === "completed" && may("create_recompute")) {
    return <LinkLine href={address("begin-recompute", { from: job.id })} text="Recompute like this" />;
  }
  return null;
}
