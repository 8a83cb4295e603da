import type { Diagnostic } from "../../../dsl-compiler/index.js";
import type { ConfigCheck, DeployedVersion } from "../../../http/admin/answers.js";
import { type Context, defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { compile, warningsBlock } from "../../core/compile.js";
import { UsageError } from "../../core/errors.js";
import { confirmation, outcomeOf, customersKeepTheirState } from "../../output/change.js";
import { showDiagnostics } from "../../output/diagnostics.js";
import { asWarnings } from "../../client/failures.js";
import { cancellable } from "../../output/interruption.js";
import { summary } from "../../../words/text.js";

/** What is over sooner needs no word. */
const SHOWN_AFTER_MS = 300;

/** Says on a terminal what is being waited for, and takes it back when that is over. */
async function withSpinner<T>({ io, out }: Context, what: string, work: Promise<T>): Promise<T> {
  if (io.stderr.isTTY !== true) return work;
  const line = { isShown: false };
  const timer = setTimeout(() => {
    line.isShown = true;
    io.stderr.write(out.errorStyle.dim(`${what} …`));
  }, SHOWN_AFTER_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    // To the line's beginning, and away with what stands there.
    if (line.isShown) io.stderr.write("\r\u001b[K");
  }
}

export default defineCommand({
  options: {
    ...projectOptions,
    ...yesOption,
    force: { type: "flag", describe: "Deploy despite warnings; errors still block" },
    preview: { type: "flag", describe: "Deploy nothing: show which customers the model would change, and how" },
    sample: {
      type: "integer",
      min: 1,
      max: 1_000_000_000,
      describe: "With --preview: look at about so many customers",
    },
    markdown: { type: "flag", describe: "With --preview: print a comment for a pull request" },
  },
  examples: [
    ["svc deploy --yes", "Deploy to the test environment without being asked"],
    ["echo live | svc deploy --env live --yes", "Deploy to live where there is no terminal"],
    ["svc deploy --preview --env live", "What the model would change among the customers of live"],
    ["svc deploy --preview --sample 1000 --markdown", "The same of about a thousand customers, for a pull request"],
  ],
  async handler(context, { yes, force, preview: isPreview, sample, markdown }) {
    if (isPreview) {
      if (markdown && context.out.json) {
        throw new UsageError("--markdown and --json exclude each other", "give one of them");
      }
      // Not above: the help of this command must not wait for what draws bars and tables.
      const { previewDeploy } = await import("./preview.js");
      return previewDeploy(context, { sample, markdown });
    }
    if (markdown || sample !== undefined) {
      const fix = "add --preview, or leave it out";
      throw new UsageError(`${markdown ? "--markdown" : "--sample"} is for previews only`, fix);
    }
    const { api, out, settings } = context;
    const { environment, project } = settings;
    // What would fail in the end anyway is better known before somebody confirms.
    settings.credentials();
    const live = environment === "live" ? { word: "live" } : {};
    const confirm = await confirmation(context, { action: `deploying to ${environment}`, yes, ...live });

    const { snapshot, warnings } = await cancellable((stop) =>
      withSpinner(context, "Checking the model", compile(context, stop)),
    );
    if (warnings.length > 0 && !force) throw await blocked(context, snapshot, warnings);
    if (warnings.length > 0) out.note(showDiagnostics(warnings, out.errorStyle));

    await confirm(`Deploy ${summary(snapshot)} to ${settings.place}?`);
    const body = { snapshot, provenance: provenance(context.io.env), force: force || undefined };
    const answer = await outcomeOf("`svc config versions`", (signal) =>
      withSpinner(
        context,
        "Deploying",
        api.post<DeployedVersion>(["config-versions"], body, ["version", "created", "warnings"], signal),
      ),
    );
    const { version, hash, created, hasCustomers, warnings: stranded } = answer.data;
    if (stranded.length > 0) out.note(showDiagnostics(asWarnings(stranded), out.errorStyle));
    out.result(answer, () => {
      if (!created)
        return `${version} is active in ${environment} of ${project} already and is the same model; nothing was deployed.`;
      const done = `Deployed ${version} to ${environment} of ${project}: ${summary(snapshot)} (${hash.slice(0, 12)}).`;
      return hasCustomers ? `${done}\n${customersKeepTheirState(out, environment)}` : done;
    });
  },
});

/** The failure of a model that has warnings of its own, with what the service would warn of, so that nothing is learnt only from `--force`. */
async function blocked(context: Context, snapshot: object, warnings: readonly Diagnostic[]): Promise<Error> {
  const { api, out } = context;
  try {
    const { data } = await cancellable((stop) =>
      withSpinner(
        context,
        "Checking the data",
        api.post<ConfigCheck>(["config-checks"], { snapshot }, ["warnings"], stop),
      ),
    );
    const fix = "correct them, or deploy despite them with --force";
    return warningsBlock(warnings, fix, asWarnings(data.warnings));
  } catch (error) {
    out.note(showDiagnostics(warnings, out.errorStyle));
    throw error;
  }
}

/** Where GitHub Actions and GitLab CI say what a deploy came from, by what tells that they run. */
const SYSTEMS = [
  ["GITHUB_ACTIONS", ["GITHUB_REPOSITORY", "GITHUB_SHA", "GITHUB_REF", "GITHUB_WORKFLOW", "GITHUB_RUN_ID"]],
  ["GITLAB_CI", ["CI_PROJECT_PATH", "CI_COMMIT_SHA", "CI_COMMIT_REF_NAME", "CI_JOB_NAME", "CI_PIPELINE_ID"]],
] as const;
/** What these are, in the same order. */
const MEMBERS = ["repository", "commit", "ref", "workflow", "run"];

/** What the CI system says of the run that deploys; undefined outside of one. */
function provenance(env: Context["io"]["env"]): Record<string, string> | undefined {
  // A system that names itself wins; otherwise any of its variables will do, as when they were passed into a container.
  const [, names] =
    SYSTEMS.find(([present]) => env[present]) ?? SYSTEMS.find(([, some]) => some.some((name) => env[name])) ?? [];
  const found = (names ?? []).flatMap((name, index) => (env[name] ? [[MEMBERS[index]!, env[name]] as const] : []));
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
