import type { Context, Middleware, Next } from "koa";
import type { AdminCredentials } from "../../db/api/access.js";
import { clientNetwork } from "../request/client-address.js";
import type { ByteBudget } from "../request/body-budget.js";
import { ApiError } from "../errors.js";

/** Smaller answers are not counted: the limit of connections bounds them. */
const COUNTED_BYTES_MIN = 64 * 1024;
/**
 * A client that takes longer to read what an answer holds is disconnected, if a quarter of the budget is held by then: nobody holds it for ever,
 * and a slow reader is not disturbed while there is room.
 */
const READ_MS_MAX = 2 * 60_000;

/** Gives every request the budget of the bytes that answers hold while their clients have not read them, for which Node.js has no limit. */
export function limitAnswers(budget: ByteBudget): Middleware {
  return (ctx: Context, next: Next) => {
    ctx.state["answers"] = budget;
    return next();
  };
}

/**
 * Counts what the answer to an authorized request holds, until it is sent, the client has disconnected, or the returned function is called. Throws
 * SERVICE_UNAVAILABLE if it does not fit: an organization may hold half of the budget, so that something is left for others.
 */
export function holdAnswer(ctx: Context, { organizationId }: AdminCredentials, bytes: number): () => void {
  const { res, socket } = ctx;
  const budget = ctx.state["answers"] as ByteBudget;
  if (bytes < COUNTED_BYTES_MIN || socket.destroyed) return () => undefined;
  const client = { credential: `of ${organizationId}`, network: `to ${clientNetwork(ctx)}` };
  const reason = budget.problem(client, bytes);
  if (reason !== null) throw new ApiError(503, "SERVICE_UNAVAILABLE", { reason });
  budget.change(client, bytes);
  const late = setInterval(() => {
    if (budget.held > budget.bytesMax / 4) socket.destroy();
  }, READ_MS_MAX).unref();
  let isHeld = true;
  const release = () => {
    if (!isHeld) return;
    isHeld = false;
    clearInterval(late);
    socket.off("close", release);
    res.off("close", release);
    budget.change(client, -bytes);
  };
  // While an answer waits behind another one on its connection, `res` does not emit "close".
  socket.once("close", release);
  res.once("close", release);
  return release;
}
