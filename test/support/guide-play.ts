import { GuideTerminal } from "./guide-terminals.js";

/** A place of a guide that is played: a block, or Ctrl+C in a terminal. */
interface Scene {
  kind: "commands" | "printed" | "interrupt";
  /** The terminal that the guide names in a comment; the reader's own unless it does. */
  terminal: string | undefined;
  text: string;
  /** Where the text of the block stands in the guide. */
  from: number;
  to: number;
}

export interface Stage {
  /** Where every terminal begins. */
  directory: string;
  env: NodeJS.ProcessEnv;
  /** Ports that the guide names, and those that are there in their place. */
  ports: Readonly<Record<string, string>>;
  /** Awaited before each block that is run: what somebody who types does not outrun. */
  untilQuiet: () => Promise<void>;
  /** Told all that was printed in terminals that the guide names, before it is made comparable. */
  printed?: (output: string) => void;
}

/**
 * Plays a guide: types its blocks of bash in order, and answers the guide with what they print in place of what it says, where that is not so.
 *
 * A block of text after commands is what they print; a line `…` in it stands for any number of lines. `<!-- terminal: NAME -->` before commands has them
 * run in a terminal of their own and not waited for; before a text it says where that is printed, in whatever order, as deliveries overtake each other. `<!-- Ctrl+C: NAME -->` interrupts what runs there. Ids and
 * secrets that the guide shows as examples are given, in commands, as they were printed last.
 */
export async function playGuide(guide: string, stage: Stage): Promise<string> {
  const { directory, env, ports, untilQuiet } = stage;
  const terminals = new Map<string | undefined, GuideTerminal>();
  const open = (name: string | undefined): GuideTerminal => {
    const terminal = terminals.get(name) ?? new GuideTerminal(directory, env);
    terminals.set(name, terminal);
    return terminal;
  };
  const examples = new Examples();
  const steady = (output: string): string => {
    examples.learn(output);
    return steadyOutput(withPorts(output, ports, "back").replaceAll(directory, "~"));
  };
  const typed = (commands: string): string =>
    withPorts(examples.fill(commands), ports, "there").replaceAll(
      /\b(svc|svc\.js) dev\b/g,
      `$1 dev --port ${ports["4401"] ?? "0"}`,
    );
  /** By the last block of the reader's own terminal. */
  let printed = "";
  let written = "";
  let at = 0;
  try {
    for (const { kind, terminal, text, from, to } of scenesOf(guide)) {
      if (kind === "interrupt") {
        const all = await terminals.get(terminal)?.interrupt();
        stage.printed?.(all ?? "");
        terminals.delete(terminal);
      } else if (kind === "commands") {
        await untilQuiet();
        if (terminal === undefined) printed = steady(await open(undefined).run(typed(text)));
        else open(terminal).begin(typed(text));
      } else {
        const output =
          terminal === undefined
            ? printed
            : steady(await open(terminal).shown((news) => isSaid(text, steady(news), false)));
        const shown = isSaid(text, output, terminal === undefined) ? text : `${output}\n`;
        written += guide.slice(at, from) + shown;
        at = to;
      }
    }
  } finally {
    for (const terminal of terminals.values()) await terminal.interrupt();
  }
  return written + guide.slice(at);
}

function scenesOf(guide: string): Scene[] {
  const pattern =
    /<!-- Ctrl\+C: (?<interrupted>\w+) -->|(?:<!-- terminal: (?<terminal>\w+) -->\n\n)?^(?<fence>```)(?<language>bash|text)\n(?<text>.*?)^```$/gms;
  return [...guide.matchAll(pattern)].map((match) => {
    const { interrupted, terminal = interrupted, language, text = "" } = match.groups!;
    const to = match.index + match[0].length - "```".length;
    const kind = interrupted !== undefined ? "interrupt" : language === "bash" ? "commands" : "printed";
    return { kind, terminal, text, from: to - text.length, to };
  });
}

/** Whether the guide says what was printed; `inOrder` false: in whatever order of the lines, where none is left out. */
function isSaid(text: string, output: string, inOrder = true): boolean {
  const lines = text.trimEnd().split("\n");
  const pattern = lines.map((line) => (line.trim() === "…" ? "(?:.*\n)*" : `${escaped(line)}\n`)).join("");
  if (new RegExp(`^${pattern}$`).test(`${output.trim()}\n`)) return true;
  return !inOrder && lines.toSorted().join("\n") === output.trim().split("\n").toSorted().join("\n");
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function withPorts(text: string, ports: Stage["ports"], way: "there" | "back"): string {
  return Object.entries(ports).reduce((changed, [named, actual]) => {
    const [from, to] = way === "there" ? [named, actual] : [actual, named];
    return changed.replaceAll(new RegExp(`(?<=127\\.0\\.0\\.1:|localhost:|PORT=)${from}\\b`, "g"), to);
  }, text);
}

/** Of each kind the look that a guide gives it, and the pattern of the real ones. */
const KINDS: readonly (readonly [example: string, pattern: RegExp])[] = [
  ...["org", "tok", "usr", "key", "whk", "rec", "prv"].map(
    (kind) => [`${kind}_5f0c2a9e7b1d4c3a5f0c`, new RegExp(`\\b${kind}_[0-9a-f]{16,}`, "g")] as const,
  ),
  ...["test", "live", "token", "link"].map(
    (kind) => [`svc_${kind}_…`, new RegExp(`\\bsvc_${kind}_[0-9a-f]{16,}`, "g")] as const,
  ),
  ["whsec_…", /\bwhsec_[A-Za-z0-9+/=]+/g],
];

/** Ids and secrets as they were printed last, for commands that have the guide's examples. */
class Examples {
  readonly #last = new Map<string, string>();

  learn(output: string): void {
    for (const [example, pattern] of KINDS) {
      const last = output.match(pattern)?.at(-1);
      if (last !== undefined) this.#last.set(example, last);
    }
  }

  fill(commands: string): string {
    return [...this.#last].reduce((filled, [example, last]) => filled.replaceAll(example, last), commands);
  }
}

/** What is different in each run is given the look of an example. */
function steadyOutput(output: string): string {
  return (
    KINDS.reduce((text, [example, pattern]) => text.replaceAll(pattern, example), output)
      .replaceAll(/\b((?:evt|emi)_)[0-9a-f]{16}/g, "$10000000000000400")
      .replaceAll(/\b[0-9a-f]{64}\b/g, "3f2a9c1b…")
      .replaceAll(/(?<=\(|model | {2})[0-9a-f]{12}(?=\)|<| {2}|$)/gm, "3f2a9c1b8d7e")
      // Instants of the machine's clock. Those of a clock that a guide sets are in 2024, and stay.
      .replaceAll(/\b(?!2024)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d/g, "2026-03-02 10:00:00 +00:00")
      .replaceAll(/\b(?!2024)\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-03-02T10:00:00.000Z")
      .replaceAll(/\bas of \d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "as of 2026-03-02 10:00 UTC")
      .replaceAll(/completed in .*/g, "completed in less than a second")
      .replaceAll(/\b(?:now\b(?=\))|\d+ (?:second|minute)s? ago)/g, "1 second ago")
      .replaceAll(/(?<=reloaded in )\d+ ms/g, "150 ms")
      .replaceAll(/ +$/gm, "")
      .trim()
  );
}
