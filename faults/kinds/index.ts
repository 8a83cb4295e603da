import { backendKilled } from "./backend.js";
import { clockShifted } from "./clock.js";
import { clusterKilled } from "./cluster.js";
import { diskFull } from "./disk.js";
import type { Fault } from "./fault.js";
import { httpKilled } from "./http.js";
import { machineKilled } from "./machine.js";
import { connectionsCut, networkSilent } from "./network.js";
import { databasePaused } from "./paused.js";
import { postmasterKilled } from "./postmaster.js";
import { answersLate, answersTruncated } from "./receiver.js";
import { serviceKilled } from "./service.js";
import { workerKilled } from "./worker.js";

/** In the order in which they take turns. */
export const FAULTS: readonly Fault[] = [
  serviceKilled,
  workerKilled,
  postmasterKilled,
  httpKilled,
  clusterKilled,
  backendKilled,
  machineKilled,
  databasePaused,
  connectionsCut,
  networkSilent,
  diskFull,
  clockShifted,
  answersTruncated,
  answersLate,
];
