import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { hashSnapshot } from "../../src/model/snapshot/canonical.js";
import { compareSnapshots, type Change } from "../../src/model/compare/compare.js";
import { type Condition, EMPTY_SNAPSHOT, type Snapshot, type Trigger } from "../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import { snapshot as arbitrarySnapshot } from "../engine/support/arbitrary.js";
import {
  addTo,
  all,
  any,
  compared,
  count,
  counted,
  emit,
  healthOf,
  inactiveFor,
  inSegment,
  lately,
  number,
  of,
  per,
  property,
  rule,
  snapshotOf,
  trait,
  traitNumber,
} from "../engine/support/builders.js";
import { propertyRuns } from "../support/property-runs.js";
import { complete, ordered } from "./sound.js";

/** A snapshot with one of everything, which the tests change in one place each. */
const model: Snapshot = {
  ...snapshotOf({
    states: {
      new: [
        ["trial", trait("plan", "eq", "free")],
        ["active", count("login", "gte", 3, { within: "14d" })],
      ],
      trial: [],
      active: [],
      gone: "terminal",
    },
    journeys: {
      onboarding: {
        start: ordered,
        steps: [
          ["create", count("login", "gte", 2)],
          ["invite", ordered],
        ],
        expiresAfter: "30d",
      },
    },
    health: healthOf(
      {
        adoption: [0.5, counted("login", 20, { within: "30d" })],
        recency: [0.3, lately("login", [2, 100], [7, 70])],
        plan: [0.2, { kind: "map", trait: "plan", values: { free: 30, pro: 70 } }],
      },
      { good: 50, bad: 0 },
    ),
    rules: {
      upsell: rule({ kind: "event", of: of("order placed", property("total", "gte", 5)) }, addTo("chosen"), {
        when: inSegment("buyers"),
        cooldown: "30d",
      }),
      tell: rule({ kind: "traitsChanged" }, emit("plan.reviewed")),
    },
  }),
  events: { ...complete.events, login: { properties: {} } },
  traits: { ...complete.traits, plan: { type: "string", enum: ["free", "pro", "enterprise"] } },
  segments: complete.segments,
  signals: complete.signals,
  display: { name: "plan", show: ["plan", "seats"] },
};

/** The changes that an edit of the model makes, as `kind subject id | path | message`. */
function changesOf(edit: (model: Snapshot) => void, from = model): string[] {
  const [before, after] = [structuredClone(from), structuredClone(from)];
  edit(after);
  for (const one of [before, after]) expect(parseSnapshot(one)).toMatchObject({ ok: true });
  return compareSnapshots(before, after).map(
    ({ kind, subject, id, path, message }) => `${kind} ${subject} ${id} | ${path} | ${message}`,
  );
}

const firstState = (of: Snapshot) => of.lifecycle!.states[0]!;
const segmentWith = (when: Condition): Snapshot => ({ ...model, segments: [{ id: "chosen" }, { id: "buyers", when }] });

test.each<[on: Trigger, words: string]>([
  [{ kind: "stateEntered", state: "new" }, 'state "new" entered'],
  [{ kind: "stateExited", state: "new" }, 'state "new" exited'],
  [{ kind: "journeyStarted", journey: "onboarding" }, 'journey "onboarding" started'],
  [
    { kind: "journeyStepCompleted", journey: "onboarding", step: "invite" },
    'step "invite" of journey "onboarding" completed',
  ],
  [{ kind: "journeyCompleted", journey: "onboarding" }, 'journey "onboarding" completed'],
  [{ kind: "journeyExpired", journey: "onboarding" }, 'journey "onboarding" expired'],
  [{ kind: "bandEntered", band: "bad" }, 'health band "bad" entered'],
  [{ kind: "bandExited", band: "bad" }, 'health band "bad" exited'],
  [{ kind: "signalRaised", signal: "manual" }, 'signal "manual" raised'],
])("describes in words that a rule waits for %j", (on, words) => {
  expect(changesOf((of) => (of.rules[1]!.on = on))).toEqual([
    `changed rule tell | rules[1].on | on: traits changed → ${words}`,
  ]);
});

test("a transition added to every state is reported once for each", () => {
  const any = count("login", "eq", 0, { within: "90d" });
  const changes = changesOf((of) => {
    for (const { terminal, transitions } of of.lifecycle!.states)
      if (!terminal) transitions.push({ to: "gone", when: any });
  });
  const when = 'count of "login" within 90d is 0';
  expect(changes).toEqual([
    `added transition new → gone | lifecycle.states[0].transitions[2] | ${when}`,
    `added transition trial → gone | lifecycle.states[1].transitions[0] | ${when}`,
    `added transition active → gone | lifecycle.states[2].transitions[0] | ${when}`,
  ]);
});

describe("edits of a model are described in the author's words", () => {
  const edits: [edit: (model: Snapshot) => void, ...changes: string[]][] = [
    [() => undefined],
    [
      (of) => {
        of.strictSchema = true;
        of.events["seat added"] = { properties: { seats: { type: "number" } } };
        of.events["login"]!.properties["method"] = { type: "string", enum: ["sso"], optional: true };
        const { properties } = of.events["order placed"]!;
        properties["gift"] = { type: "string" };
        properties["tags"] = { type: "array", items: { type: "date" }, optional: true };
        of.traits["plan"] = { type: "string", enum: ["free", "pro", "team"] };
        delete of.traits["renewsOn"];
      },
      "changed setting strictSchema | strictSchema | strictSchema: false → true",
      'changed property order placed.tags | events["order placed"].properties.tags | type: array(oneOf("x")) → array(date())',
      'changed property order placed.tags | events["order placed"].properties.tags.optional | optional: false → true',
      'changed property order placed.gift | events["order placed"].properties.gift | type: boolean() → string()',
      'added property login.method | events.login.properties.method | oneOf("sso").optional()',
      'added event seat added | events["seat added"] | with "seats"',
      'changed trait plan | traits.plan.enum | oneOf: with "team", without "enterprise"',
      "removed trait renewsOn | traits.renewsOn | date()",
    ],
    [
      (of) => (of.traits["plan"] = { type: "string", enum: ["pro", "free", "enterprise"] }),
      "changed trait plan | traits.plan.enum | oneOf: in another order (the meaning is the same)",
    ],
    [
      (of) => (of.lifecycle!.initial = "trial"),
      "changed setting initial | lifecycle.initial | initial state: new → trial",
    ],
    [
      (of) => {
        of.lifecycle!.states.push({ name: "asleep", transitions: [{ to: "active", when: ordered }] });
        firstState(of).transitions.push({ to: "asleep", when: inactiveFor("21d") });
      },
      "added transition new → asleep | lifecycle.states[0].transitions[2] | no event for 21d",
      "added state asleep | lifecycle.states[4] | to active",
    ],
    [(of) => of.lifecycle!.states.pop(), "removed state gone | lifecycle.states[3] | terminal"],
    [
      (of) => delete of.lifecycle!.states[3]!.terminal,
      "changed state gone | lifecycle.states[3].terminal | terminal: true → false",
    ],
    [
      (of) => ((firstState(of).transitions[1]!.when as { value: number }).value = 5),
      'changed transition new → active | lifecycle.states[0].transitions[1].when.value | threshold of count of "login" within 14d: 3 → 5',
    ],
    [
      (of) => (firstState(of).transitions[1]!.when = count("login", "lt", 9)),
      'changed transition new → active | lifecycle.states[0].transitions[1].when | count of "login" within 14d at least 3 → count of "login" less than 9',
      'changed transition new → active | lifecycle.states[0].transitions[1].when.within | window of count of "login": 14d → none',
    ],
    [
      (of) => firstState(of).transitions.reverse(),
      "changed state new | lifecycle.states[0].transitions | transitions are tried in another order: trial, active → active, trial",
    ],
    [
      (of) => of.lifecycle!.states.unshift(of.lifecycle!.states.pop()!),
      "changed setting states | lifecycle.states | states in another order: new, trial, active, gone → gone, new, trial, active",
    ],
    [
      (of) => (of.lifecycle = null),
      "removed setting initial | lifecycle.initial | initial state: new",
      "removed state new | lifecycle.states[0] | to trial, active",
      "removed state trial | lifecycle.states[1] | without transitions",
      "removed state active | lifecycle.states[2] | without transitions",
      "removed state gone | lifecycle.states[3] | terminal",
    ],
    [
      (of) => {
        const [journey] = of.journeys;
        journey!.steps.reverse();
        journey!.steps.push({ id: "pay", when: ordered, since: "previousStep" });
        journey!.steps[0]!.since = "previousStep";
        delete journey!.expiresAfter;
        journey!.repeat = true;
      },
      "changed step onboarding.invite | journeys[0].steps[0].since | since: none → previousStep",
      'added step onboarding.pay | journeys[0].steps[2] | count of "order placed" at least 1, since: previousStep',
      "changed journey onboarding | journeys[0].steps | steps in another order: create, invite → invite, create",
      "changed journey onboarding | journeys[0].expiresAfter | expiresAfter: 30d → none",
      "changed journey onboarding | journeys[0].repeat | repeat: false → true",
    ],
    [
      (of) => (of.journeys[0]!.id = "start"),
      'added journey start | journeys[0] | steps create, invite; begins when count of "order placed" at least 1; expires after 30d',
      'removed journey onboarding | journeys[0] | steps create, invite; begins when count of "order placed" at least 1; expires after 30d',
    ],
    [
      (of) => {
        delete of.segments[1]!.when;
        of.segments.unshift({ id: "payers", when: trait("plan", "in", ["pro"]) });
      },
      'added segment payers | segments[0] | plan is one of "pro"',
      'changed segment buyers | segments[1].when | when: count of "order placed" at least 1 → none',
    ],
    [
      (of) => {
        const [adoption, recency, plan] = of.health!.components;
        (adoption!.score as { to: number }).to = 30;
        (adoption!.score as { of: { within: string } }).of.within = "14d";
        (recency!.score as { steps: number[][] }).steps.push([21, 30]);
        (plan!.score as { values: object }).values = { free: 10, enterprise: 100 };
        plan!.weight = 1;
        plan!.absent = "skip";
        of.health!.bands.unshift({ id: "great", from: 90 });
        of.health!.bands[1]!.from = 60;
      },
      'changed health component adoption | health.components[0].score.of.within | window of count of "login": 30d → 14d',
      "changed health component adoption | health.components[0].score.to | scale to: 20 → 30",
      "changed health component recency | health.components[1].score.steps | steps: up to 2 100, up to 7 70 → up to 2 100, up to 7 70, up to 21 30",
      "changed health component plan | health.components[2].weight | weight: 0.2 → 1",
      'changed health component plan | health.components[2].score.values.free | score of "free": 30 → 10',
      'changed health component plan | health.components[2].score.values.enterprise | score of "enterprise": none → 100',
      'changed health component plan | health.components[2].score.values.pro | score of "pro": 70 → none',
      "changed health component plan | health.components[2].absent | where it is absent: 0 → left out",
      "added setting bands.great | health.bands[0] | from 90",
      "changed setting bands.good | health.bands[1].from | from: 50 → 60",
    ],
    [
      (of) => {
        const score = { kind: "scale", of: { kind: "trait", trait: "seats" }, from: 0, to: 5 } as const;
        of.health!.components.push({ id: "size", weight: 1, score, absent: "skip" });
      },
      "added health component size | health.components[3] | weight 1, scale of seats from 0 to 5; left out where it is absent",
    ],
    [
      (of) =>
        (of.health!.components[2]!.score = { kind: "scale", of: { kind: "trait", trait: "seats" }, from: 0, to: 5 }),
      'changed health component plan | health.components[2].score | score: map of plan: "free" 30, "pro" 70 → scale of seats from 0 to 5',
    ],
    [
      (of) => {
        const [rule, tell] = of.rules;
        (rule!.on as { of: { where: object } }).of.where = property("total", "gte", 50);
        delete rule!.cooldown;
        rule!.once = true;
        rule!.then = { kind: "raiseSignal", signal: "manual" };
        tell!.on = { kind: "segmentExited", segment: "buyers" };
        Object.assign(of.signals[1]!, { severity: "critical", message: "Look" });
      },
      "changed rule upsell | rules[0].on.of.where.value | threshold of total: 5 → 50",
      "changed rule upsell | rules[0].cooldown | cooldown: 30d → none",
      "changed rule upsell | rules[0].once | once: false → true",
      'changed rule upsell | rules[0].then | then: add to segment "chosen" → raise signal "manual"',
      'changed rule tell | rules[1].on | on: traits changed → segment "buyers" exited',
      "changed signal ordered | signals[1].severity | severity: warning → critical",
      'changed signal ordered | signals[1].message | message: none → "Look"',
    ],
    [
      (of) => (of.display = { owner: "plan", renewal: "renewsOn", show: ["seats", "plan", "renewsOn"] }),
      "changed setting display | display.name | name: plan → none",
      "changed setting display | display.owner | owner: none → plan",
      "changed setting display | display.renewal | renewal: none → renewsOn",
      "changed setting display | display.show | show: plan, seats → seats, plan, renewsOn",
    ],
    [
      (of) => delete of.display,
      "changed setting display | display.name | name: plan → none",
      "changed setting display | display.show | show: plan, seats → none",
    ],
  ];
  test.each(edits.map(([edit, ...changes]) => ({ edit, changes })))("$changes", ({ edit, changes }) => {
    expect(changesOf(edit)).toEqual(changes);
  });
});

test("a change within a ratio or a difference names the measure that changed", () => {
  const usage = (within: string) => number("order placed", { within });
  const ratio = compared(per(usage("30d"), traitNumber("seats")), "gte", 2);
  const from = segmentWith(ratio);
  const changesTo = (when: Condition) => changesOf((of) => (of.segments[1]!.when = when), from);
  expect(changesTo(compared(per(usage("7d"), traitNumber("seats")), "gte", 3))).toEqual([
    'changed segment buyers | segments[1].when.of.within | window of count of "order placed": 30d → 7d',
    'changed segment buyers | segments[1].when.value | threshold of count of "order placed" within 7d per seats: 2 → 3',
  ]);
  expect(
    changesTo(compared(per(usage("30d"), number("order placed", { within: "30d", previous: true })), "gte", 2)),
  ).toEqual([
    'changed segment buyers | segments[1].when | when: count of "order placed" within 30d per seats at least 2 → count of "order placed" within 30d per count of "order placed" in the 30d before the last 30d at least 2',
  ]);
});

describe("conditions within conditions", () => {
  const plan = trait("plan", "eq", "pro");
  const quiet = inactiveFor("7d");
  const seats = trait("seats", "gte", 5);
  const from = segmentWith(all(plan, any(quiet, ordered)));

  test.each<[when: Condition, ...changes: string[]]>([
    [
      all(plan, any(inactiveFor("9d"), ordered), seats),
      "changed segment buyers | segments[1].when.conditions[1].conditions[0].duration | no event for 7d → no event for 9d",
      "changed segment buyers | segments[1].when.conditions[2] | condition added: seats at least 5",
    ],
    [
      all(plan),
      'changed segment buyers | segments[1].when.conditions[1] | condition removed: no event for 7d or count of "order placed" at least 1',
    ],
    [
      all(seats, any(quiet, ordered)),
      'changed segment buyers | segments[1].when.conditions[0] | condition: plan is "pro" → seats at least 5',
    ],
    [
      all(any(quiet, ordered), plan),
      "changed segment buyers | segments[1].when.conditions | when: conditions in another order (the meaning is the same)",
    ],
    [
      any(plan, quiet),
      'changed segment buyers | segments[1].when | when: plan is "pro" and (no event for 7d or count of "order placed" at least 1) → plan is "pro" or no event for 7d',
    ],
  ])("%j", (when, ...changes) => {
    expect(changesOf((of) => (of.segments[1]!.when = when), from)).toEqual(changes);
  });
});

test("the values before and after are those at the path in the older and the newer snapshot", () => {
  const after = structuredClone(model);
  after.segments.pop();
  after.traits["plan"] = { type: "string", enum: ["free", "pro", "enterprise", "team"] };
  expect(compareSnapshots(model, after)).toEqual([
    {
      kind: "changed",
      subject: "trait",
      id: "plan",
      path: "traits.plan.enum",
      message: 'oneOf: with "team"',
      before: ["free", "pro", "enterprise"],
      after: ["free", "pro", "enterprise", "team"],
    },
    {
      kind: "removed",
      subject: "segment",
      id: "buyers",
      path: "segments[1]",
      message: 'count of "order placed" at least 1',
      before: { id: "buyers", when: ordered },
      after: null,
    },
  ]);
});

test("a very long message is truncated", () => {
  const conditions = Array.from({ length: 100 }, (_, value) => ({ ...ordered, value }) as Condition);
  const after = segmentWith(any(...conditions));
  const [change] = compareSnapshots(model, after);
  expect(change!.message).toHaveLength(500);
  expect(change!.message).toMatch(/…$/);
});

/** The value at a path in the notation of `at`; undefined if there is none. */
function valueAt(document: unknown, path: string): unknown {
  const keys = [...path.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\.?([A-Za-z_$][\w$]*)/g)];
  expect(keys.map(([text]) => text).join("")).toBe(path);
  return keys.reduce<unknown>((value, [, index, quoted, plain]) => {
    const key = index ?? (quoted === undefined ? plain! : (JSON.parse(`"${quoted}"`) as string));
    return (value as Record<string, unknown>)[key];
  }, document);
}

function checkPlace(from: Snapshot, to: Snapshot, change: Change): void {
  const { kind, path, before, after } = change;
  const value = valueAt(after === null ? from : to, path);
  expect(value).toBeDefined();
  // If only the order of parts changed, they are listed by their keys.
  const reported = after ?? before;
  const isOrder = change.message.includes("in another order:");
  if (isOrder) expect((value as object[]).length).toBeGreaterThanOrEqual((reported as string[]).length);
  else expect(value).toEqual(reported);
  if (kind !== "changed") expect([before === null, after === null]).toEqual([kind === "added", kind === "removed"]);
}

/** Pairs of models whose parts have the same names, and edits of one that a JSON editor could make. */
const pairs = fc.oneof(
  fc.tuple(arbitrarySnapshot, arbitrarySnapshot),
  arbitrarySnapshot.map((one): [Snapshot, Snapshot] => [one, structuredClone(one)]),
  fc.tuple(arbitrarySnapshot, fc.constant(EMPTY_SNAPSHOT)),
  fc.tuple(fc.constant(model), arbitrarySnapshot),
  fc
    .tuple(arbitrarySnapshot, fc.array(fc.nat(), { minLength: 1, maxLength: 4 }))
    .map(([one, places]): [Snapshot, Snapshot] => {
      const edited = structuredClone(one);
      for (const place of places) {
        const { segments, rules, journeys, signals, lifecycle } = edited;
        const lists = [segments, rules, journeys, signals, ...(lifecycle ? [lifecycle.states] : [])];
        const list: unknown[] = lists[place % lists.length]!;
        list.push(...list.splice(place % Math.max(1, list.length), 1));
      }
      return [one, edited];
    }),
);

test("there are no changes if and only if the hashes are equal, and each change is at its path", () => {
  fc.assert(
    fc.property(pairs, ([from, to]) => {
      const changes = compareSnapshots(from, to);
      expect(changes.length === 0).toBe(hashSnapshot(from) === hashSnapshot(to));
      for (const change of changes) {
        checkPlace(from, to, change);
        expect(change.message).not.toMatch(/undefined|\[object|NaN/);
      }
    }),
    { numRuns: propertyRuns(250) },
  );
});

test("every edit of a single value is a change", () => {
  const sites = scalarSites(model, []);
  expect(sites.length).toBeGreaterThan(100);
  for (const site of sites) {
    const edited = structuredClone(model);
    const owner = site.slice(0, -1).reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], edited);
    const key = site.at(-1)!;
    const value = (owner as Record<string, unknown>)[key];
    (owner as Record<string, unknown>)[key] = typeof value === "number" ? value + 1 : `${String(value)}x`;
    // The result need not be valid, but the format version and the members that distinguish kinds must stay.
    if (key === "kind" || key === "type" || site[0] === "formatVersion") continue;
    const changes = compareSnapshots(model, edited);
    expect(changes, site.join(".")).not.toEqual([]);
    for (const change of changes) checkPlace(model, edited, change);
  }
});

function scalarSites(value: unknown, path: string[]): string[][] {
  if (typeof value !== "object" || value === null) return value === null ? [] : [path];
  return Object.entries(value).flatMap(([key, inner]) => scalarSites(inner, [...path, key]));
}
