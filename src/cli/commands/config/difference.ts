import type { Change } from "../../../model/compare/change.js";
import type { OutputStyle } from "../../output/out.js";
import { plural, printable } from "../../output/text.js";

/** Parts of a model in the order in which authors read them; whatever else there is comes last. */
const PARTS = ["events", "traits", "lifecycle", "journeys", "segments", "health", "rules", "signals"];
const SETTINGS = "settings";

/** A difference as it is shown: what it is about, and what is different. */
interface Line {
  kind: Change["kind"];
  about: string;
  message: string;
}

/** Differences between two models for people, part by part. @param columns the width of what they are shown on */
export function changesInWords(changes: readonly Change[], style: OutputStyle, columns: number): string {
  return [...byPart(changes)]
    .map(([part, lines]) => [style.bold(part), ...lines.map((line) => inWords(line, style, columns))].join("\n"))
    .join("\n\n");
}

/** How many there are: `4 differences: 2 added, 1 changed, 1 removed`. */
export function countChanges(changes: readonly Change[]): string {
  const counts = (["added", "changed", "removed"] as const)
    .map((kind) => [changes.filter((change) => change.kind === kind).length, kind] as const)
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count} ${kind}`);
  return `${plural(changes.length, "difference")}: ${counts.join(", ")}`;
}

function byPart(changes: readonly Change[]): Map<string, Line[]> {
  const parts = new Map<string, Line[]>([...PARTS, SETTINGS].map((part) => [part, []]));
  for (const { kind, subject, id, path, message } of changes) {
    const member = /^\w*/.exec(path)![0];
    const part = PARTS.includes(member) ? member : SETTINGS;
    // The message of a setting names it.
    parts.get(part)!.push({ kind, about: subject === "setting" ? "" : `${subject} ${id}`, message });
  }
  return new Map([...parts].filter(([, lines]) => lines.length > 0));
}

function inWords({ kind, about, message }: Line, style: OutputStyle, columns: number): string {
  const [sign, paint] = (
    { added: ["+", style.green], removed: ["-", style.red], changed: ["~", style.yellow] } as const
  )[kind];
  const label = about === "" ? "" : `${printable(about)}: `;
  const [first = "", ...more] = wrap(label + printable(message), columns - 4);
  return [`  ${paint(`${sign} ${first}`)}`, ...more.map((line) => `      ${paint(line)}`)].join("\n");
}

/** Breaks a line at spaces where it is too long; the lines after the first are two columns shorter. */
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
