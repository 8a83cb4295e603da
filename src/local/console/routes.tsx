import type Router from "@koa/router";
import type { Context } from "koa";
import { answerCsv } from "../../http/csv.js";
import type { Frame } from "../../console/frame.js";
import { rootOf, seeOther } from "../../console/page.js";
import { PAGES as ALL_PAGES } from "../../console/pages.js";
import { renderConsolePage } from "../../console/render.js";
import { answerStyle } from "../../console/style.js";
import { invalidField } from "../../http/errors.js";
import { readForm } from "../../http/request/form.js";
import { moveClock } from "../clock.js";
import type { LocalEngine } from "../engine.js";
import { note } from "../report.js";
import { localAsk } from "./answers.js";
import { CLOCK_SCRIPT, ClockForm } from "./clock.js";

const PAGES = ALL_PAGES.filter(({ inService }) => inService !== true);

/** The console on the model that is being written: the pages of the service that need no more than the engine, and the clock. */
export function addConsole(router: Router, engine: LocalEngine): void {
  /** The instant that is looked at; null for the present. One person looks. */
  let viewedAt: number | null = null;
  router.get("/console", (ctx) => seeOther(ctx, `/console/${PAGES[0]!.path}`));
  router.get("/console/style.css", answerStyle);
  router.get("/console/clock.js", (ctx) => {
    ctx.type = "js";
    ctx.body = CLOCK_SCRIPT;
  });
  const standing = () => ({
    // There is nothing to be changed here but the clock.
    ...{ isService: false, activeVersion: null, may: () => false, token: null, environment: engine.environment },
    ask: localAsk(engine, viewedAt),
    model: engine.snapshot,
    look: { now: viewedAt ?? engine.clock.now(), timeZone: "UTC" },
  });
  for (const page of PAGES) {
    const { path, csv } = page;
    router.get(`/console/${path}`, (ctx) =>
      renderConsolePage(page, { ...standing(), ctx, frame: frameOf(ctx, engine, { path, viewedAt }) }),
    );
    if (csv === undefined) continue;
    router.get(`/console/${path}.csv`, (ctx) =>
      answerCsv(ctx, csv({ ...standing(), query: new URLSearchParams(ctx.querystring) }), `${path}.csv`),
    );
  }
  router.post("/console/clock", async (ctx) => {
    const { to = "", advance, back = "" } = await readForm(ctx, ["to", "advance", "back"]);
    const now = engine.clock.now();
    if (advance === undefined && !/^\d{1,15}$/.test(to)) {
      throw invalidField("to", to, "`to` is not an instant.", "Send milliseconds since 1970, as the slider does.");
    }
    const target = advance === undefined ? Number(to) : now;
    viewedAt = target < now ? target : null;
    if (target > now || (advance !== undefined && advance !== "0")) {
      moveClock(engine.clock, advance === undefined ? { to: new Date(target).toISOString() } : { advance });
      note(ctx, { changes: engine.advance() });
    }
    const isPage = PAGES.some(({ path }) => back === path || back.startsWith(`${path}?`));
    seeOther(ctx, isPage ? `/console/${back}` : "/console");
  });
}

function frameOf(ctx: Context, engine: LocalEngine, at: { path: string; viewedAt: number | null }): Frame {
  const { path, viewedAt } = at;
  return {
    places: [],
    isLive: false,
    sections: PAGES.flatMap((page) =>
      page.section === null ? [] : [{ text: page.section, href: page.path, isHere: page.path === path }],
    ),
    documentation: null,
    aside: <ClockForm engine={engine} viewedAt={viewedAt} action="clock" back={path + ctx.search} />,
    script: `${rootOf(ctx)}console/clock.js`,
  };
}
