import type Router from "@koa/router";
import type { Context } from "koa";
import { answerCsv } from "../../http/csv.js";
import { type Frame, renderConsolePage } from "../../console/render.js";
import { rootOf, seeOther } from "../../console/page.js";
import { PAGES as ALL_PAGES } from "../../console/pages.js";
import { answerStyle } from "../../console/style.js";
import { invalidField } from "../../http/errors.js";
import { readForm } from "../../http/request/form.js";
import { moveClock } from "../clock.js";
import type { LocalEngine } from "../engine.js";
import { addToReport } from "../report.js";
import { localAsk } from "./answers.js";

const PAGES = ALL_PAGES.filter(({ inService }) => inService !== true);

/** The console for the model that is being written: the pages of the service that need only the engine, and the clock. */
export function addConsole(router: Router, engine: LocalEngine): void {
  /** The instant that is shown; null for the present. It is not stored by session, because there is only one user. */
  let viewedAt: number | null = null;
  router.get("/console", (ctx) => seeOther(ctx, `/console/${PAGES[0]!.path}`));
  router.get("/console/style.css", answerStyle);
  router.get("/console/clock.js", (ctx) => {
    ctx.type = "js";
    ctx.body = CLOCK_SCRIPT;
  });
  const standing = () => ({
    // Nothing can be changed here except the clock.
    ...{ isService: false, activeVersion: null, may: () => false, token: null, environment: engine.environment },
    ask: localAsk(engine, viewedAt),
    model: engine.snapshot,
    presentation: { now: viewedAt ?? engine.clock.now(), timeZone: "UTC" },
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
      addToReport(ctx, { changes: engine.advance() });
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
      page.section === undefined ? [] : [{ text: page.section, href: page.path, isHere: page.path === path }],
    ),
    documentation: null,
    aside: <ClockForm engine={engine} viewedAt={viewedAt} back={path + ctx.search} />,
    script: `${rootOf(ctx)}console/clock.js`,
  };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How far the slider can move a test clock ahead. */
const AHEAD_DAYS = 120;

/** The steps that have buttons. */
const STEPS = ["1d", "7d", "30d"];

interface ClockProps {
  engine: LocalEngine;
  /** The instant that is shown; null for the present. */
  viewedAt: number | null;
  /** The page that the form returns to. */
  back: string;
}

/**
 * The clock as a slider: to the left of the present it shows the past; to the right it moves a test clock ahead, and evaluates customers until then.
 */
function ClockForm({ engine, viewedAt, back }: ClockProps) {
  const { clock, firstAcceptedAt } = engine;
  const now = clock.now();
  const shown = viewedAt ?? now;
  // The slider stops at whole hours before and after the present.
  const earliest = now - Math.ceil((now - Math.min(firstAcceptedAt ?? now, now)) / HOUR_MS) * HOUR_MS;
  const latest = clock.kind === "test" ? now + AHEAD_DAYS * DAY_MS : now;
  return (
    <form class="clock" method="post" action="clock">
      <input type="hidden" name="back" value={back} />
      <label for="clock">
        {viewedAt === null ? "Now" : "As of"}{" "}
        <output for="clock" id="clock-shown">
          {new Date(shown).toISOString().slice(0, 16).replace("T", " ")}
        </output>
      </label>
      <input type="range" id="clock" name="to" min={earliest} max={latest} step={HOUR_MS} value={shown} />
      <button class="second">Go there</button>
      {clock.kind === "test"
        ? STEPS.map((step) => (
            <button class="second" name="advance" value={step} key={step}>
              +{step}
            </button>
          ))
        : null}
      {viewedAt === null ? null : (
        <button class="second" name="advance" value="0">
          Back to now
        </button>
      )}
    </form>
  );
}

/** Shows the slider's instant while it is moved. */
const CLOCK_SCRIPT = `
const slider = document.querySelector("#clock");
slider?.addEventListener("input", () => {
  document.querySelector("#clock-shown").textContent = new Date(Number(slider.value)).toISOString().slice(0, 16).replace("T", " ");
});
`;
