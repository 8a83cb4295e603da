import { plural } from "../../words/text.js";
import { type ConsolePage, given } from "../console-page.js";
import { address, LinkLine } from "../parts.js";
import { JobModel, jobView, partQuery } from "./recomputes/job.js";
import { versionHref } from "./model.js";

const PATH = "preview";

/** The address of a preview's page. @param version that it is of */
export const previewHref = (id: string, version: string) => address(PATH, { id, version });

/** What a version that is not active would change, for whom. */
export const previewPage: ConsolePage = {
  path: PATH,
  inService: true,
  async answer(visit) {
    const { ask, query } = visit;
    const preview = query.get("id") ?? "";
    const named = given(query, "version");
    const [job, changed, found] = await Promise.all([
      ask("previews/:preview", { preview }),
      ask("previews/:preview/customers", { preview, ...partQuery(query) }),
      named === undefined ? null : ask("config-versions/:version", { version: named }),
    ]);
    // A preview knows its snapshot only; the address says which version that is of.
    const version = found?.hash === job.hash ? found.version : undefined;
    return jobView({ path: PATH }, visit, {
      job,
      changed,
      title: `What ${version ?? "another model"} would change`,
      about: {
        "Compared with": (
          <>
            <JobModel job={job} />; customers are replayed under both
          </>
        ),
        Of: job.sample === null ? "all customers" : `about ${plural(job.sample, "customer")}`,
      },
      actions: version === undefined ? null : <LinkLine href={versionHref(version)} text={`Back to ${version}`} />,
    });
  },
};
