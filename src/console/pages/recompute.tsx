import type { ConsolePage, Visit } from "../console-page.js";
import { address, Customer } from "../parts.js";
import type { Recompute } from "../answers/operations.js";
import { jobView, pageOf } from "./recomputes/job.js";

const PATH = "recompute";

/** The address of a recompute's page. */
export const recomputeHref = (id: string) => address(PATH, { id });

/** A recompute or dry run: how far it came, what it changes and for whom; going on from a dry run to the recompute, and trying again. */
export const recomputePage: ConsolePage = {
  path: PATH,
  section: null,
  inService: true,
  async answer(visit) {
    const { ask, query } = visit;
    const recompute = query.get("id") ?? "";
    const [job, changed] = await Promise.all([
      ask("recomputes/:recompute", { recompute }),
      ask("recomputes/:recompute/customers", { recompute, ...pageOf(query) }),
    ]);
    const { customerId } = job;
    const view = jobView({ path: PATH }, visit, {
      job,
      changed,
      title: job.dry_run ? "Dry run" : "Recompute",
      about: (
        <>
          <dt>Of</dt>
          <dd>{customerId === null ? "all customers" : <Customer id={customerId} />}</dd>
          <dt>Id</dt>
          <dd>{job.id}</dd>
        </>
      ),
      actions: <Actions visit={visit} job={job} />,
    });
    return { ...view, customerIds: [...(view.customerIds ?? []), ...(customerId === null ? [] : [customerId])] };
  },
  change: {
    fields: ["id", "as"],
    async make({ tell, form: { id = "", as } }) {
      if (as === "retry") {
        await tell("POST recomputes/:recompute/retry", { recompute: id });
        return recomputeHref(id);
      }
      const begun = (await tell("POST recomputes", {}, { from: id })) as Recompute;
      return recomputeHref(begun.id);
    },
  },
};

/** What can be done with it, by whoever may. */
function Actions({ visit, job }: { visit: Visit; job: Recompute }) {
  const { environment, may, token } = visit;
  const [as, operation, text] =
    job.status === "dead_letter"
      ? (["retry", "retry_recompute", `Go on with it in ${environment}`] as const)
      : (["begin", "create_recompute", `Recompute like this in ${environment}`] as const);
  const isPossible = job.status === "dead_letter" || (job.dry_run && job.status === "completed");
  if (!isPossible || !may(operation)) return null;
  return (
    <form method="post" action={PATH}>
      {token}
      <input type="hidden" name="id" value={job.id} />
      <input type="hidden" name="as" value={as} />
      {as === "retry" ? null : (
        <p>
          The recompute replays the same history under the same version and writes what is listed here; corrections are
          delivered to webhooks.
        </p>
      )}
      <button>{text}</button>
    </form>
  );
}
