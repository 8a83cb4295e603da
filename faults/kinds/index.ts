import { backendKilled } from "./backend.js";
import { clockShifted } from "./clock.js";
import { clusterKilled } from "./cluster.js";
import { diskFull } from "./disk.js";
import type { Fault } from "./fault.js";
import { httpKilled } from "./http.js";
import { transactionsInDoubt } from "./in-doubt.js";
import { machineKilled } from "./machine.js";
import { connectionsCut, networkSilent } from "./network.js";
import { coordinatorAndNodeKilled, nodeBackendKilled, nodeKilled, nodePostmasterKilled } from "./node.js";
import { nodeAway, nodeCut, nodePaused, nodeSilent } from "./node-network.js";
import { databasePaused } from "./paused.js";
import { postmasterKilled } from "./postmaster.js";
import { answersLate, answersTruncated } from "./receiver.js";
import { serviceKilled } from "./service.js";
import { workerKilled } from "./worker.js";

/** In the order in which they take turns. On a cluster, PostgreSQL is the coordinator. */
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

/** Additional faults on a cluster. */
export const NODE_FAULTS: readonly Fault[] = [
  nodePostmasterKilled,
  nodeCut,
  nodeKilled,
  nodeBackendKilled,
  nodeSilent,
  coordinatorAndNodeKilled,
  nodePaused,
  transactionsInDoubt,
  nodeAway,
];
