import Type from "typebox";
import { exact, instant, jsonObject, orNull, version } from "./schemas-common.js";
import { cause, customerId, health, setAside } from "./schemas-customer.js";

/** What is said of the state that is explained. */
const about = {
  customerId,
  asOf: orNull(instant, "Through which the state is evaluated; null before the first evaluation."),
  configVersion: orNull(version, "The version that the state was computed under, and is explained under."),
  activeVersion: orNull(version, "The version that is active now."),
  pending: Type.Integer({ minimum: 0, description: "Operations that wait for their evaluation, up to 10,000." }),
  setAside,
  unavailable: orNull(
    exact({ code: Type.Enum(["not_evaluated", "no_health", "evaluation_failed"]), message: Type.String() }),
    "Why there is no explanation; null where there is one.",
  ),
  flipsKnown: Type.Boolean({
    description:
      "False where too much history would have had to be read to tell when conditions flip: flipsAt is null then.",
  }),
};

const score = exact(
  {
    ...health.properties,
    scoredAt: orNull(instant),
    configVersion: orNull(version),
    cause: orNull(cause),
  },
  {
    title: "PresentHealthScore",
    description: "The present score, with when, why and under which version it came about.",
  },
);

/** A condition or a measure: kind, text, expected, actual, met, missing, flipsAt and conditions, as far as it has them. */
const tree = jsonObject("An explanation of conditions: a tree, as the conditions are one.");

export const healthExplanation = exact(
  {
    ...about,
    score: orNull(score),
    factors: orNull(
      exact({
        overall: orNull(Type.Number()),
        band: orNull(Type.String()),
        components: Type.Array(
          exact({ component: Type.String(), weight: Type.Number(), score: Type.Number(), measure: tree }),
        ),
      }),
    ),
  },
  { title: "HealthExplanation" },
);

export const customerExplanation = exact(
  {
    ...about,
    lifecycle: orNull(tree),
    journeys: Type.Array(tree),
    segments: Type.Array(tree),
    health: orNull(tree),
    signals: Type.Array(tree),
  },
  { title: "CustomerExplanation" },
);
