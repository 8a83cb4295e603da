import type { Change } from "../../../model/compare/change.js";
import { EMPTY_SNAPSHOT } from "../../../model/snapshot/types.js";
import { type Context, defineCommand, projectOptions } from "../../core/command.js";
import { changesInWords, countChanges } from "./difference.js";
import { UserError } from "../../core/errors.js";
import type { Out } from "../../output/out.js";
import { checkVersion, getDiff, getVersion, type Version } from "./stored-versions.js";

export default defineCommand({
  args: {
    from: { describe: "The older version, such as v3", optional: true },
    to: { describe: "The newer version; the latest unless given", optional: true },
  },
  options: projectOptions,
  examples: [
    ["svc config diff", "What a deploy of the local model would change"],
    ["svc config diff v3", "What is different between v3 and the latest version"],
    ["svc config diff v3 v5", "What is different between two versions"],
  ],
  async handler(context, { from, to }) {
    const { out } = context;
    if (from === undefined) return diffLocal(context);
    checkVersion(from, { given: "<from>", latest: true });
    if (to !== undefined) checkVersion(to, { given: "<to>", latest: true });
    const answer = await getDiff(context, from, to ?? "latest");
    const { changes } = answer.data;
    out.result(answer, () => inWords(out, answer.data.from ?? "nothing", answer.data.to, changes));
  },
});

/** Compares the local model with the latest version, or with nothing where there is none yet. */
async function diffLocal(context: Context): Promise<void> {
  const { out, settings } = context;
  const { project } = settings;
  settings.credentials();
  // Not above, as the comparison below: two versions of the service's are compared without.
  const { compile } = await import("../../core/compile.js");
  const { snapshot } = await compile(context);
  const latest = await latestVersion(context);
  const { compareSnapshots } = await import("../../../model/compare/compare.js");
  const changes = compareSnapshots(latest?.snapshot ?? EMPTY_SNAPSHOT, snapshot);
  const active = latest && latest.active.length > 0 ? `, active in ${latest.active.join(" and ")}` : "";
  const older =
    latest === null
      ? `nothing, as ${project} has no version yet,`
      : `${latest.version} of ${project} (the latest${active})`;
  const document = { from: latest?.version ?? null, to: "local", changes };
  out.result({ document }, () => inWords(out, older, "the local model", changes));
}

async function latestVersion(context: Context): Promise<Version | null> {
  try {
    return await getVersion(context, "latest");
  } catch (error) {
    if (error instanceof UserError && error.code === "VERSION_NOT_FOUND") return null;
    throw error;
  }
}

function inWords({ style, columns }: Out, from: string, to: string, changes: readonly Change[]): string {
  if (changes.length === 0) return `No differences between ${from} and ${to}.`;
  return `From ${from} to ${to}, ${countChanges(changes)}.\n\n${changesInWords(changes, style, columns)}`;
}
