import type { Context } from "koa";
import Type from "typebox";
import { QuestionProblem } from "../backtest/question.js";
import { ApiError } from "../http/errors.js";
import { readJsonText } from "../http/request/body.js";
import { parseJson } from "../http/request/parse-json.js";
import { shape } from "../http/request/shapes.js";
import { backtestOfFile } from "./backtest.js";
import type { LocalEngine } from "./engine.js";
import type { AcceptedBatch } from "./population.js";

const BYTES_MAX = 4_096;

/** The same body as the service's, but without models, since there is only one. */
const request = shape(
  Type.Object(
    {
      outcome: Type.String(),
      within: Type.String(),
      every: Type.Optional(Type.String()),
      from: Type.Optional(Type.String()),
      to: Type.Optional(Type.String()),
      customers: Type.Optional(Type.Integer({ minimum: 1 })),
      traits: Type.Optional(Type.Enum(["then", "now"])),
    },
    { additionalProperties: false },
  ),
);

/** Answers with the report of a backtest of the present model, over the operations accepted until now. @throws {ApiError} VALIDATION_ERROR */
export async function answerBacktest(ctx: Context, engine: LocalEngine): Promise<void> {
  const { customers, traits = "then", ...words } = request.check(parseJson(await readJsonText(ctx, BYTES_MAX)));
  const { snapshot, hash } = engine;
  const now = engine.clock.now();
  const operations = engine.operations(now);
  try {
    const past = { operations, end: lastEventAt(operations, now) };
    const { report } = await backtestOfFile(words, [{ name: "local", snapshot, hash }], past, { traits, customers });
    ctx.body = report;
  } catch (error) {
    if (!(error instanceof QuestionProblem)) throw error;
    const { path: field, message, fix } = error;
    throw new ApiError(400, "VALIDATION_ERROR", { message, field, fix });
  }
}

/** The instant of the latest event that is not in the future; the present if there is none. */
function lastEventAt(operations: AcceptedBatch["operations"], present: number): number {
  let last = -Infinity;
  for (const { operation } of operations) {
    if (operation.kind === "track" && operation.occurredAt <= present) last = Math.max(last, operation.occurredAt);
  }
  return last === -Infinity ? present : last;
}
