import type { RecomputeJob } from "../../client/answers.js";
import { compile } from "../../core/compile.js";
import type { Context } from "../../core/command.js";
import { showDiagnostics } from "../../output/diagnostics.js";
import { impactInWords, impactMarkdown } from "./impact-report.js";
import { Impact } from "./impact.js";
import { cancellable } from "../../output/interruption.js";
import { untilCompleted } from "../recompute/result.js";
import { type DifferencePage, differencesOf, documentOf, JOB_MEMBERS } from "../recompute/jobs.js";

/** Compiles the local model and prints what it would change, without deploying it; of about `sample` customers where it is given. */
export async function preview(
  context: Context,
  { sample, markdown }: { sample: number | undefined; markdown: boolean },
): Promise<void> {
  const { api, out, settings } = context;
  const { project } = settings;
  settings.credentials();
  const { snapshot, warnings } = await cancellable((stop) => compile(context, stop));
  if (warnings.length > 0) out.note(showDiagnostics(warnings, out.errorStyle));

  const ofAll = sample === undefined || (!out.json && (await takesInAll(context, sample)));
  const body = { snapshot, ...(sample === undefined ? {} : { sample }) };
  // A preview changes nothing, so there is no outcome to be known.
  const { data } = await cancellable((stop) => api.post<RecomputeJob>(["previews"], body, JOB_MEMBERS, stop));
  const path = ["previews", data.id];
  const job = await untilCompleted(context, data, {
    path,
    untouched: "; it changes nothing",
    onDeadLetter: "mend the cause, then preview the model again",
    onStop: "it changes nothing; preview the model again to see what comes of it",
  });

  const impact = new Impact();
  const pages = gathered(differencesOf(context, path), impact);
  if (out.json) return out.stream(documentOf(job, pages, () => ({ impact: impact.document })));
  for await (const _page of pages);
  const told = ofAll ? { ...job, sample: null } : job;
  out.print(
    markdown ? impactMarkdown(project, told, impact.document) : impactInWords(out, project, told, impact.document),
  );
}

async function takesInAll({ api }: Context, sample: number): Promise<boolean> {
  const { data } = await api.get<{ customers: number }>(["overview"], ["customers"]);
  return sample >= data.customers;
}

/** The pages as they are; what is in them is gathered on the way. */
async function* gathered(pages: AsyncIterable<DifferencePage>, impact: Impact): AsyncGenerator<DifferencePage> {
  for await (const page of pages) {
    for (const difference of page.items) impact.add(difference);
    yield page;
  }
}
