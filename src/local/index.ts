/** `svc dev`: the service in memory, for one project, without a database. */
export { changesInWords, type StateChange as Change } from "./changes.js";
export { RealClock, TestClock, type Clock } from "./clock.js";
export { curlLine } from "./help.js";
export type { RequestReport } from "./report.js";
export { PortTakenError } from "./server.js";
export { BrokenModelError, LocalSession, type Reload, type SessionObserver } from "./session.js";
export type { LocalEngine } from "./engine.js";
export type { CustomerChange } from "./population.js";
