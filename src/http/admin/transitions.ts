import Type from "typebox";
import { customerId, transition } from "./customers.js";
import { listQuery, nameFilter } from "./parameters.js";
import { adminRoute } from "./route.js";
import { quartiles } from "./journeys.js";
import { countOf, exact, listOf, named } from "./schemas.js";
import { calendarSpan } from "../request/instants.js";
import { dayQuery } from "./trends.js";

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
