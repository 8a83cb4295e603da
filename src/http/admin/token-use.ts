import type { Logger } from "pino";
import type { Sql } from "postgres";
import { call } from "../../db/api/call.js";
import { bearerToken, hashCredential } from "../request/credentials.js";
import type { Route } from "../route.js";

/** As svc_api.touch_token. */
const EVERY_MS = 5 * 60_000;
/** About 2 MiB; with more tokens in use than that, some are told to the database more often, where it makes no difference. */
const REMEMBERED_MAX = 10_000;

/** Tells the database which access tokens were used, after their requests were answered and so seldom that it costs nothing. */
export class TokenUse {
  /** When each token was last told, the longest ago first. */
  readonly #told = new Map<string, number>();

  constructor(
    private readonly sql: Sql,
    private readonly log: Logger,
    private readonly rememberedMax = REMEMBERED_MAX,
  ) {}

  /** The route, whose successful requests count as uses of their tokens. */
  count(route: Route): Route {
    return {
      ...route,
      handle: async (ctx) => {
        await route.handle(ctx);
        const token = bearerToken(ctx);
        if (token !== null) ctx.res.once("close", () => this.#note(hashCredential(token)));
      },
    };
  }

  #note(tokenHash: Buffer): void {
    const name = tokenHash.toString("base64");
    const now = performance.now();
    const last = this.#told.get(name);
    if (last !== undefined && now - last < EVERY_MS) return;
    this.#told.delete(name);
    this.#told.set(name, now);
    if (this.#told.size > this.rememberedMax) this.#told.delete(this.#told.keys().next().value!);
    call(this.sql, "touch_token", tokenHash).catch((err: unknown) => {
      this.#told.delete(name);
      this.log.warn({ err }, "the use of an access token could not be recorded");
    });
  }
}
