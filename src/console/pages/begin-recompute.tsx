import type { Recompute } from "../../http/admin/answers.js";
import { plural } from "../../words/text.js";
import { Allowed, ChangeForm } from "../changes.js";
import type { ConsolePage } from "../console-page.js";
import { recomputeHref } from "./recompute.js";
import { JobModel } from "./recomputes/job.js";
import { LinkLine } from "../parts.js";

const PATH = "begin-recompute";

/** Asks whether what a dry run told is to be done. */
export const beginRecomputePage: ConsolePage = {
  path: PATH,
  inService: true,
  async answer(visit) {
    const { ask, query, environment, activeVersion } = visit;
    const from = query.get("from") ?? "";
    const dryRun = await ask("recomputes/:recompute", { recompute: from });
    const isOfActive = dryRun.pins.configVersion === activeVersion;
    return {
      title: "Recompute?",
      body: (
        <>
          <p>
            In <strong class={environment === "live" ? "live" : undefined}>{environment}</strong>, the history of{" "}
            {dryRun.customerId === null ? "all customers" : "the customer"} is replayed under <JobModel job={dryRun} />,
            and what <a href={recomputeHref(from)}>the dry run</a> listed is written:{" "}
            {plural(dryRun.result.customersChanged, "customer changes", "customers change")}. Corrections are delivered
            to webhooks.
          </p>
          <p class="note">
            The record begins anew: of each customer, lifecycle and runs of rules are those of the replay, and of health
            one score, the present one, is kept. Trends follow. What was recorded before is marked as superseded, and
            kept for as long as the plan says.
          </p>
          {isOfActive ? null : (
            <p class="error">
              The dry run is of {dryRun.pins.configVersion ?? "no version"}, but {activeVersion ?? "none"} is active
              here: begin another one.
            </p>
          )}
          <Allowed
            visit={visit}
            operation="create_recompute"
            what={`recompute in ${environment}`}
            who="an owner for a higher one"
          >
            {isOfActive ? (
              <ChangeForm visit={visit} path={PATH} hidden={{ from }}>
                <button>Recompute in {environment}</button>
              </ChangeForm>
            ) : null}
          </Allowed>
          <LinkLine href={recomputeHref(from)} text="Leave it" />
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
