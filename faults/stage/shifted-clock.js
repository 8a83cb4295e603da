// Preloaded into a process: shifts its time of day. Monotonic clocks and timers are unchanged.
const aheadMs = Number(process.env.FAULTS_CLOCK_AHEAD_MS);
const present = Date.now;
const now = () => present() + aheadMs;

globalThis.Date = new Proxy(Date, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  apply: () => new Date(now()).toString(),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
});
