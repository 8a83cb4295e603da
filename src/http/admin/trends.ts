import Type from "typebox";
import { calendarDay, calendarSpan } from "../request/instants.js";
import { adminRoute } from "./route.js";
import { countOf, environment, exact, instant, listOf, named, orNull } from "./schemas.js";
import { environmentQuery, listQuery, nameFilter } from "./parameters.js";
import { customerId, transition } from "./customers.js";
import { quartiles } from "./journeys.js";

const what = Type.Enum(["lifecycle", "flows", "segments", "health", "signals", "active", "operations", "deliveries"], {
  default: "lifecycle",
  description:
    "`lifecycle` (customers in each state), `flows` (transitions), `segments`, `health`, `signals`, `active` (customers with an " +
    "event), `operations` (accepted ones) or `deliveries`.",
});
const every = Type.Enum(["day", "week", "month"], { default: "day" });
const day = Type.String({ format: "date", examples: ["2026-03-01"] });
const label = Type.Optional(Type.String());

export const trends = named("Trends", "The development of an environment over time.", {
  environment,
  what,
  every,
  timeZone: Type.String({
    description: "The time zone of the organization, which determines when days begin.",
    examples: ["UTC"],
  }),
  complete: Type.Boolean({
    description: "False while earlier data is still being counted, for some minutes after an upgrade.",
  }),
  recomputedAt: Type.Optional({
    ...instant,
    description:
      "Only of `health`: when the last recompute of all customers ended, or now while one is under way, if that is after the first period. A " +
      "recompute keeps only the present score of each customer, so periods before it count only customers whose score has not changed since.",
  }),
  periods: Type.Array(day, { description: "The first day of each period; weeks begin on Monday." }),
  series: Type.Array(
    exact({
      metric: Type.String({
        description:
          "`customers`, `members`, `scored`, `average`, `lowerQuartile`, `median` and `upperQuartile` are values at the end of each period, " +
          "the others count what happened in it.",
      }),
      state: label,
      from: Type.Optional(orNull(Type.String(), "The state that was left; null for the first of a customer.")),
      to: label,
      segment: label,
      signal: label,
      band: label,
      webhookId: label,
      values: Type.Array(orNull(Type.Number()), { description: "One for each period." }),
    }),
  ),
});

const dayQuery = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 64, description }));

/** The development of an environment over time. */
export const trendRoutes = [
  adminRoute("get_trends", "GET /projects/:project/trends", {
    summary: "Get the development of an environment by day, week or month",
    query: exact({
      ...environmentQuery.properties,
      what,
      every,
      from: dayQuery("The first day, for example 2026-03-01; by default 30 days, 12 weeks or 12 months ago."),
      to: dayQuery("The last day; by default today."),
    }),
    answers: { 200: trends },
    scan: true,
    passes: ({ at, query: { what, every, from, to } }) => [
      at,
      what,
      every,
      calendarDay(from, "from"),
      calendarDay(to, "to"),
    ],
  }),
];

const { superseded: _, ...present } = transition.properties;

export const listedTransition = named("CustomerTransition", { customerId, ...present });

export const transitionTimes = named("TransitionTimes", "How long customers stay in lifecycle states.", {
  transitions: countOf("Number of measured transitions."),
  states: Type.Array(
    named("StateTimes", {
      state: Type.String(),
      left: countOf("Number of these transitions that left the state."),
      seconds: quartiles,
    }),
  ),
});

/** Transitions of all customers, which trends count as `flows`. */
export const transitionRoutes = [
  adminRoute("search_transitions", "GET /projects/:project/transitions", {
    summary: "List lifecycle transitions of all customers, the last written first, filtered",
    query: exact({
      ...listQuery.properties,
      entered: nameFilter,
      left: Type.Optional(
        Type.String({
          maxLength: 256,
          description: "The state that was left; empty for the first transition of a customer.",
        }),
      ),
      from: dayQuery("The first day of the transitions, for example 2026-03-01, in the time zone of the organization."),
      to: dayQuery("The last day of the transitions."),
    }),
    answers: { 200: listOf(listedTransition) },
    passes: ({ at, query: { left, entered, from, to, ...page } }) => [
      at,
      { left, entered, ...calendarSpan(from, to) },
      page,
    ],
  }),
  adminRoute("get_transition_times", "GET /projects/:project/transitions/times", {
    summary: "Measure how long customers stayed in the states that they left, by the last 2,000 transitions",
    answers: { 200: transitionTimes },
  }),
];
