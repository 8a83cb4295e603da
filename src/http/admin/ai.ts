import type { Readable } from "node:stream";
import type { Context } from "koa";
import Type from "typebox";
import { type AnswerPart, LanguageModelError } from "../../ai/language-model.js";
import { instructionsFor, TASKS } from "../../ai/tasks.js";
import { call } from "../../db/api/call.js";
import { ApiError, invalidField } from "../errors.js";
import { eventText, streamOf, clientGoneSignal } from "../event-stream.js";
import { envelopeOf } from "../middleware/handle-errors.js";
import { adminRoute } from "./route.js";
import { exact, jsonObject } from "./schemas.js";
import { environmentQuery, KIB } from "./parameters.js";

/** The most characters of one event of the stream, whose readers hold a line in memory. */
const PIECE = 4096;

/**
 * The body of a `text/event-stream` with the parts of an answer: `text` for each, a comment while the model thinks, then `end`, or `error` with the
 * envelope if the answer breaks off. The first part is awaited before the response begins, so that a question without an answer is refused like any
 * other request.
 *
 * @param ask asks the model; the signal aborts it when the client disconnects
 * @param model the model that the question names, for the refusal of an unknown one
 */
async function openAnswer(
  ctx: Context,
  ask: (signal: AbortSignal) => AsyncGenerator<AnswerPart>,
  model: string | undefined,
): Promise<Readable> {
  const gone = clientGoneSignal(ctx);
  const parts = ask(gone);
  const first = await parts.next().catch((error: unknown) => {
    throw asApiError(error, model);
  });
  return streamOf(ctx, frames(ctx, first, parts, gone), gone);
}

async function* frames(
  ctx: Context,
  first: IteratorResult<AnswerPart, void>,
  parts: AsyncGenerator<AnswerPart>,
  gone: AbortSignal,
): AsyncGenerator<string> {
  try {
    for (let next = first; !next.done; next = await parts.next()) yield* frame(next.value);
  } catch (error) {
    if (!gone.aborted) yield eventText("error", envelopeOf(ctx, asApiError(error, undefined)));
  } finally {
    // If the reader has disconnected, nothing else ends the request to the model.
    await parts.return(undefined);
  }
}

function* frame(part: AnswerPart): Generator<string> {
  switch (part.kind) {
    case "text":
      for (let from = 0; from < part.text.length; from += PIECE)
        yield eventText("text", { text: part.text.slice(from, from + PIECE) });
      return;
    case "working":
      // A comment, so that neither the client nor a proxy takes the silence for a dead connection.
      yield ": working\n\n";
      return;
    case "end": {
      const { kind, ...ending } = part;
      yield eventText(kind, ending);
    }
  }
}

/** The fixes of failures that the operator must correct, so that a retry does not help. */
const OPERATOR_FIXES: Partial<Record<LanguageModelError["kind"], { fix: string }>> = {
  keyRefused: { fix: "Ask the operator of this service to correct SVC_AI_API_KEY." },
  unknownModel: {
    fix: "Ask the operator of this service to correct SVC_AI_MODEL or SVC_AI_BASE_URL, or name another model.",
  },
};

function asApiError(error: unknown, model: string | undefined): unknown {
  if (!(error instanceof LanguageModelError)) return error;
  const { kind, message: reason, retryAfter, cause = error } = error;
  if (kind === "late") return new ApiError(504, "AI_TIMEOUT", { reason, cause });
  if (kind === "rateLimited") {
    // Not every provider sends a Retry-After.
    const headers = { "Retry-After": String(retryAfter ?? 30) };
    return new ApiError(429, "AI_RATE_LIMITED", { reason, headers, cause });
  }
  if (kind !== "unknownModel" || model === undefined) {
    return new ApiError(502, "AI_UNAVAILABLE", { reason, cause, ...OPERATOR_FIXES[kind] });
  }
  const fix = "Use a model or deployment of the provider, or leave `model` out for the operator's choice.";
  return invalidField("model", model, "The provider of the language model does not have this model.", fix);
}

const question = exact({
  task: Type.Enum([...TASKS], {
    description: "What to do with the facts: the command of `svc ai` that collected them.",
  }),
  facts: jsonObject(
    "The facts that the answer is based on. All of them are sent to the provider of the language model.",
  ),
  model: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9][\\w.:/@+-]{0,199}$",
      description: "must name a model or deployment of the provider; the operator's choice by default",
    }),
  ),
});

/**
 * Asks a language model about facts, and streams its answer. The task determines the instructions, never the caller, so that the route cannot be
 * used as general access to a provider at the operator's expense.
 */
export const askLanguageModelRoute = adminRoute("ask_language_model", "POST /projects/:project/ai/answers", {
  summary: "Ask the language model about facts; it answers with server-sent events",
  query: environmentQuery,
  // About 60,000 tokens, which most models accept; twice as deep as the explanation of the deepest condition of a model.
  body: { schema: question, bytesMax: 256 * KIB, depthMax: 90 },
  type: "text/event-stream",
  scarce: true,
  answers: {
    200: Type.String({
      description:
        "Server-sent events: `text` with `{text}` for each part of the answer, then `end` with `{model, finishReason, usage}`, " +
        "or `error` with the error envelope if the answer breaks off.",
    }),
  },
  refusals: { 409: ["AI_NOT_CONFIGURED"], 429: ["AI_RATE_LIMITED"], 502: ["AI_UNAVAILABLE"], 504: ["AI_TIMEOUT"] },
  answer: async ({ deps, credentials, at, body: { task, facts, model }, ctx }) => {
    const { ai, calls, sql } = deps;
    if (ai === null) throw new ApiError(409, "AI_NOT_CONFIGURED");
    const text = JSON.stringify(facts);
    const bytes = Buffer.byteLength(text);
    const leave = await ai.places.take(credentials.organizationId);
    try {
      await calls.run(() => call(sql, "record_question", credentials, at, task, model ?? ai.defaultModel, bytes));
      const prompt = { instructions: instructionsFor(task), facts: text, model };
      const document = await openAnswer(ctx, (signal) => ai.model.ask(prompt, signal), model);
      document.once("close", leave);
      return document;
    } catch (error) {
      leave();
      throw error;
    }
  },
});
