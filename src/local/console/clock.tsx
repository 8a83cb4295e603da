import type { LocalEngine } from "../engine.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How far a clock that is moved by hand can be moved at once. */
const AHEAD_DAYS = 120;

/** The steps that can be taken without the slider. */
const STEPS = ["1d", "7d", "30d"];

interface ClockProps {
  engine: LocalEngine;
  /** The instant that is looked at; null for the present. */
  viewedAt: number | null;
  /** Where the form is sent, and where it leads back to. */
  action: string;
  back: string;
}

/**
 * The clock as a slider: to the left what was is looked at, to the right of the present a clock that is moved by hand moves on, and customers with
 * it.
 */
export function ClockForm({ engine, viewedAt, action, back }: ClockProps) {
  const { clock, firstAcceptedAt } = engine;
  const now = clock.now();
  const shown = viewedAt ?? now;
  // The slider stops at whole hours before and after the present.
  const earliest = now - Math.ceil((now - Math.min(firstAcceptedAt ?? now, now)) / HOUR_MS) * HOUR_MS;
  const latest = clock.kind === "test" ? now + AHEAD_DAYS * DAY_MS : now;
  return (
    <form class="clock" method="post" action={action}>
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

/** Tells the instant that the slider stands at while it is moved. */
export const CLOCK_SCRIPT = `
const slider = document.querySelector("#clock");
slider?.addEventListener("input", () => {
  document.querySelector("#clock-shown").textContent = new Date(Number(slider.value)).toISOString().slice(0, 16).replace("T", " ");
});
`;
