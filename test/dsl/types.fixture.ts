/**
 * What the type checker must accept and refuse in conditions. Never run: types.test.ts checks it, and an `@ts-expect-error` above a line
 * without an error is an error itself.
 */
import {
  activeWithin,
  all,
  any,
  array,
  boolean,
  date,
  daysSince,
  daysSinceFirst,
  defineModel,
  event,
  inactiveFor,
  inState,
  lifecycle,
  not,
  number,
} from "svc-success";
import { oneOf, segment, sequence, string, traits } from "svc-success";
import type { Condition, OpenCondition, PropertyCondition, ScopedQuantity, Trigger } from "svc-success";

const created = event("project created", {
  template: string().optional(),
  seats: number(),
  source: oneOf("web", "api"),
  paid: boolean(),
  day: date(),
  tags: array(oneOf("a", "b")),
  sizes: array(number()),
});
const login = event("login");
const customer = traits({
  plan: oneOf("free", "pro"),
  seats: number().optional(),
  renewsOn: date(),
  country: string(),
  addOns: array(string()),
});
const stages = lifecycle({
  initial: "new",
  states: {
    new: { to: { active: created.happened() } },
    active: { to: { quiet: inactiveFor("7d"), new: () => powerUsers.has() } },
    quiet: { to: { active: activeWithin("3d"), gone: inState().atLeast("60d") } },
    gone: { terminal: true },
  },
});
const powerUsers = segment("power_users", { when: created.count().atLeast(3).within("30d") });

// Counts: either order, each scope once.
const a: OpenCondition = created.count().atLeast(3);
const b: Condition = created.count().atLeast(3).within("30d");
const c: ScopedQuantity = created.count().within("30d");
const d: Condition = created.count().since("state").lessThan(3);
const e: Condition = created.happened().within("7d");
const f: Condition = login.never().since("state");
// @ts-expect-error a scope can be given only once
created.count().within("30d").atLeast(3).within("7d");
// @ts-expect-error a count within a window cannot also be since the state
created.count().within("30d").since("state");
// @ts-expect-error a count is not a condition before it is compared
all(created.count());
// @ts-expect-error not a duration
created.count().within("30 days");
// @ts-expect-error months have no fixed length
inactiveFor("1mo");
// @ts-expect-error only "state" or a journey is allowed
created.happened().since("journey");
// @ts-expect-error an event is not a condition
all(created);

// Properties.
const g: PropertyCondition = all(anyProperty(), anyProperty());
function anyProperty(): PropertyCondition {
  let condition: PropertyCondition | undefined;
  created.where(
    (p) =>
      (condition = any(p.source.is("web"), not(p.template.exists()), all(p.paid.is(true), p.day.after("2026-01-01")))),
  );
  created.where((p) =>
    any(p.tags.contains("a"), p.sizes.contains(3), p.template.contains("x"), p.source.in("web", "api")),
  );
  return condition!;
}
// @ts-expect-error misspelt property
created.where((p) => p.seets.atLeast(5));
// @ts-expect-error a number has no `is`
created.where((p) => p.seats.is(5));
// @ts-expect-error a number is compared with numbers
created.where((p) => p.seats.atLeast("5"));
// @ts-expect-error misspelt choice
created.where((p) => p.source.is("wep"));
// @ts-expect-error misspelt choice in a list
created.where((p) => p.source.in("web", "apy"));
// @ts-expect-error misspelt item
created.where((p) => p.tags.contains("c"));
// @ts-expect-error a condition on the customer is not one on properties
created.where(() => customer.plan.is("pro"));
// @ts-expect-error only traits can be compared with the current time
created.where((p) => p.day.within("3d"));
// @ts-expect-error the two kinds of conditions do not mix
created.where((p) => all(p.paid.is(true), inactiveFor("3d")));
// @ts-expect-error an event without properties has none to compare
login.where((p) => p.anything.exists());

// Traits.
const h: Condition = any(
  customer.plan.in("free"),
  customer.seats.moreThan(3),
  customer.renewsOn.within("30d"),
  customer.plan.missing(),
);
const i: Condition = all(
  customer.country.contains("D"),
  customer.addOns.contains("sso"),
  customer.renewsOn.before("2026-01-01"),
);
// @ts-expect-error misspelt trait
customer.plann.is("free");
// @ts-expect-error misspelt trait value
customer.plan.is("fre");
// @ts-expect-error misspelt trait value in a list
customer.plan.notIn("free", "prro");
// @ts-expect-error dates are compared with texts
customer.renewsOn.before(2026);

// Lifecycle.
const j: Condition = any(stages.is("active"), stages.in("new", "gone"), stages.isNot("quiet"), not(stages.is("new")));
// @ts-expect-error misspelt state
stages.is("actve");
const q: Trigger[] = [stages.entered("active"), stages.exited("new")];
// @ts-expect-error misspelt state
stages.entered("actve");
// @ts-expect-error misspelt state
stages.exited("actve");
// @ts-expect-error entering a state is a trigger, not a condition
all(stages.entered("active"));
// @ts-expect-error misspelt initial state
lifecycle({ initial: "nw", states: { new: {}, old: {} } });
// @ts-expect-error misspelt target
lifecycle({ initial: "new", states: { new: { to: { odl: login.happened() } }, old: {} } });
// @ts-expect-error a state cannot have a transition to itself
lifecycle({ initial: "new", states: { new: { to: { new: login.happened() } }, old: {} } });
// @ts-expect-error a terminal state has no transitions
lifecycle({ initial: "new", states: { new: {}, old: { terminal: true, to: { new: login.happened() } } } });
// @ts-expect-error a target needs a condition
lifecycle({ initial: "new", states: { new: { to: { old: true } }, old: {} } });
const withAny = lifecycle({
  initial: "new",
  states: { new: { to: { old: login.happened() } }, old: {}, gone: { terminal: true } },
  anyState: { to: { gone: () => login.never(), old: login.happened() }, except: ["new"] },
});
withAny.is("gone");
// @ts-expect-error misspelt target
lifecycle({ initial: "new", states: { new: {}, old: {} }, anyState: { to: { odl: login.happened() } } });
// @ts-expect-error misspelt exception
lifecycle({ initial: "new", states: { new: {}, old: {} }, anyState: { to: {}, except: ["nw"] } });
// @ts-expect-error transitions need a target
lifecycle({ initial: "new", states: { new: {}, old: {} }, anyState: { except: ["new"] } });

// Segments are values: a misspelt one is a name that does not exist.
const k: Condition = powerUsers.has();
// @ts-expect-error misspelt segment
powerUser.has(); // oxlint-disable-line no-undef -- that is the mistake
// @ts-expect-error a condition, not a text
segment("x", { when: "always" });

// Aggregates: only properties of a type that allows them, either order, each scope once.
const l: Condition[] = [
  created.sum("seats").atLeast(10).within("90d"),
  created.avg("seats").within("90d").lessThan(10),
  created.min("seats").notEquals(3),
  created.max("seats").since("state").equals(3),
  created
    .where((p) => p.paid.is(true))
    .sum("seats")
    .moreThan(3),
  created.distinct("source").atLeast(2).within("30d"),
  created.distinct("day").since("state").atMost(5),
  created.latest("seats").atLeast(5).within("30d"),
  created.latest("source").within("30d").is("web"),
  created.latest("source").since("state").in("web", "api"),
  created.latest("template").contains("crm").since("state"),
  created.latest("template").exists(),
  created.latest("tags").contains("a"),
  created.latest("day").onOrBefore("2026-01-01"),
];
const m: OpenCondition = created.sum("seats").atLeast(10);
const n: ScopedQuantity = created.distinct("source").within("1d");
// @ts-expect-error misspelt property
created.sum("seets");
// @ts-expect-error a text cannot be summed
created.sum("template");
// @ts-expect-error a date has no average
created.avg("day");
// @ts-expect-error lists cannot be counted as distinct values
created.distinct("tags");
// @ts-expect-error misspelt property
created.latest("tempalte");
// @ts-expect-error misspelt choice
created.latest("source").is("wep");
// @ts-expect-error a number has no `is`
created.latest("seats").is(5);
// @ts-expect-error a scope can be given only once
created.sum("seats").within("30d").atLeast(3).since("state");
// @ts-expect-error a sum is not a condition before it is compared
all(created.sum("seats"));
// @ts-expect-error an event without properties has none to sum
login.sum("seats");
// @ts-expect-error an event without properties has no latest one
login.latest("seats");

// Days and sequences.
const o: Condition[] = [
  daysSince(login).moreThan(7),
  daysSinceFirst(created.where((p) => p.paid.is(true))).atMost(30),
  sequence(created, login).within("7d"),
  sequence(
    login,
    created.where((p) => p.seats.atLeast(2)),
  )
    .within("7d")
    .since("state"),
];
// @ts-expect-error days cannot have a scope
daysSince(login).within("7d");
// @ts-expect-error days of an event, not of a condition
daysSince(login.happened());
// @ts-expect-error a sequence needs a maximum distance
all(sequence(login, created));
// @ts-expect-error a sequence needs two events
sequence(login, powerUsers);

// Traits compared with the current time.
const p: Condition[] = [customer.renewsOn.passed(), customer.renewsOn.passed("3d"), customer.renewsOn.is("2026-01-01")];
// @ts-expect-error a number cannot pass like a date
customer.seats.passed();
// @ts-expect-error a text cannot come near like a date
customer.plan.within("3d");

// Models.
export const model = defineModel({
  strictSchema: true,
  events: { created, login },
  traits: customer,
  lifecycle: stages,
  segments: [powerUsers],
});
// @ts-expect-error a segment is not an event
defineModel({ events: [powerUsers] });
// @ts-expect-error an event is not a segment
defineModel({ segments: { created } });
// @ts-expect-error misspelt part
defineModel({ event: [created] });
// @ts-expect-error a list contains scalars
array(array(string()));
export const used = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q];
