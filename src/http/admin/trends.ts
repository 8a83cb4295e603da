import Type from "typebox";
import { calendarDay } from "../request/instants.js";
import { adminRoute } from "./route.js";
import { environment, exact, named, orNull } from "./schemas.js";
import { environmentQuery } from "./parameters.js";

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

export const dayQuery = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 64, description }));

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
