/** One run, from an empty directory to the verdict. */
import { setMaxListeners } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { Api } from "../src/demo/api.js";
import { DemoFailure } from "../src/demo/failure.js";
import { startProgress } from "../src/demo/progress.js";
import { figure, styleFor } from "../src/demo/report/style.js";
import { Service } from "../src/demo/service/service.js";
import { Random } from "../src/demo/simulate/random.js";
import { evaluationCaughtUp } from "./caught-up.js";
import { Client } from "./client.js";
import { EmbeddedCluster, endServer } from "./cluster.js";
import { FAULTS } from "./kinds/index.js";
import { Ledger } from "./ledger.js";
import { send, SINGLE_SENDERS } from "./load.js";
import { generatedHistory, historyOfFiles, type History } from "./operations.js";
import type { FaultsOptions } from "./options.js";
import { LossyProxy } from "./proxy.js";
import { sendRefused, type Refused } from "./refused.js";
import { report } from "./report.js";
import { strikeAll, type Strike } from "./strikes.js";
import { survey, type Survey } from "./survey.js";
import { differences, environmentOf, verify, type Sent, type Verification } from "./verification.js";

export interface RunContext {
  output: NodeJS.WritableStream & { isTTY?: boolean };
  /** Aborted when the person at the terminal has had enough. */
  stop: AbortSignal;
}

/** What came of a run in which all agreed. */
export interface RunResult {
  strikes: readonly Strike[];
  verification: Verification;
  /** Answers 202 that were cut off, so that what had been accepted was sent again. */
  answersLost: number;
  refused: Refused | null;
}

const PROJECT = "faults";
/** One sender of so many goes through the proxy that loses answers. */
const LOSSY_ONE_OF = 4;

/** Throws a DemoFailure where the database does not hold what was acknowledged. Ends and removes everything, however it ends. */
export async function runFaults(options: FaultsOptions, { output, stop }: RunContext): Promise<RunResult> {
  const history =
    options.data.length > 0 ? historyOfFiles(options.data) : generatedHistory(options.operations, options.seed);
  const surveyed = await survey(history);
  output.write(`${history.title}: ${figure(surveyed.operations)} operations, ${figure(surveyed.events)} events\n`);
  stop.throwIfAborted();

  const directory = await mkdtemp(path.join(os.tmpdir(), "svc-faults-"));
  const dataDir = path.join(directory, "data");
  const cleanUp: (() => Promise<void>)[] = [
    () => rm(directory, { recursive: true, force: true, maxRetries: 10 }),
    // The service stops it, unless it was killed and ended before it was back.
    () => endServer(dataDir),
  ];
  try {
    // PostgreSQL refuses to run as root and gets a user of its own, which must be able to pass through.
    if (process.getuid?.() === 0) await chmod(directory, 0o711);
    const ends: string[] = [];
    const service = await Service.start({
      dataDir,
      logFile: path.join(directory, "service.log"),
      onRestart: (how) => {
        ends.push(how);
        // It is given up where it ends too often by itself; here it is killed on purpose.
        service.restarts = 0;
      },
    });
    cleanUp.unshift(() => service.stop());
    const proxy = await LossyProxy.start(service.url, new Random(options.seed, "proxy"));
    cleanUp.unshift(() => proxy.stop());
    const failed = new AbortController();
    const signal = AbortSignal.any([stop, service.lost, failed.signal]);
    setMaxListeners(0, signal); // every sender listens
    const stage: Stage = { options, history, surveyed, service, proxy, output, failed, signal, ends, dataDir };
    return await perform(stage).catch((error: unknown) => {
      // What was under way when everything had to end failed for that reason, whatever it says itself.
      throw signal.aborted ? signal.reason : error;
    });
  } finally {
    for (const step of cleanUp) await step();
  }
}

interface Stage {
  options: FaultsOptions;
  history: History;
  surveyed: Survey;
  service: Service;
  proxy: LossyProxy;
  output: RunContext["output"];
  /** Ends everything with the first failure. */
  failed: AbortController;
  signal: AbortSignal;
  ends: readonly string[];
  dataDir: string;
}

async function perform(stage: Stage): Promise<RunResult> {
  const { history, surveyed, service, proxy, output, signal, ends, dataDir } = stage;
  const access = await service.bootstrap("faults", "faults@example.com");
  const api = new Api({ url: service.url, ...access, signal });
  const apiKey = await api.createProject("Faults", PROJECT);
  await api.deploy(PROJECT, surveyed.model.snapshot);
  const cluster = await EmbeddedCluster.open(dataDir, signal);
  output.write(`the service answers at ${service.url} (process ${service.pid}); the model is deployed\n`);

  const ledger = new Ledger();
  const { strikes, refused } = await sendAndStrike(stage, { apiKey, cluster, ledger });
  output.write("waiting for evaluation …\n");
  await evaluationCaughtUp(cluster, signal);
  const sent: Sent = { history, survey: surveyed, ledger };
  const verification = await cluster.query((sql) =>
    sql.begin(async (tx) => verify(tx, await environmentOf(tx, PROJECT), sent, signal)),
  );

  const unasked = ends.filter((how) => how !== "SIGKILL");
  output.write(`\n${report(styleFor(output.isTTY === true), { strikes, verification, ledger, proxy, ends: unasked })}`);
  if (refused !== null) output.write(`${figure(refused.events)} events refused, the first with\n${refused.body}\n\n`);
  const problems = differences(verification);
  if (problems.length > 0) throw new DemoFailure(problems.join("\n        "));
  output.write("nothing was lost, nothing was doubled\n");
  return { strikes, verification, answersLost: proxy.cutAccepted, refused };
}

interface Tools {
  apiKey: string;
  cluster: EmbeddedCluster;
  ledger: Ledger;
}

/** Everything that goes on at once. The first failure ends the rest. */
async function sendAndStrike(
  { options, history, surveyed, service, proxy, output, failed, signal }: Stage,
  { apiKey, cluster, ledger }: Tools,
): Promise<{ strikes: Strike[]; refused: Refused | null }> {
  const { senders, batch, kills, seed } = options;
  const open = (url: string) => new Client({ url, apiKey, signal, onRetry: (why) => ledger.retried(why) });
  const clients = Array.from({ length: senders + SINGLE_SENDERS }, (_, index) =>
    open(index % LOSSY_ONE_OF === 0 ? proxy.url : service.url),
  );
  const other = open(service.url);
  const progress = startProgress(output, "sending", surveyed.operations, "operations");
  const watch = setInterval(() => progress.update(ledger.operations), 200);
  const guard = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      failed.abort(error);
      throw error;
    });
  try {
    const [strikes, refused] = await settled([
      guard(
        strikeAll({
          faults: FAULTS,
          strikes: kills,
          operations: surveyed.operations,
          ledger,
          target: { service, cluster, random: new Random(seed, "targets") },
          random: new Random(seed, "moments"),
          signal,
        }),
      ),
      guard(options.refused === null ? Promise.resolve(null) : sendRefused(options.refused, other)),
      guard(send(history.read(), { ledger, senders, batch, clients })),
    ]);
    progress.update(ledger.operations);
    return { strikes, refused };
  } finally {
    clearInterval(watch);
    progress.finish();
    for (const client of [...clients, other]) await client.close();
  }
}

/** Like Promise.all, but waits until all have ended. */
async function settled<T extends readonly unknown[]>(work: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
