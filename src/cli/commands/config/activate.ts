import type { ActivatedVersion } from "../../../http/admin/answers.js";
import type { Context } from "../../core/command.js";
import { UserError } from "../../core/errors.js";
import type { Environment } from "../../core/settings.js";
import { sendChange, recomputeHint, withRerunFix } from "../../output/change.js";
import { confirmation } from "../../output/confirmation.js";
import { showDiagnostics } from "../../output/diagnostics.js";
import { asWarnings } from "../../client/failures.js";
import { summary } from "../../../words/text.js";
import { noteChanges } from "./diff.js";
import { activeVersion, getDiff, getVersion } from "./stored-versions.js";

interface Activation {
  verb: "promote" | "rollback";
  version: string;
  environment: Environment;
  yes: boolean;
  force: boolean;
}

/** Makes an existing version the active one: shows what changes, asks, and does it. */
export async function activate(context: Context, activation: Activation): Promise<void> {
  const { api, out, settings } = context;
  const { verb, version, environment, yes, force } = activation;
  const { project, apiUrl } = settings;
  settings.credentials();
  const isPromotion = verb === "promote";
  const confirm = await confirmation(context, {
    action: isPromotion ? "promoting to live" : `rolling ${environment} back`,
    yes,
    ...(isPromotion ? { word: "live" } : {}),
  });

  const active = await activeVersion(context, environment);
  const instead = active === null ? "" : `, instead of ${active}`;
  if (active !== version) {
    await showWhatChanges(context, activation, active);
    const where = `${environment} of project ${project} at ${apiUrl}`;
    await confirm(
      isPromotion
        ? `Promote ${version} to ${where}${instead}?`
        : `Roll ${where} back to ${version}${instead}? This recomputes nothing.`,
    );
  }
  const answer = await sendChange(`\`svc config activations --env ${environment}\``, (signal) =>
    api.post<ActivatedVersion>(
      ["config-versions", version, verb],
      // The request fails if another version than the one shown is active by now.
      { expected: active, force: force || undefined },
      ["version", "activated", "warnings"],
      signal,
      isPromotion ? { env: undefined } : {},
    ),
  ).catch((error: unknown) => {
    throw withFix(error, activation);
  });
  const { data } = answer;
  if (data.warnings.length > 0) out.note(showDiagnostics(asWarnings(data.warnings), out.errorStyle));
  out.result(answer, () => {
    if (!data.activated) return `${version} is active in ${environment} of ${project} already; nothing was changed.`;
    const done = `${version} is active in ${environment} of ${project} now${instead} (${data.hash.slice(0, 12)}).`;
    return data.hasCustomers ? `${done}\n${recomputeHint(out, environment)}` : done;
  });
}

async function showWhatChanges(
  context: Context,
  { version, environment }: Activation,
  active: string | null,
): Promise<void> {
  const { out } = context;
  if (active === null) {
    const { snapshot } = await getVersion(context, version);
    out.note(`Nothing is active in ${environment} yet. ${version} has ${summary(snapshot)}.\n`);
    return;
  }
  const { changes } = (await getDiff(context, active, version)).data;
  if (changes.length === 0) {
    out.note(`${version} is the same model as ${active}.\n`);
    return;
  }
  noteChanges(context, { active, environment, to: version, changes });
}

/** Adds the fix of a refusal that depends on the verb. */
function withFix(error: unknown, { verb, version, environment }: Activation): unknown {
  if (!(error instanceof UserError)) return error;
  const { code, message, details } = error;
  const instead = (fix: string) => new UserError(code, message, fix, details, error);
  if (code === "CONFIG_WARNINGS") return instead("proceed despite them with --force");
  if (code !== "VERSION_CONFLICT") return error;
  if (details.field === "expected") return withRerunFix(error);
  if (verb === "promote") {
    return instead(
      "deploy the model to test first, then promote its version; `svc config activations --env test` shows what was active",
    );
  }
  const promotion =
    environment === "live" ? `, or bring it from test: \`svc config promote --version ${version}\`` : "";
  return instead(`choose one of \`svc config activations --env ${environment}\`${promotion}`);
}
