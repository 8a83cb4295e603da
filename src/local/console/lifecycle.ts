import type { ListedTransition, TransitionTimes, Trends, TrendSeries } from "../../http/admin/answers.js";
import type { Of } from "../../console/source.js";
import { dayIn, type Every, EVERY, firstDayOf, lastDayOf } from "../../console/span.js";
import { causeId } from "../../engine/index.js";
import { ApiError, invalidField } from "../../http/errors.js";
import { isIsoDate } from "../../model/snapshot/duration.js";
import { quartilesOf } from "./journeys.js";
import { isoTime, type Stand } from "./stand.js";

const PERIODS_MAX = 1100;

const DAY_MS = 86_400_000;
const dayOf = (instant: number) => dayIn(instant, "UTC");
const nextDay = (day: string) => dayOf(Date.parse(day) + DAY_MS);

/** How many customers were in each state at the end of each period (`what` is lifecycle), or which transitions there were in it (flows). */
export function lifecycleTrends(stand: Stand, of: Of): Trends {
  const every = EVERY.find((each) => each === (of["every"] ?? "day"));
  if (every === undefined)
    throw invalidField("every", of["every"], "`every` is no such length.", "Use day, week or month.");
  const periods = periodsOf(of, every, stand.now);
  const totals = new Map<string, TrendSeries>();
  const add = (series: Omit<TrendSeries, "values">, period: string, count: number) => {
    const key = JSON.stringify(series);
    const { values } = totals.get(key) ?? { values: periods.map(() => 0) };
    totals.set(key, { ...series, values });
    // A change of how many there are lasts until the next one.
    if (series.metric === "customers")
      values.forEach((value, index) => periods[index]! >= period && (values[index] = value! + count));
    else if (periods.includes(period)) values[periods.indexOf(period)]! += count;
  };
  for (const { from, to, at } of transitionsOf(stand)) {
    const period = firstDayOf(at.slice(0, 10), every);
    if (of["what"] === "flows") add({ metric: "transitions", from, to }, period, 1);
    else {
      add({ metric: "customers", state: to }, period, 1);
      if (from !== null) add({ metric: "customers", state: from }, period, -1);
    }
  }
  const series = [...totals.values()].filter(({ values }) => values.some((value) => value !== 0));
  const what = of["what"] === "flows" ? "flows" : "lifecycle";
  return { environment: stand.engine.environment, what, every, timeZone: "UTC", complete: true, periods, series };
}

/** The first days of whole periods, as the service tells them. Throws VALIDATION_ERROR. */
function periodsOf(of: Of, every: Every, now: number): string[] {
  const today = dayOf(now);
  const [to, from] = [calendarDay(of, "to") ?? today, calendarDay(of, "from")];
  const last = to < today ? to : today;
  const first = from ?? dayOf(Date.parse(last) - { day: 29, week: 77, month: 334 }[every] * DAY_MS);
  if (first > last) {
    const message = first > today ? "`from` lies ahead." : "The span ends before it begins.";
    throw new ApiError(400, "VALIDATION_ERROR", { message, field: "from", fix: `Write a day no later than ${last}.` });
  }
  const periods: string[] = [];
  for (let day = firstDayOf(first, every); day <= last; day = nextDay(lastDayOf(day, every))) {
    if (periods.push(day) > PERIODS_MAX) {
      const fix = "Write a later day, or ask by longer periods.";
      throw new ApiError(400, "VALIDATION_ERROR", { message: "The span has too many periods.", field: "from", fix });
    }
  }
  return periods;
}

function calendarDay(of: Of, field: "from" | "to"): string | undefined {
  const day = of[field];
  if (day === undefined || (/^\d{4}-\d{2}-\d{2}$/.test(day) && isIsoDate(day))) return day;
  throw invalidField(field, day, `\`${field}\` is not a day.`, "Write for example 2026-03-01.");
}

/** All of them, the last first. */
function transitionsOf({ population }: Stand): ListedTransition[] {
  return population.customerIds
    .flatMap((customerId) =>
      population.effects(customerId).flatMap((effect) => {
        if (effect.kind !== "transition") return [];
        const { from, to, cause } = effect;
        const at = isoTime(effect.at);
        return [{ customerId, from, to, at, cause: { type: cause.kind, id: causeId(cause) }, configVersion: null }];
      }),
    )
    .toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
}

/** Those from a state, empty for none, to a state, of the days from one to another, each where it is given. */
export function localTransitions(stand: Stand, of: Of): ListedTransition[] {
  const { left, entered } = of;
  const [first, last] = [calendarDay(of, "from") ?? "", calendarDay(of, "to") ?? "9999-12-31"];
  return transitionsOf(stand).filter(
    ({ from, to, at }) =>
      (entered === undefined || to === entered) &&
      (left === undefined || (from ?? "") === left) &&
      at.slice(0, 10) >= first &&
      at.slice(0, 10) <= last,
  );
}

/** How long customers had been in the states that they left. */
export function localTransitionTimes(stand: Stand): TransitionTimes {
  const all = transitionsOf(stand).toReversed();
  const since = new Map<string, number>();
  const taken = new Map<string, number[]>();
  for (const { customerId, from, at } of all) {
    const now = Date.parse(at);
    const before = since.get(customerId);
    if (from !== null && before !== undefined) taken.set(from, [...(taken.get(from) ?? []), (now - before) / 1000]);
    since.set(customerId, now);
  }
  const states = [...taken].map(([state, seconds]) => {
    return { state, left: seconds.length, seconds: quartilesOf(seconds) };
  });
  return { transitions: all.length, states };
}
