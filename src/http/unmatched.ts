import type Router from "@koa/router";
import type { Context } from "koa";
import { ApiError } from "./errors.js";

/** What no route took: 404 for a path that none has, 405 for a method that the path's routes do not have. */
export function refuseUnmatched(router: Router) {
  return (ctx: Context): never => {
    const { path } = router.match(ctx.path, ctx.method);
    if (path.length === 0) throw new ApiError(404, "NOT_FOUND");
    const methods = [...new Set(path.flatMap((layer) => layer.methods))].sort().join(", ");
    throw new ApiError(405, "METHOD_NOT_ALLOWED", { fix: `Use ${methods}.`, headers: { Allow: methods } });
  };
}
