import { once } from "node:events";

import { type Context, defineCommand } from "../../core/command.js";
import { failure, UsageError } from "../../core/errors.js";

const PORT = 4401;
const SETTLE_SECONDS = 30;
const SETTLE_SECONDS_MAX = 3600;
/** How long output buffered for a pipe may take to be written. */
const FLUSH_MS = 250;

export default defineCommand({
  options: {
    port: {
      type: "integer",
      min: 0,
      max: 65_535,
      default: PORT,
      describe: "Where to listen on 127.0.0.1; 0 takes any free one",
    },
    noWatch: { type: "flag", describe: "Do not reload when a source file changes" },
    clock: { type: "text", describe: "Begin at this ISO 8601 instant, with a clock that moves only by POST /clock" },
  },
  examples: [
    ["svc dev", "Events go to http://127.0.0.1:4401/events; each answer has the customer's state"],
    ["svc dev --clock 2026-01-01T00:00:00Z", 'See what time does: POST /clock with {"advance":"30d"}'],
  ],
  async handler(context, { port, noWatch, clock }) {
    const { out, settings } = context;
    const { directory, environment } = settings;
    const settleMs = settleSeconds(context) * 1000;
    // The first signal; a second one ends the process at once.
    const stop = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
    // Imported here: help texts must not wait for the engine.
    const { LocalSession, BrokenModelError } = await import("../../../local/session.js");
    const { RealClock, TestClock } = await import("../../../local/clock.js");
    const { PortTakenError } = await import("../../../local/server.js");
    const { DevReport } = await import("./report.js");
    const session = new LocalSession({
      directory,
      environment,
      port,
      settleMs,
      watch: !noWatch,
      clock: clock === undefined ? new RealClock() : readClock(clock, (text) => TestClock.at(text)),
      observer: new DevReport(out),
    });
    try {
      await session.run(stop);
      // A type check may still be running, but its result is no longer needed.
      setTimeout(() => process.exit(), FLUSH_MS).unref();
    } catch (error) {
      if (error instanceof BrokenModelError) {
        throw failure("CONFIG_INVALID", error.message, undefined, undefined, { problems: error.diagnostics });
      }
      if (error instanceof PortTakenError) {
        const fix = "stop the program that listens there, or choose another port with --port";
        throw failure("PORT_TAKEN", error.message, fix, error);
      }
      throw error;
    }
  },
});

function readClock<T>(text: string, at: (text: string) => T): T {
  try {
    return at(text);
  } catch (error) {
    const message = `--clock is ${JSON.stringify(text)}: ${(error as Error).message}`;
    throw new UsageError(message, "write it as 2026-03-02T10:00:00Z");
  }
}

/** Read from the same variable as the service's, so that both wait equally long for late events. */
function settleSeconds({ io }: Context): number {
  const text = io.env["SVC_SETTLE_SECONDS"] ?? "";
  if (text === "") return SETTLE_SECONDS;
  if (/^\d{1,4}$/.test(text) && Number(text) <= SETTLE_SECONDS_MAX) return Number(text);
  const fix = `give a whole number from 0 to ${SETTLE_SECONDS_MAX}`;
  throw failure("INVALID_SETTING", `SVC_SETTLE_SECONDS is ${JSON.stringify(text)}`, fix);
}
