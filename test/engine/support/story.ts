import type { Snapshot } from "../../../src/model/snapshot/types.js";
import type { Properties } from "./builders.js";
import { LiveCustomer, type Outcome, type ReplayOutcome, type Step } from "./live.js";
import type { NewSubject } from "./subject.js";

/** A worked example: a tiny model, and the history of a customer. */
export interface Example {
  name: string;
  snapshot: Snapshot;
  /** The model that `version` changes to. */
  later?: Snapshot;
  /**
   * A line for each step: `e1 login <accepted> of <occurred> {properties}`, the last two optional, `i1 {traits} <accepted>`,
   * `tick <now>`, `version`, `replay <through>` or `look`. The lines indented below the last two are everything visible then.
   */
  story: string;
}

/** The lines of a story without the indentation of the source. */
export function linesOf(story: string): string[] {
  return story
    .split("\n")
    .slice(1)
    .map((line) => line.slice(6));
}

/** The steps of a story; each look is named by its position. */
export function stepsOf({ story, later }: Example): Step[] {
  return linesOf(story)
    .filter((line) => !line.startsWith(" "))
    .map((line, place) => stepOf(line, place, later));
}

const OPERATION =
  /^(?<id>\w+) (?<what>\w+|\{.*\}) (?<accepted>\S+ \S+)(?: of (?<occurred>\S+ \S+))?(?: (?<properties>\{.*\}))?$/;

function stepOf(line: string, place: number, later: Snapshot | undefined): Step {
  if (line === "look") return ["look", String(place)];
  if (line === "version") return ["version", later!];
  for (const kind of ["tick", "replay"] as const) {
    if (line.startsWith(`${kind} `)) return [kind, line.slice(kind.length + 1)];
  }
  const { id, what, accepted, occurred, properties = "{}" } = OPERATION.exec(line)!.groups as Record<string, string>;
  if (what!.startsWith("{")) return [id!, "identify", JSON.parse(what!) as Properties, accepted!];
  return [id!, "track", what!, accepted!, occurred ?? accepted!, JSON.parse(properties) as Properties];
}

/** Plays a story; returns its own lines if everything is as it says. */
export function played(create: NewSubject, example: Example): string[] {
  const steps = stepsOf(example);
  const customer = new LiveCustomer(create, example.snapshot, steps);
  const replays = customer.replays.values();
  const lines = linesOf(example.story).filter((line) => !line.startsWith(" "));
  return lines.flatMap((line, place) => {
    const [kind] = steps[place]!;
    if (kind === "look") return [line, ...shown(customer.looks[place]!)];
    return kind === "replay" ? [line, ...shown(replays.next().value!)] : [line];
  });
}

/** An outcome as a story shows it: one line for each kind of fact present. */
export function shown({ emissions, corrections, traits, clock, ...facts }: Partial<Outcome & ReplayOutcome>): string[] {
  const lists = Object.entries({ ...facts, emissions, corrections }).filter(([, list]) => list && list.length > 0);
  return [
    ...lists.map(([name, list]) => `  ${name}: ${list!.join("; ")}`),
    ...(Object.keys(traits ?? {}).length === 0 ? [] : [`  traits: ${JSON.stringify(traits)}`]),
    `  clock: ${clock}`,
  ];
}
