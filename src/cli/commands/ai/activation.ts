import type { Lifecycle, Snapshot } from "../../../model/snapshot/types.js";
import { conditionText } from "../../../model/snapshot/words.js";
import type { Explanation } from "../../../http/admin/answers.js";
import type { Context } from "../../core/command.js";
import { failure } from "../../core/errors.js";
import type { Out } from "../../output/out.js";
import { printable } from "../../../words/text.js";
import { explanationInWords, caveats } from "../customers/explanation.js";
import { type CustomerRecord, findingsOf, sentState } from "./customer.js";
import type { Facts } from "./tell.js";
import { type Sanitizer, sentExplanation } from "./sanitizer.js";

/** For each first transition that leads to `to`, the shortest path that visits no state twice, both ends included; the shortest path first. */
function waysTo({ states }: Lifecycle, from: string, to: string): string[][] {
  const next = new Map(states.map(({ name, transitions }) => [name, transitions.map((transition) => transition.to)]));
  const ways = (next.get(from) ?? [])
    .filter((first) => first !== from)
    .map((first) => shortest(next, first, to, new Set([from])))
    .filter((way) => way !== null)
    .map((way) => [from, ...way]);
  const unique = new Map(ways.map((way) => [way.join("\n"), way]));
  return [...unique.values()].sort((a, b) => a.length - b.length);
}

/** The shortest path, by breadth-first search; null if there is none. */
function shortest(
  next: ReadonlyMap<string, readonly string[]>,
  from: string,
  to: string,
  passed: Set<string>,
): string[] | null {
  const queue = [[from]];
  passed.add(from);
  // The queue grows while it is iterated.
  for (const way of queue) {
    const last = way.at(-1)!;
    if (last === to) return way;
    for (const state of next.get(last) ?? []) {
      if (passed.has(state)) continue;
      passed.add(state);
      queue.push([...way, state]);
    }
  }
  return null;
}

/** The name of that state in most models. */
const ACTIVATED = "activated";

/** A path from a customer's state to the target state. */
interface Way {
  states: string[];
  /** The condition of the first transition, explained as of now; null if the service cannot say. */
  next: Explanation | null;
  /** Its unmet leaf conditions, in words. */
  lacking: string[];
  /** The conditions of the transitions after it. They only count once their state is entered. */
  then: { from: string; to: string; when: string }[];
}

/** The state that counts as activated: the named one, or `activated`. @throws {UserError} if the active model has no such state */
export function targetState({ settings }: Context, snapshot: Snapshot | null, named: string | undefined): string {
  const states = snapshot?.lifecycle?.states.map(({ name }) => name) ?? [];
  const target = named ?? ACTIVATED;
  if (states.includes(target)) return target;
  const { environment } = settings;
  if (states.length === 0) {
    const message = `the model of ${environment} has no lifecycle`;
    throw failure("STATE_NOT_FOUND", message, "deploy a model with one: `svc deploy`");
  }
  const message = `the lifecycle of ${environment} has no state ${JSON.stringify(target)}`;
  throw failure("STATE_NOT_FOUND", message, `name one of its states by --state: ${states.join(", ")}`);
}

/** Why a customer is not in a lifecycle state: the paths to it, with the unmet conditions of each. */
export function activationFacts(record: CustomerRecord, target: string, sanitizer: Sanitizer): Facts {
  const { state, explanation } = record;
  const { ways, ...about } = aboutOf(record, target);
  return {
    task: "why-not-activated",
    document: { customerId: state.customerId, state: state.lifecycle, ...about, ways },
    text: (out) => inWords(out, record, { ...about, ways }),
    sent: {
      ...about,
      ...sentState(record, sanitizer),
      unavailable: explanation.unavailable?.code ?? null,
      ways: ways.map(({ states, next, then }) => ({ states, next: next && sentExplanation(sanitizer, next), then })),
    },
    restore: (text) => sanitizer.restore(text),
  };
}

function aboutOf(record: CustomerRecord, target: string) {
  const { state, snapshot, timeline } = record;
  const isThere = state.lifecycle === target;
  const enteredAt = timeline.findLast(({ metadata }) => metadata["new_lifecycle"] === target)?.at ?? null;
  return {
    target,
    isThere,
    since: state.lifecycleEnteredAt,
    wasThereAt: isThere ? null : enteredAt,
    findings: findingsOf(record),
    ways: isThere || state.lifecycle === null ? [] : waysOf(snapshot!.lifecycle!, record, target),
  };
}

function waysOf(lifecycle: Lifecycle, { state, explanation }: CustomerRecord, target: string): Way[] {
  const transitions = explanation.lifecycle?.transitions ?? [];
  return waysTo(lifecycle, state.lifecycle!, target).map((states) => {
    const next = transitions.find(({ to }) => to === states[1])?.condition ?? null;
    const then = states.slice(1, -1).map((from, index) => {
      const to = states[index + 2]!;
      return { from, to, when: conditionsOf(lifecycle, from, to) };
    });
    return { states, next, lacking: next === null ? [] : lackingIn(next), then };
  });
}

function conditionsOf({ states }: Lifecycle, from: string, to: string): string {
  const transitions = states.find(({ name }) => name === from)!.transitions.filter((one) => one.to === to);
  return transitions.map(({ when }) => conditionText(when)).join(", or ");
}

/** The unmet leaf conditions, including every alternative of groups where one is enough. */
function lackingIn(explanation: Explanation): string[] {
  if (explanation.met) return [];
  const { kind, text, conditions } = explanation;
  return conditions === undefined || kind === "not" ? [text] : conditions.flatMap(lackingIn);
}

function inWords(out: Out, { state, explanation }: CustomerRecord, about: ReturnType<typeof aboutOf>): string {
  const { bold, cyan } = out.style;
  const { target, isThere, since, wasThereAt, findings, ways } = about;
  const who = bold(printable(state.customerId));
  const now = cyan(printable(state.lifecycle ?? "no state"));
  const head = `${who} is in ${now}${since === null ? "" : ` since ${out.at(since)}`}`;
  const lines = [isThere ? `${head}: it is already there.` : `${head}, not in ${cyan(printable(target))}.`];
  if (wasThereAt !== null) lines.push(`It was there before: it entered ${printable(target)} at ${out.at(wasThereAt)}.`);
  lines.push(...caveats(explanation), ...findings.map((one) => out.atIn(printable(one))));
  if (!isThere && ways.length === 0 && state.lifecycle !== null) {
    lines.push(`No path leads from ${printable(state.lifecycle)} to ${printable(target)}.`);
  }
  return [lines.join("\n"), ...ways.map((way) => wayInWords(out, way))].join("\n\n");
}

function wayInWords(out: Out, { states, next, then }: Way): string {
  return [
    out.style.bold(states.map(printable).join(" → ")),
    `  to ${printable(states[1]!)} when`,
    next === null ? "    the unmet conditions are not available at the moment" : explanationInWords(out, next, "    "),
    ...then.map(({ from, to, when }) => `  then from ${printable(from)} to ${printable(to)} when ${printable(when)}`),
  ].join("\n");
}
