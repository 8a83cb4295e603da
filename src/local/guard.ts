import type { Context, Next } from "koa";
import { ApiError } from "../http/errors.js";

const OWN_NAMES = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Refuses what a web page may have sent. There is no authentication, and a browser on the same machine reaches this server: under a
 * foreign name, where a page's name was made to resolve to this machine, or with the header Origin.
 */
export async function refuseWebPages(ctx: Context, next: Next): Promise<void> {
  const name = ctx.get("Host").replace(/:\d*$/, "").toLowerCase();
  if (!OWN_NAMES.has(name)) {
    throw new ApiError(403, "FORBIDDEN", {
      message: "The local engine answers under its own address only.",
      reason: "The header Host names another one.",
      fix: "Send requests to 127.0.0.1 or localhost.",
    });
  }
  if (ctx.req.headers.origin !== undefined) {
    throw new ApiError(403, "FORBIDDEN", {
      message: "The local engine takes no requests from web pages.",
      reason: "The header Origin is present.",
      fix: "Send events from your backend, as in production, or from a terminal.",
    });
  }
  await next();
}
