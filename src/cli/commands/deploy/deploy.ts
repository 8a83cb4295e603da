import type { Diagnostic } from "../../../dsl-compiler/index.js";
import type { Snapshot } from "../../../model/snapshot/types.js";
import type { ConfigCheck, DeployedVersion } from "../../../http/admin/answers.js";
import { type Context, defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { compile, warningsFailure } from "../../core/compile.js";
import { type LocalCode, UsageError, UserError } from "../../core/errors.js";
import { sendChange, recomputeHint, withRerunFix } from "../../output/change.js";
import { confirmation } from "../../output/confirmation.js";
import { showDiagnostics } from "../../output/diagnostics.js";
import { asWarnings } from "../../client/failures.js";
import { cancellable } from "../../output/interruption.js";
import { printable, summary } from "../../../words/text.js";
import { noteChanges } from "../config/diff.js";
import { activeVersion, getVersion } from "../config/stored-versions.js";

/** Shorter waits show nothing. */
const SHOWN_AFTER_MS = 300;

/** On a terminal, shows what is being waited for, and removes it when that is over. */
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
    // Back to the beginning of the line, and clear it.
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
      describe: "With --preview: look at about this many customers",
    },
    markdown: { type: "flag", describe: "With --preview: print a comment for a pull request" },
  },
  examples: [
    ["svc deploy --yes", "Deploy to the test environment without being asked"],
    ["echo live | svc deploy --env live --yes", "Deploy to live without a terminal"],
    ["svc deploy --preview --env live", "What the model would change among the customers of live"],
    ["svc deploy --preview --sample 1000 --markdown", "The same for about a thousand customers, for a pull request"],
  ],
  async handler(context, { yes, force, preview: isPreview, sample, markdown }) {
    if (isPreview) {
      if (markdown && context.out.json) {
        throw new UsageError("--markdown and --json exclude each other", "give one of them");
      }
      // Imported here: help texts must not wait for the modules that draw bars and tables.
      const { previewDeploy } = await import("./preview.js");
      return previewDeploy(context, { sample, markdown });
    }
    if (markdown || sample !== undefined) {
      const fix = "add --preview, or leave it out";
      throw new UsageError(`${markdown ? "--markdown" : "--sample"} is for previews only`, fix);
    }
    const { api, out, settings } = context;
    const { environment, project } = settings;
    // Missing credentials must fail before the user confirms.
    settings.credentials();
    const live = environment === "live" ? { word: "live" } : {};
    const confirm = await confirmation(context, { action: `deploying to ${environment}`, yes, ...live });

    const { snapshot, warnings } = await cancellable((stop) =>
      withSpinner(context, "Checking the model", compile(context, stop)),
    );
    if (warnings.length > 0 && !force) throw await blocked(context, snapshot, warnings);
    if (warnings.length > 0) out.note(showDiagnostics(warnings, out.errorStyle));

    const active = await noteDifferences(context, snapshot);
    const instead = active === null ? "" : `, instead of ${active}`;
    await confirm(`Deploy ${summary(snapshot)} to ${settings.place}${instead}?`);
    // The request fails if another version than the one compared with is active by now.
    const body = { snapshot, provenance: provenance(context.io.env), expected: active, force: force || undefined };
    const answer = await sendChange("`svc config versions`", (signal) =>
      withSpinner(
        context,
        "Deploying",
        api.post<DeployedVersion>(["config-versions"], body, ["version", "created", "warnings"], signal),
      ),
    ).catch((error: unknown) => {
      throw withRerunFix(error);
    });
    const { version, hash, created, hasCustomers, warnings: stranded } = answer.data;
    if (stranded.length > 0) out.note(showDiagnostics(asWarnings(stranded), out.errorStyle));
    out.result(answer, () => {
      if (!created)
        return `${version}, which is already active in ${environment} of ${project}, is the same model; nothing was deployed.`;
      const done = `Deployed ${version} to ${environment} of ${project}${instead}: ${summary(snapshot)} (${hash.slice(0, 12)}).`;
      return hasCustomers ? `${done}\n${recomputeHint(out, environment)}` : done;
    });
  },
});

/** Shows how the model differs from the active version, and returns that version's name; null if none is active. */
async function noteDifferences(context: Context, snapshot: Snapshot): Promise<string | null> {
  const active = await activeVersion(context);
  // Programs that read the document find the versions in it, and their differences with svc config diff.
  if (active === null || context.out.json) return active;
  try {
    const { compareSnapshots } = await import("../../../model/compare/compare.js");
    const { environment } = context.settings;
    const changes = compareSnapshots((await getVersion(context, active)).snapshot, snapshot);
    if (changes.length > 0) noteChanges(context, { active, environment, to: "the local model", changes });
  } catch (error) {
    // A newer version of svc may have deployed what this one cannot read; that does not prevent another deploy.
    if (!(error instanceof UserError) || error.code !== ("UNEXPECTED_ANSWER" satisfies LocalCode)) throw error;
    context.out.note(`The changes from ${active} cannot be shown: ${printable(error.message)}.`);
  }
  return active;
}

/** The failure of a model with compiler warnings. Includes the service's warnings, so that users do not meet them only after `--force`. */
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
    return warningsFailure(warnings, fix, asWarnings(data.warnings));
  } catch (error) {
    out.note(showDiagnostics(warnings, out.errorStyle));
    throw error;
  }
}

/** The variables in which CI systems describe a run, by the variable that identifies the system. */
const SYSTEMS = [
  ["GITHUB_ACTIONS", ["GITHUB_REPOSITORY", "GITHUB_SHA", "GITHUB_REF", "GITHUB_WORKFLOW", "GITHUB_RUN_ID"]],
  ["GITLAB_CI", ["CI_PROJECT_PATH", "CI_COMMIT_SHA", "CI_COMMIT_REF_NAME", "CI_JOB_NAME", "CI_PIPELINE_ID"]],
] as const;
/** The provenance members of these variables, in the same order. */
const MEMBERS = ["repository", "commit", "ref", "workflow", "run"];

/** The provenance of a deploy from a CI run; undefined outside of CI. */
function provenance(env: Context["io"]["env"]): Record<string, string> | undefined {
  // A system's identifying variable wins; otherwise any of its variables suffices, as when only those were passed into a container.
  const [, names] =
    SYSTEMS.find(([present]) => env[present]) ?? SYSTEMS.find(([, some]) => some.some((name) => env[name])) ?? [];
  const found = (names ?? []).flatMap((name, index) => (env[name] ? [[MEMBERS[index]!, env[name]] as const] : []));
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
