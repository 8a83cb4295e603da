/** All attacks; those that a service might not survive come last. */
import type { Attack } from "./attack.js";
import { EVENTS } from "./events.js";
import { BODIES } from "./bodies.js";
import { CYCLES } from "./cycle.js";
import { DISTINCT_VALUES } from "./distinct.js";
import { JOBS } from "./jobs.js";
import { LOCKS } from "./locks.js";
import { MANY_PROJECTS } from "./many-projects.js";
import { READS } from "./reads.js";
import { TAKEOVER } from "./takeover.js";
import { WEBHOOKS } from "./webhooks.js";
import { WIRE } from "./wire.js";

export const ATTACKS: readonly Attack[] = [
  ...WIRE,
  TAKEOVER,
  LOCKS,
  ...BODIES,
  ...EVENTS,
  MANY_PROJECTS,
  ...READS,
  ...JOBS,
  ...WEBHOOKS,
  DISTINCT_VALUES,
  ...CYCLES,
];
