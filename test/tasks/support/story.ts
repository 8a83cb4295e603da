import { loadedState } from "../../../src/db/api/evaluation.js";
import type { Effect } from "../../../src/engine/index.js";
import { at } from "../../engine/support/builders.js";
import { outcomeOf, type Step } from "../../engine/support/live.js";
import { linesOf, shown, stepsOf, type Example } from "../../engine/support/story.js";
import { viewOfState } from "../../engine/support/subject-engine.js";
import { TestEnvironment, type TestOperation } from "./environment.js";
import { storedOf } from "./replayed.js";

/** The compared parts of a story's looks: emissions, and the parts of the state that are not logs. */
const KINDS = /^ {2}(journeys|emissions|traits|clock): /;

const iso = (instant: string): string => new Date(at(instant)).toISOString();

/** The compared lines of a story's looks. */
export function looksOf({ story }: Example): string[] {
  const lines = linesOf(story);
  const steps = lines.map((line, i) => (line.startsWith(" ") ? "" : `${i}`));
  const stepOf = (i: number): string => lines[Number(steps.slice(0, i).findLast((step) => step !== ""))]!;
  return lines.filter((line, i) => KINDS.test(line) && stepOf(i) === "look");
}

/** The same as stored, with an evaluation after every request of the story; replays are omitted. */
export async function storedLooks(sql: TestEnvironment["sql"], example: Example): Promise<string[]> {
  const environment = await TestEnvironment.create(sql, example.snapshot);
  const names = new Map<string, string>();
  const looks: string[] = [];
  const steps = stepsOf(example);
  while (steps.length > 0) {
    const [step] = steps;
    const accepted = acceptedAt(step);
    const end = accepted === undefined ? 1 : steps.findIndex((each) => acceptedAt(each) !== accepted);
    const taken = steps.splice(0, end === -1 ? steps.length : end);
    if (accepted !== undefined) {
      const seqs = await environment.ingest(taken.map(operationOf));
      seqs.forEach((seq, i) => names.set(`evt_${seq.toString(16).padStart(16, "0")}`, taken[i]![0]));
      await environment.evaluate({ at: iso(accepted) });
    } else if (step![0] === "tick") await environment.evaluate({ at: iso(step![1]) });
    else if (step![0] === "version") await environment.deploy(example.later!);
    else if (step![0] === "look") looks.push(...(await look(environment, names)));
  }
  return looks;
}

async function look(environment: TestEnvironment, names: ReadonlyMap<string, string>): Promise<string[]> {
  const emissions = (await environment.emissions()).map(({ at, cause: kind, causeId: eventId, ...emission }) => {
    return { kind: "emission", at: Date.parse(at), cause: { kind, eventId }, ...emission } as unknown as Effect;
  });
  // A future event is not part of the state until its time, but the document knows when it is due.
  const { nextDueAt } = await environment.document();
  const view = viewOfState(loadedState(await storedOf(environment, "c1")));
  const lines = shown(outcomeOf(emissions, { ...view, nextDueAt: nextDueAt === null ? null : Date.parse(nextDueAt) }));
  return lines
    .filter((line) => KINDS.test(line))
    .map((line) => line.replaceAll(/evt_[0-9a-f]{16}/g, (id) => names.get(id)!));
}

function acceptedAt(step: Step | undefined): string | undefined {
  return step?.[1] === "track" || step?.[1] === "identify" ? step[3] : undefined;
}

function operationOf(step: Step): TestOperation {
  if (step[1] === "identify") return { at: iso(step[3] as string), traits: step[2] as object };
  const [, , event, accepted, occurred, properties] = step as [string, string, string, string, string, object];
  return { at: iso(accepted), event, occurred: iso(occurred), properties };
}
