/** One run, from an empty directory to the verdict. */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { SentOperation } from "../../src/client/index.js";
import type { DemoApi } from "../../src/demo/api.js";
import { DemoFailure } from "../../src/demo/failure.js";
import { openDataFile } from "../../src/demo/input.js";
import type { Input } from "../../src/demo/input.js";
import { compileDemoModel } from "../../src/demo/model.js";
import { figure, styleFor, reportTable, type ReportColumn } from "../../src/demo/report/style.js";
import { sendAll } from "../../src/demo/send.js";
import type { Service } from "../../src/demo/service/service.js";
import { settle } from "../../src/demo/settle.js";
import { Random } from "../../src/demo/simulate/random.js";
import { onService } from "../stage/one-service.js";
import type { Server } from "../stage/server.js";
import type { RunContext } from "../run.js";
import { environmentOf } from "../verification.js";
import { changedModel } from "./changed-model.js";
import { compare, emissionsOf, type Comparison } from "../comparison.js";
import type { RecomputeOptions } from "./options.js";

interface RecomputeDocument {
  id: string;
  status: string;
  error: string | null;
  attempt: number;
  progress: { customersTotal: number | null; customersDone: number };
  result: {
    customersChanged: number;
    lifecycleChanged: number;
    segmentsEntered: number;
    segmentsExited: number;
    emissions: number;
  };
}

/** A completed job. */
interface Job {
  name: string;
  document: RecomputeDocument;
  seconds: number;
}

/** A kill of a job: how many customers were done, and how long it took until it made progress again. */
interface Kill {
  done: number;
  resumedMs: number;
}

const POLL_MS = 5;
/** One operation in this many is sent while a job runs. */
const LATE_ONE_OF = 10;

/** Throws a DemoFailure if anything differs. Ends and removes everything in any case. */
export async function runRecomputes(options: RecomputeOptions, { output, stop }: RunContext): Promise<void> {
  const input = await openDataFile(options.data);
  const { snapshot } = await compileDemoModel(options.model);
  const changed =
    options.changed === null ? changedModel(snapshot) : (await compileDemoModel(options.changed)).snapshot;
  output.write(`${input.title}: ${figure(input.operations)} operations of ${figure(input.customers)} customers\n`);
  stop.throwIfAborted();

  await onService({ program: "faults", stop }, async ({ service, cluster, tenant, signal }) => {
    setMaxListeners(0, signal); // every sender listens
    const { api } = await tenant("faults");
    await new Run({ ...options, input, snapshot, changed, service, api, cluster, output, signal }).all();
  });
}

interface Stage extends Pick<RecomputeOptions, "kills" | "seed"> {
  input: Input;
  snapshot: Parameters<DemoApi["deploy"]>[1];
  changed: Parameters<DemoApi["deploy"]>[1];
  service: Service;
  api: DemoApi;
  cluster: Server;
  output: RunContext["output"];
  signal: AbortSignal;
}

class Run {
  readonly #jobs: Job[] = [];
  readonly #comparisons: [name: string, comparison: Comparison][] = [];
  readonly #problems: string[] = [];

  constructor(private readonly stage: Stage) {}

  async all(): Promise<void> {
    const { output, snapshot, changed } = this.stage;
    await this.#project("fresh", changed);
    await this.#project("undisturbed", snapshot);
    await this.#project("killed", snapshot);
    const late = await this.#late();
    const lateKey = await this.#project("late", snapshot, (operation) => !late.has(nameOf(operation)));
    for (const project of ["undisturbed", "killed", "late"]) await this.stage.api.deploy(project, changed);

    const dry = await this.#job("dry run", "undisturbed", true);
    const real = await this.#job("run", "undisturbed", false);
    if (JSON.stringify(dry.document.result) !== JSON.stringify(real.document.result))
      this.#problems.push("the dry run reported something else than the run did");
    await this.#compare("run", "undisturbed");
    const again = await this.#job("run once more", "undisturbed", false);
    if (again.document.result.customersChanged > 0) this.#problems.push("a second run changed something");

    const kills = await this.#killed();
    await this.#compare("run with kills", "killed");
    await this.#sameEmissions(real);

    await this.#whileEventsComeIn(lateKey, late);
    await this.#compare("run after late events", "late");

    output.write(`\n${this.#report(kills)}`);
    if (this.#problems.length > 0) throw new DemoFailure(this.#problems.join("\n        "));
    output.write("every run resulted in the state of a project that had the changed model from the start\n");
  }

  /** Creates a project with a model, sends the chosen operations, and waits until they are evaluated; returns its key. */
  async #project(name: string, model: Stage["snapshot"], choose?: Choice): Promise<string> {
    const { api, output } = this.stage;
    output.write(`sending to ${name} …\n`);
    const apiKey = await api.createProject(name, name);
    await api.deploy(name, model);
    await this.#send(apiKey, choose);
    await this.#evaluated(name);
    return apiKey;
  }

  /**
   * The names of the operations that are sent late. Leaves out those of which a customer has several at one instant, because only the order of
   * acceptance distinguishes these.
   */
  async #late(): Promise<Set<string>> {
    const { input } = this.stage;
    const instants = new Map<string, number>();
    const instantOf = (operation: SentOperation): string =>
      `${operation.customerId} ${operation.type === "track" ? operation.timestamp : undefined}`;
    for await (const operation of input.read()) {
      const instant = instantOf(operation);
      instants.set(instant, (instants.get(instant) ?? 0) + 1);
    }
    const late = new Set<string>();
    let index = 0;
    for await (const operation of input.read())
      if (instants.get(instantOf(operation)) === 1 && index++ % LATE_ONE_OF === 0) late.add(nameOf(operation));
    return late;
  }

  async #send(apiKey: string, choose: Choice = () => true): Promise<void> {
    const { input, service, signal } = this.stage;
    await sendAll(chosen(input.read(), choose), { url: service.url, apiKey, signal });
  }

  async #evaluated(project: string): Promise<void> {
    const { api, signal } = this.stage;
    await settle({ signal, overview: () => api.overview(project) });
  }

  /** Queues a job and waits for its end. */
  async #job(name: string, project: string, dryRun: boolean, meanwhile?: (id: string) => Promise<void>): Promise<Job> {
    const { api, output, signal } = this.stage;
    output.write(`${name} …\n`);
    const begun = performance.now();
    const { id } = await api.write<RecomputeDocument>({ all: true, dryRun }, project, "recomputes");
    await meanwhile?.(id);
    for (;;) {
      const document = await api.read<RecomputeDocument>(project, "recomputes", id);
      if (document.status === "dead_letter") throw new DemoFailure(`${name} was given up: ${document.error}`);
      if (document.status === "completed") {
        const job = { name, document, seconds: (performance.now() - begun) / 1_000 };
        this.#jobs.push(job);
        return job;
      }
      await delay(POLL_MS, undefined, { signal });
    }
  }

  /** A run during which the service is killed at a random moment in each of equal parts of the progress. */
  async #killed(): Promise<Kill[]> {
    const { kills, seed, input, service, cluster, signal } = this.stage;
    const random = new Random(seed, "moments");
    const done: Kill[] = [];
    await this.#job("run with kills", "killed", false, async (id) => {
      const part = (0.9 * input.customers) / kills;
      for (let index = 0; index < kills; index++) {
        const moment = Math.ceil(random.between(index * part, (index + 1) * part));
        const struckAt = await cluster.query(async (sql) => {
          for (;;) {
            const [job] = await sql<[{ status: string; done: number; attempt: number }]>`
              select status, customers_done as done, attempt from svc.recomputes where recompute_id = ${id}`;
            if (job.status === "completed") return null;
            if (job.status === "running" && job.done >= moment) return job;
            await delay(POLL_MS, undefined, { signal });
          }
        });
        if (struckAt === null) break;
        process.kill(service.pid!, "SIGKILL");
        const begun = performance.now();
        // Until another worker has taken it over and made progress.
        await cluster.query(async (sql) => {
          for (;;) {
            const [{ resumed }] = await sql<[{ resumed: boolean }]>`
              select status = 'completed' or attempt > ${struckAt.attempt} and customers_done > done_at_attempt as resumed
              from svc.recomputes where recompute_id = ${id}`;
            if (resumed) return;
            await delay(POLL_MS, undefined, { signal });
          }
        });
        // A service that ends too often is given up; here it is killed on purpose.
        service.restarts = 0;
        done.push({ done: struckAt.done, resumedMs: performance.now() - begun });
      }
    });
    if (done.length < kills) this.#problems.push(`the run had ended after ${done.length} of ${kills} kills`);
    return done;
  }

  async #compare(name: string, project: string): Promise<void> {
    const comparison = await this.stage.cluster.query(async (sql) =>
      compare(
        sql,
        await sql.begin((tx) => environmentOf(tx, project)),
        await sql.begin((tx) => environmentOf(tx, "fresh")),
      ),
    );
    this.#comparisons.push([name, comparison]);
    for (const { customer, one, other } of comparison.examples)
      this.#problems.push(`${name}: customer ${customer} is\n          ${one}\n          and not\n          ${other}`);
  }

  /** Expects the killed run to have the emissions of the undisturbed one, each once and with one row of the outbox. */
  async #sameEmissions(undisturbed: Job): Promise<void> {
    const killed = this.#jobs.at(-1)!;
    const [one, other] = await this.stage.cluster.query(async (sql) => [
      await emissionsOf(sql, undisturbed.document.id),
      await emissionsOf(sql, killed.document.id),
    ]);
    if (JSON.stringify(one) !== JSON.stringify(other) || one.doubled + one.untold > 0)
      this.#problems.push(`the emissions are ${JSON.stringify(one)}, and with kills ${JSON.stringify(other)}`);
  }

  /** Sends the late operations during a run; once they are evaluated, the next run must correct all customers. */
  async #whileEventsComeIn(apiKey: string, late: ReadonlySet<string>): Promise<void> {
    const { api, input } = this.stage;
    await this.#job("run while late events come in", "late", false, () =>
      this.#send(apiKey, (operation) => late.has(nameOf(operation))),
    );
    await this.#evaluated("late");
    const { events } = await api.overview("late");
    if (events.accepted !== input.distinctEvents)
      this.#problems.push(`${events.accepted} events are stored, not ${input.distinctEvents}`);
    await this.#job("run after late events", "late", false);
  }

  #report(kills: readonly Kill[]): string {
    const { output } = this.stage;
    const style = styleFor(output.isTTY === true);
    const right = (title: string): ReportColumn => ({ title, align: "right" });
    return [
      reportTable(
        style,
        "Jobs",
        [
          { title: "" },
          ...["customers", "changed", "lifecycle", "in and out of segments", "emissions", "attempts", "seconds"].map(
            right,
          ),
        ],
        this.#jobs.map(({ name, document: { progress, result, attempt }, seconds }) => [
          name,
          progress.customersDone,
          result.customersChanged,
          result.lifecycleChanged,
          result.segmentsEntered + result.segmentsExited,
          result.emissions,
          attempt,
          seconds.toFixed(1),
        ]),
      ),
      reportTable(
        style,
        "SIGKILL of the service",
        [right("after customers"), right("the run continued after")],
        kills.map(({ done, resumedMs }) => [done, `${(resumedMs / 1_000).toFixed(1)} s`]),
      ),
      reportTable(
        style,
        "Customers, compared with a project that had the changed model from the start",
        [{ title: "" }, right("equal"), right("different")],
        this.#comparisons.map(([name, { equal, different }]) => [name, equal, different]),
      ),
    ].join("");
  }
}

type Choice = (operation: SentOperation) => boolean;

/** Names an operation among those that may be sent late, which include at most one identify per customer. */
function nameOf(operation: SentOperation): string {
  return operation.type === "track" ? operation.idempotencyKey : `the traits of ${operation.customerId}`;
}

async function* chosen(operations: ReturnType<Input["read"]>, choose: Choice): AsyncGenerator<SentOperation> {
  for await (const operation of operations) if (choose(operation)) yield operation;
}
