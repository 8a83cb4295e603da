import type { Change } from "../../../model/compare/change.js";
import { EMPTY_SNAPSHOT } from "../../../model/snapshot/types.js";
import { type Context, defineCommand, projectOptions } from "../../core/command.js";
import { type LocalCode, UserError } from "../../core/errors.js";
import type { Out, OutputStyle } from "../../output/out.js";
import { groupByPart, countChanges, type ChangeLine } from "../../../words/changes.js";
import { printable } from "../../../words/text.js";
import { activeVersion, checkVersion, getDiff, getVersion, type Version } from "./stored-versions.js";

export default defineCommand({
  args: {
    from: { describe: "The older version, such as v3", optional: true },
    to: { describe: "The newer version; the latest unless given", optional: true },
  },
  options: projectOptions,
  examples: [
    ["svc config diff", "What is different between the latest version and the local model"],
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

/** Compares the local model with the latest version, or with an empty model if there is none yet. */
async function diffLocal(context: Context): Promise<void> {
  const { out, settings } = context;
  const { project } = settings;
  settings.credentials();
  // Imported here, like the comparison below: comparing two versions of the service needs neither.
  const { compile } = await import("../../core/compile.js");
  const { snapshot } = await compile(context);
  const latest = await latestVersion(context);
  const { compareSnapshots } = await import("../../../model/compare/compare.js");
  const changes = compareSnapshots(latest?.snapshot ?? EMPTY_SNAPSHOT, snapshot);
  const older =
    latest === null
      ? `nothing, as ${project} has no version yet,`
      : `${latest.version} of ${project} (the latest, active in ${latest.active.join(" and ") || "no environment"})`;
  const document = { from: latest?.version ?? null, to: "local", changes };
  if (latest !== null && !latest.active.includes(settings.environment)) await noteOtherActive(context, latest.version);
  out.result({ document }, () => inWords(out, older, "the local model", changes));
}

/** After a rollback, or before a promotion, the latest version is not what a deploy would replace. */
async function noteOtherActive(context: Context, latest: string): Promise<void> {
  const { out, settings } = context;
  const active = await activeVersion(context);
  if (active !== null)
    out.note(
      `In ${settings.environment}, ${active} is active, not ${latest}: a deploy there replaces ${active}, and shows what changes.`,
    );
}

async function latestVersion(context: Context): Promise<Version | null> {
  try {
    return await getVersion(context, "latest");
  } catch (error) {
    if (error instanceof UserError && error.code === ("NOTHING_DEPLOYED" satisfies LocalCode)) return null;
    throw error;
  }
}

function inWords({ style, columns }: Out, from: string, to: string, changes: readonly Change[]): string {
  if (changes.length === 0) return `No differences between ${from} and ${to}.`;
  return `From ${from} to ${to}, ${countChanges(changes)}.\n\n${changesInWords(changes, style, columns)}`;
}

/** Shows differences to the active version on standard error, as they belong to a question, or to the log if none is asked. */
export function noteChanges(
  { io, out }: Context,
  { active, environment, to, changes }: { active: string; environment: string; to: string; changes: readonly Change[] },
): void {
  const columns = io.stderr.isTTY === true ? out.columns : Infinity;
  const shown = changesInWords(changes, out.errorStyle, columns);
  const from = `${active} (active in ${environment})`;
  out.note(`From ${from} to ${to}, ${countChanges(changes)}.\n\n${shown}\n`);
}

/** Differences between two models for people, part by part. @param columns the width of the output */
export function changesInWords(changes: readonly Change[], style: OutputStyle, columns: number): string {
  return [...groupByPart(changes)]
    .map(([part, lines]) => [style.bold(part), ...lines.map((line) => lineInWords(line, style, columns))].join("\n"))
    .join("\n\n");
}

function lineInWords({ kind, about, message }: ChangeLine, style: OutputStyle, columns: number): string {
  const [sign, paint] = (
    { added: ["+", style.green], removed: ["-", style.red], changed: ["~", style.yellow] } as const
  )[kind];
  const label = about === "" ? "" : `${printable(about)}: `;
  const [first = "", ...more] = wrap(label + printable(message), columns - 4);
  return [`  ${paint(`${sign} ${first}`)}`, ...more.map((line) => `      ${paint(line)}`)].join("\n");
}

/** Wraps a line at spaces if it is too long; the lines after the first are two columns shorter. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    const room = lines.length > 1 ? width - 2 : width;
    if (line !== undefined && line.length + 1 + word.length <= room) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
