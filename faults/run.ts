/** One run, from an empty directory to the verdict. */
import { setMaxListeners } from "node:events";
import { access } from "node:fs/promises";
import { DemoApi } from "../src/demo/api.js";
import { DemoFailure, messageOf } from "../src/demo/failure.js";
import { startProgress } from "../src/demo/progress.js";
import { figure, styleFor } from "../src/demo/report/style.js";
import { Random } from "../src/demo/simulate/random.js";
import { evaluationCaughtUp } from "./caught-up.js";
import { Client } from "./client.js";
import { allDelivered, verifyDeliveries, type Webhook } from "./deliveries.js";
import { Examiner } from "./examination.js";
import { Gate } from "./gate.js";
import { FAULTS, NODE_FAULTS } from "./kinds/index.js";
import type { Target } from "./kinds/fault.js";
import { Ledger } from "./ledger.js";
import { send, SINGLE_SENDERS } from "./load.js";
import { generatedHistory, historyOfFiles, type History } from "./operations.js";
import type { FaultsOptions } from "./options.js";
import { sendRefused, type Refused } from "./refused.js";
import { report, strikeLine } from "./report.js";
import { onStage, type Stage } from "./stage/stage.js";
import { strikeAll, type Strike } from "./strikes.js";
import { survey, type Survey } from "./survey.js";
import { differences, environmentOf, verify, type Verification } from "./verification.js";

export interface RunContext {
  output: NodeJS.WritableStream & { isTTY?: boolean };
  /** Aborted when the user interrupts the run. */
  stop: AbortSignal;
}

/** The result of a successful run. */
export interface RunResult {
  strikes: readonly Strike[];
  /** Faults that could not strike here, and why. */
  missing: readonly { fault: string; why: string }[];
  verification: Verification;
  /** Answers 202 that were cut off, so that accepted requests were repeated. */
  answersLost: number;
  refused: Refused | null;
}

const PROJECT = "faults";
const UNDISTURBED = "undisturbed";
/** One sender in this many uses the proxy that loses answers; half of the others use the HTTP process. */
const LOSSY_ONE_OF = 4;
/** Size of the database's disk: the cluster with its write-ahead log, and what each operation needs in both environments. */
const DISK_BYTES = 700e6;
const DISK_BYTES_AN_OPERATION = 6_000;

/** Throws a DemoFailure if the database does not contain what was acknowledged. Ends and removes everything in any case. */
export async function runFaults(options: FaultsOptions, { output, stop }: RunContext): Promise<RunResult> {
  const history =
    options.data.length > 0 ? historyOfFiles(options.data) : generatedHistory(options.operations, options.seed);
  const surveyed = await survey(history);
  output.write(`${history.title}: ${figure(surveyed.operations)} operations, ${figure(surveyed.events)} events\n`);
  await checkInput(options, surveyed);
  stop.throwIfAborted();
  const diskBytes = DISK_BYTES + surveyed.operations * DISK_BYTES_AN_OPERATION;
  return onStage({ seed: options.seed, nodes: options.nodes, diskBytes, stop }, async (stage) => {
    const failed = new AbortController();
    const signal = AbortSignal.any([stage.signal, failed.signal]);
    setMaxListeners(0, signal); // every sender listens
    const run = new Run({ ...stage, signal }, { options, history, surveyed, output, failed });
    return await run.all().catch((error: unknown) => {
      // After an abort, its reason is the cause of all errors.
      throw signal.aborted ? signal.reason : error;
    });
  });
}

/** Throws a DemoFailure with exit code 2 if the run is bound to fail. */
async function checkInput({ strikes, batch, refused }: FaultsOptions, { operations }: Survey): Promise<void> {
  // Each strike waits for a request that is sent after it.
  if (strikes * batch > operations)
    throw new DemoFailure(
      `${figure(operations)} operations are too few for ${strikes} strikes among batches of ${batch}: send more, or use fewer strikes or operations in a batch`,
      2,
    );
  if (refused === null) return;
  await access(refused).catch((error: unknown) => {
    throw new DemoFailure(`cannot read ${refused}: ${messageOf(error)}`, 2);
  });
}

interface Plan {
  options: FaultsOptions;
  history: History;
  surveyed: Survey;
  output: RunContext["output"];
  /** Ends everything with the first failure. */
  failed: AbortController;
}

/** The projects of a run, with the same model. */
interface Projects {
  api: DemoApi;
  keys: { struck: string; undisturbed: string };
  environments: { struck: number; undisturbed: number };
  webhook: Webhook;
}

class Run {
  readonly #ledger = new Ledger();

  constructor(
    private readonly stage: Stage,
    private readonly plan: Plan,
  ) {}

  async all(): Promise<RunResult> {
    const { service, server, receiver, receiverRelay, proxy, ends, signal } = this.stage;
    const { history, surveyed, output } = this.plan;
    const projects = await this.#projects();
    output.write(`the service answers at ${service.url} (process ${service.pid}); the model is deployed\n`);

    const { strikes, missing, refused } = await this.#sendAndStrike(projects);
    output.write("waiting for evaluation and deliveries …\n");
    await evaluationCaughtUp(server, signal);
    await server.query((sql) => allDelivered(sql, projects.api, projects.webhook, signal));
    const verification = await server.query((sql) =>
      sql.begin((tx) =>
        verify(tx, projects.environments.struck, { history, survey: surveyed, ledger: this.#ledger }, signal),
      ),
    );
    const deliveries = await server.query((sql) => verifyDeliveries(sql, projects.environments.struck, receiver.tally));
    verification.figures.push(...deliveries.figures);
    verification.claims.push(...deliveries.claims);

    const happened: [string, number][] = [
      ["answers 202 that were cut off", proxy.cutAccepted],
      ["connections cut before the answer", proxy.cutUnanswered],
      ["single events recognized as repetitions", this.#ledger.duplicates],
      ["receiver's answers that came late", receiverRelay.late],
      ["receiver's answers that were truncated", receiverRelay.truncated],
      ["emissions that the receiver got more than once", receiver.tally.repeated],
      ["unexpected ends of processes", ends.length],
    ];
    const outcome = { strikes, missing, verification, ledger: this.#ledger, happened };
    output.write(`\n${report(styleFor(output.isTTY === true), outcome)}`);
    if (refused !== null) output.write(`${figure(refused.events)} events refused, the first with\n${refused.body}\n\n`);
    const problems = [
      ...strikes.flatMap(({ fault, findings }) => findings.examples.map((example) => `after "${fault}": ${example}`)),
      ...differences(verification),
    ];
    if (problems.length > 0) throw new DemoFailure(problems.join("\n        "));
    output.write("nothing was lost, nothing was duplicated\n");
    const { strikes: wanted, senders, batch } = this.plan.options;
    if (strikes.length < wanted)
      throw new DemoFailure(
        `everything was sent after ${strikes.length} of ${wanted} strikes; each needs about ${senders * batch * 2} operations: send more, or use fewer strikes, senders or operations in a batch`,
        2,
      );
    return { strikes, missing, verification, answersLost: proxy.cutAccepted, refused };
  }

  async #projects(): Promise<Projects> {
    const { service, server, receiver, receiverRelay, signal } = this.stage;
    const { snapshot } = this.plan.surveyed.model;
    const access = await service.bootstrap("faults", "faults@example.com");
    const api = new DemoApi({ url: service.url, ...access, signal });
    const create = async (project: string): Promise<string> => {
      const key = await api.createProject(project, project);
      await api.deploy(project, snapshot);
      return key;
    };
    const keys = { struck: await create(PROJECT), undisturbed: await create(UNDISTURBED) };
    const address = `http://127.0.0.1:${receiverRelay.port}${new URL(receiver.url).pathname}`;
    const { id, secret } = await api.createWebhook(PROJECT, address, ["*"]);
    receiver.expectSignaturesBy(secret);
    const environments = await server.query(async (sql) => ({
      struck: await environmentOf(sql, PROJECT),
      undisturbed: await environmentOf(sql, UNDISTURBED),
    }));
    return { api, keys, environments, webhook: { project: PROJECT, id } };
  }

  /** Sends and strikes at the same time. The first failure ends the rest. */
  async #sendAndStrike({ keys, environments }: Projects): Promise<Pick<RunResult, "strikes" | "missing" | "refused">> {
    const { service, http, proxy, server, nodes, signal } = this.stage;
    const { options, history, surveyed, output, failed } = this.plan;
    const { senders, batch, strikes: times, seed } = options;
    const ledger = this.#ledger;
    const gate = new Gate(signal);
    const open = (url: string, apiKey = keys.struck) =>
      new Client({ url, apiKey, signal, onRetry: (why) => ledger.retried(why) });
    const clients = Array.from({ length: senders + SINGLE_SENDERS }, (_, index) =>
      open(index % LOSSY_ONE_OF === 0 ? proxy.url : index % 2 === 0 ? service.url : http.url),
    );
    const other = open(service.url);
    const mirror = open(service.url, keys.undisturbed);
    const examiner = new Examiner({
      server,
      isCluster: nodes.length > 0,
      ledger,
      client: mirror,
      environments,
      signal,
    });
    const target: Target = { ...this.stage, receiver: this.stage.receiverRelay, random: new Random(seed, "targets") };
    const known = nodes.length > 0 ? [...FAULTS, ...NODE_FAULTS] : FAULTS;
    const missing = known.flatMap(({ name, missing }) => {
      const why = missing?.(target) ?? null;
      return why === null ? [] : [{ fault: name, why }];
    });
    const faults = known.filter(({ name }) => !missing.some(({ fault }) => fault === name));
    const progress = startProgress(output, "sending", surveyed.operations, "operations");
    const watch = setInterval(() => progress.update(ledger.operations), 200);
    const guard = <T>(work: Promise<T>): Promise<T> =>
      work.catch((error: unknown) => {
        failed.abort(error);
        throw error;
      });
    const random = new Random(seed, "moments");
    const onStrike = (strike: Strike) =>
      output.write(`${[strikeLine(strike), ...strike.findings.examples].join("\n  ")}\n`);
    const { operations } = surveyed;
    try {
      const [strikes, refused] = await settled([
        guard(strikeAll({ faults, strikes: times, operations, ledger, gate, examiner, target, random, onStrike })),
        guard(options.refused === null ? Promise.resolve(null) : sendRefused(options.refused, other)),
        guard(send(history.read(), { ledger, gate, senders, batch, clients })),
      ]);
      progress.update(ledger.operations);
      return { strikes, missing, refused };
    } finally {
      clearInterval(watch);
      progress.finish();
    }
  }
}

/** Like Promise.all, but waits until all have ended. */
async function settled<T extends readonly unknown[]>(work: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
