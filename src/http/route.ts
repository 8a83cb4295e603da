import type { Context } from "koa";
import type { Declaration } from "./openapi/administrative-endpoint.js";

/** An endpoint as data, which app.ts registers with the router. */
export interface Route {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** For example `/projects/:project/customers`; parameters are decoded. */
  path: string;
  handle(ctx: Context): void | Promise<void>;
  /** Set for administrative endpoints. */
  declaration?: Declaration;
}
