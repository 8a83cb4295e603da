import Type from "typebox";
import { calendarDay, calendarSpan } from "../request/instants.js";
import { adminRoute } from "./route.js";
import { countOf, environment, exact, listOf, named, orNull } from "./schemas.js";
import { environmentQuery, listQuery, nameFilter } from "./parameters.js";
import { customerId, transition } from "./customers.js";
import { quartiles } from "./journeys.js";

const what = Type.Enum(["lifecycle", "flows", "segments", "health", "signals", "active", "operations", "deliveries"], {
  default: "lifecycle",
  description:
    "`lifecycle` (customers in each state), `flows` (transitions), `segments`, `health`, `signals`, `active` (customers with an " +
    "event), `operations` (that were accepted) or `deliveries`.",
});
const every = Type.Enum(["day", "week", "month"], { default: "day" });
const day = Type.String({ format: "date", examples: ["2026-03-01"] });
const label = Type.Optional(Type.String());

export const trends = named("Trends", "How an environment developed.", {
  environment,
  what,
  every,
  timeZone: Type.String({ description: "That of the organization, in which days begin.", examples: ["UTC"] }),
  complete: Type.Boolean({
    description: "False while what came before is still to be counted: some minutes after an upgrade.",
  }),
  periods: Type.Array(day, { description: "The first day of each; weeks begin on Monday." }),
  series: Type.Array(
    exact({
      metric: Type.String({
        description:
          "`customers`, `members`, `scored`, `average`, `lowerQuartile`, `median` and `upperQuartile` are of the end of each period, " +
          "the others of what happened in it.",
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

/** How an environment developed. */
export const trendRoutes = [
  adminRoute("get_trends", "GET /projects/:project/trends", {
    summary: "How an environment developed, by days, weeks or months",
    query: exact({
      ...environmentQuery.properties,
      what,
      every,
      from: dayQuery("The first day, as 2026-03-01; 30 days, 12 weeks or 12 months ago unless given."),
      to: dayQuery("The last day; today unless given."),
    }),
    answers: { 200: trends },
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

export const transitionTimes = named("TransitionTimes", "How long customers stay in states.", {
  transitions: countOf("Transitions that were looked at."),
  states: Type.Array(
    named("StateTimes", {
      state: Type.String(),
      left: countOf("How often it was left by those transitions."),
      seconds: quartiles,
    }),
  ),
});

/** Transitions of all customers: the list behind what trends count as `flows`. */
export const transitionRoutes = [
  adminRoute("search_transitions", "GET /projects/:project/transitions", {
    summary: "Lifecycle transitions of all customers, the last written first, filtered",
    query: exact({
      ...listQuery.properties,
      entered: nameFilter,
      left: Type.Optional(
        Type.String({ maxLength: 256, description: "The state left; empty for the first of a customer." }),
      ),
      from: dayQuery("The first day on which they happened, as 2026-03-01, in the time zone of the organization."),
      to: dayQuery("The last such day."),
    }),
    answers: { 200: listOf(listedTransition) },
    passes: ({ at, query: { left, entered, from, to, ...page } }) => [
      at,
      { left, entered, ...calendarSpan(from, to) },
      page,
    ],
  }),
  adminRoute("get_transition_times", "GET /projects/:project/transitions/times", {
    summary: "How long customers had been in the states that they left, by the last 2,000 transitions",
    answers: { 200: transitionTimes },
  }),
];
