import Type from "typebox";
import { instructionsFor, TASKS } from "../../ai/tasks.js";
import { recordQuestion } from "../../db/calls-ai.js";
import { ApiError } from "../errors.js";
import { openAnswer } from "./ai-answer.js";
import { environmentQuery, KIB, placeIn } from "./parameters.js";
import { adminRoute } from "./route.js";
import { jsonObject } from "./schemas-common.js";

/** Some 60,000 tokens: what most models take, and more than a person reads. */
const FACT_BYTES_MAX = 256 * KIB;

/** Twice as deep as the deepest condition of a model, which is told level by level. */
const FACT_DEPTH_MAX = 90;

const question = Type.Object(
  {
    task: Type.Enum([...TASKS], { description: "What to do with the facts: the command of `svc ai` that found them." }),
    facts: jsonObject("What the answer rests on. All of it goes to the provider of the language model."),
    model: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][\\w.:/@+-]{0,199}$",
        description: "A model or deployment of the provider; the one that the operator chose unless given.",
      }),
    ),
  },
  { additionalProperties: false },
);

/**
 * Asks the language model about facts, and answers what it says as it says it: server-sent events `text` with `{text}`, then `end` with `{model,
 * finishReason, usage}`. What it is told to do is chosen by the task, never by the caller: this is no door to a provider at the operator's cost.
 */
export const askLanguageModel = adminRoute({
  operation: "ask_language_model",
  method: "POST",
  path: "/projects/:project/ai/answers",
  summary: "Ask the language model about facts; its answer as server-sent events",
  query: environmentQuery,
  body: { schema: question, bytesMax: FACT_BYTES_MAX, depthMax: FACT_DEPTH_MAX },
  type: "text/event-stream",
  scarce: true,
  answers: {
    200: Type.String({
      description:
        "Server-sent events: `text` with `{text}` for each part of the answer, then `end` with `{model, finishReason, usage}`, " +
        "or `error` with the error envelope where it breaks off.",
    }),
  },
  refusals: {
    429: ["AI_RATE_LIMITED"],
    409: ["AI_NOT_CONFIGURED"],
    502: ["AI_UNAVAILABLE"],
    504: ["AI_TIMEOUT"],
  },
  answer: async ({ deps, credentials, params, query, body: { task, facts, model }, ctx }) => {
    const { ai, places, sql } = deps;
    if (ai === null) throw new ApiError(409, "AI_NOT_CONFIGURED");
    const text = JSON.stringify(facts);
    const recorded = { task, model: model ?? ai.defaultModel, factBytes: Buffer.byteLength(text) };
    const leave = await ai.places.take(credentials.organizationId);
    try {
      await places.run(() => recordQuestion(sql, credentials, placeIn(params, query.env), recorded));
      const asked = { instructions: instructionsFor(task), facts: text, model };
      const document = await openAnswer(ctx, (signal) => ai.model.ask(asked, signal), model);
      document.once("close", leave);
      return { status: 200, type: "text/event-stream", document };
    } catch (error) {
      leave();
      throw error;
    }
  },
});
