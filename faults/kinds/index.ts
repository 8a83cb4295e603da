import { backendKilled } from "./backend.js";
import { clusterKilled } from "./cluster.js";
import type { Fault } from "./fault.js";
import { machineKilled } from "./machine.js";
import { postmasterKilled } from "./postmaster.js";
import { serviceKilled } from "./service.js";

/** In the order in which they take turns. */
export const FAULTS: readonly Fault[] = [serviceKilled, postmasterKilled, clusterKilled, backendKilled, machineKilled];
