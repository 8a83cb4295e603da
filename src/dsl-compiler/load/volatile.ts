/** Notices where the author's modules read the time, or a random number. Bundled with them, so it must not import anything from packages. */
import type { ModelProblem } from "./lower.js";

/** The code of such a place. */
export const COMPUTED_ONCE = "COMPUTED_ONCE";

/** More than anybody reads; modules may ask in a loop. */
const NOTED_MAX = 100;

/** Watches `Date` and `Math.random` from now on; the result tells where they were asked so far, each place once, with its caller as the only frame. */
export function watchVolatile(): () => ModelProblem[] {
  const noted: { what: string; caller: { stack?: string } }[] = [];
  const note = (what: string, callee: (...args: never[]) => unknown) => {
    if (noted.length === NOTED_MAX) return;
    const caller = {};
    const { stackTraceLimit } = Error;
    // A library that the author's modules call is not theirs to correct.
    Error.stackTraceLimit = 1;
    Error.captureStackTrace(caller, callee);
    Error.stackTraceLimit = stackTraceLimit;
    noted.push({ what, caller });
  };

  const { random } = Math;
  Math.random = function callee() {
    note("Math.random()", callee);
    return random();
  };
  const { now } = Date;
  Date.now = function callee() {
    note("Date.now()", callee);
    return now();
  };
  globalThis.Date = new Proxy(Date, {
    construct: function callee(date, args, target) {
      if (args.length === 0) note("new Date()", callee);
      return Reflect.construct(date, args, target) as Date;
    },
    apply: function callee(date) {
      note("Date()", callee);
      return date();
    },
  });

  return () => {
    const places = new Map(noted.map(({ what, caller }) => [caller.stack ?? "", what]));
    return [...places].map(([stack, what]) => ({
      severity: "warning",
      code: COMPUTED_ONCE,
      message: `${what} is computed when the model is compiled: what the model has of it stays as it is, and differs at the next deploy`,
      stack,
    }));
  };
}
