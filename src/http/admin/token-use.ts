import type { Logger } from "pino";
import type { Sql } from "postgres";
import { call } from "../../db/api/call.js";
import { bearerToken, hashCredential } from "../request/credentials.js";
import type { Route } from "../route.js";

/** The same interval as in svc_api.touch_token. */
const EVERY_MS = 5 * 60_000;
/** About 2 MiB; with more tokens in use, some are reported more often, which the database ignores. */
const REMEMBERED_MAX = 10_000;

/** Reports to the database which access tokens were used, after the answer and so rarely that it costs almost nothing. */
export class TokenUse {
  /** When the use of each token was last reported, the oldest first. */
  readonly #reportedAt = new Map<string, number>();

  constructor(
    private readonly sql: Sql,
    private readonly log: Logger,
    private readonly rememberedMax = REMEMBERED_MAX,
  ) {}

  /** Wraps a route so that successful requests count as uses of their tokens. */
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
    const last = this.#reportedAt.get(name);
    if (last !== undefined && now - last < EVERY_MS) return;
    this.#reportedAt.delete(name);
    this.#reportedAt.set(name, now);
    if (this.#reportedAt.size > this.rememberedMax) this.#reportedAt.delete(this.#reportedAt.keys().next().value!);
    call(this.sql, "touch_token", tokenHash).catch((err: unknown) => {
      this.#reportedAt.delete(name);
      this.log.warn({ err }, "the use of an access token could not be recorded");
    });
  }
}
