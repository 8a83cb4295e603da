import { GuideTerminal } from "./guide-terminals.js";

/** A step of a guide: a block, or Ctrl+C in a terminal. */
interface Scene {
  kind: "commands" | "printed" | "interrupt";
  /** The terminal that the guide names in a comment; otherwise the reader's own. */
  terminal: string | undefined;
  text: string;
  /** Position of the block's text in the guide. */
  from: number;
  to: number;
}

export interface Stage {
  /** Working directory of each new terminal. */
  directory: string;
  env: NodeJS.ProcessEnv;
  /** Ports that the guide names, and the real ones in their place. */
  ports: Readonly<Record<string, string>>;
  /** Awaited before each block: background work that is faster than a reader types. */
  untilQuiet: () => Promise<void>;
  /** Receives everything that was printed in named terminals, before it is normalized. */
  printed?: (output: string) => void;
}

/**
 * Plays a guide: types its bash blocks in order, and returns the guide with the real output in place of any shown output that differs.
 *
 * A text block after commands is their output; a line `…` in it stands for any number of lines. `<!-- terminal: NAME -->` before commands runs
 * them in a separate terminal, without waiting for them; before a text block it says that the text is printed there, in any order of lines,
 * because deliveries overtake each other. `<!-- Ctrl+C: NAME -->` interrupts what runs there. Example ids and secrets of the guide are
 * replaced in commands by those that were printed last.
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
  const normalized = (output: string): string => {
    examples.learn(output);
    return normalizeOutput(withPorts(output, ports, "back").replaceAll(directory, "~"));
  };
  const typed = (commands: string): string =>
    withPorts(examples.fill(commands), ports, "there").replaceAll(
      /\b(svc|svc\.js) dev\b/g,
      `$1 dev --port ${ports["4401"] ?? "0"}`,
    );
  /** Output of the last block in the reader's own terminal. */
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
        if (terminal === undefined) printed = normalized(await open(undefined).run(typed(text)));
        else open(terminal).begin(typed(text));
      } else {
        const output =
          terminal === undefined
            ? printed
            : normalized(await open(terminal).shown((news) => matches(text, normalized(news), false)));
        const shown = matches(text, output, terminal === undefined) ? text : `${output}\n`;
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

/** Whether the guide shows what was printed; with `inOrder` false, also in another order of lines if none is left out. */
function matches(text: string, output: string, inOrder = true): boolean {
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

/** For each kind of id or secret: the example that a guide shows, and the pattern of real ones. */
const KINDS: readonly (readonly [example: string, pattern: RegExp])[] = [
  ...["org", "tok", "usr", "key", "whk", "rec", "prv"].map(
    (kind) => [`${kind}_5f0c2a9e7b1d4c3a5f0c`, new RegExp(`\\b${kind}_[0-9a-f]{16,}`, "g")] as const,
  ),
  ...["test", "live", "token", "link"].map(
    (kind) => [`svc_${kind}_…`, new RegExp(`\\bsvc_${kind}_[0-9a-f]{16,}`, "g")] as const,
  ),
  ["whsec_…", /\bwhsec_[A-Za-z0-9+/=]+/g],
];

/** The ids and secrets that were printed last, to replace the guide's examples in commands. */
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

/** Replaces what differs in each run by examples. */
function normalizeOutput(output: string): string {
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
