import type { Context } from "koa";
import type { Declaration } from "./openapi/administrative.js";

/** An endpoint as data: app.ts gives it to the router. */
export interface Route {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** For example `/projects/:project/customers`; parameters are decoded. */
  path: string;
  handle(ctx: Context): void | Promise<void>;
  /** What an administrative endpoint says of itself. */
  declaration?: Declaration;
}
