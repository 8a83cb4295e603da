import type { Sql } from "postgres";
import { figure } from "../src/demo/report/style.js";
import { Random } from "../src/demo/simulate/random.js";
import { latencyOf, median } from "./lib/measure.js";

/**
 * Processor time of an event on a cluster, in milliseconds of a core, to accept and evaluate it and send its deliveries: a service with 40
 * environments of examples/saas on a coordinator and two nodes. Measured once; docs/scale.md says how. Single events are evaluated one by one.
 */
const COSTS = {
  "single events": { coordinator: 10.2, node: 7.6, plain: 5.8 },
  "batches of 100": { coordinator: 0.128, node: 0.127, plain: 0.079 },
} as const;
type Cost = (typeof COSTS)[keyof typeof COSTS];

const ENVIRONMENTS = 1_000;
const NODES = 8;
/** Citus's default; it places the shards on the nodes in turn. */
const SHARDS = 32;
const CORES = 8;
/** Maximum utilization of a machine's cores; above it, waiting times grow fast. */
const BUSY_MAX = 0.7;
const SAMPLES = 200;
const CALLS = 200_000;

/**
 * Simulates a thousand environments on eight nodes: how evenly they are distributed, how many events a second that allows, and how one hot
 * environment affects the others. The n-th largest environment is 1/n of the largest, as is usual for sizes of customers. Prints the results;
 * nothing is measured here.
 */
export async function simulatePlacement(sql: Sql): Promise<void> {
  const shards = await shardsOf(sql);
  const samples = Array.from({ length: SAMPLES }, (_, lot) => sharesOf(new Random(lot, "shares")));
  console.log(
    `${ENVIRONMENTS} environments on ${NODES} nodes, the largest with ${percent(Math.max(...samples[0]!))}; ${SAMPLES} random assignments of the sizes\n`,
  );

  console.log("share of the fullest node (an eighth is 12.5 %): median, worst of 20");
  const fullest = {
    "as Citus places them": samples.map((shares) => Math.max(...byNode(shares, shards))),
    "shards moved by size": samples.map((shares) => Math.max(...balanced(byShard(shares, shards)))),
    "the ten largest in separate shards, then moved": samples.map((shares) =>
      Math.max(...balanced(isolated(shares, shards, 10))),
    ),
  };
  for (const [way, parts] of Object.entries(fullest)) {
    const worst = parts.toSorted((a, b) => a - b)[Math.floor(0.95 * SAMPLES)]!;
    console.log(`  ${way}: ${percent(median(parts))}, ${percent(worst)}`);
  }

  console.log(
    `\nevents a second until a machine of ${CORES} cores is ${percent(BUSY_MAX)} busy: cluster (and which machine is busy first), ${NODES} cells, one PostgreSQL`,
  );
  const part = median(fullest["as Citus places them"]);
  for (const [work, cost] of Object.entries(COSTS)) {
    const room = CORES * BUSY_MAX * 1_000;
    const [coordinator, nodes] = [room / cost.coordinator, room / (cost.node * part)];
    const first = coordinator < nodes ? "coordinator" : "fullest node";
    console.log(
      `  ${work}: ${rounded(Math.min(coordinator, nodes))} (${first}), ${rounded(room / (cost.plain * part))}, ${rounded(room / cost.plain)}`,
    );
  }

  const cost = COSTS["single events"];
  const rate = (0.5 * CORES * 1_000) / cost.coordinator;
  console.log(
    `\np50 and p99 of the other environments' events, ms, at ${rounded(rate)} single events a second: on the hot one's node; on other nodes`,
  );
  for (const more of [0, 0.25, 0.5, 0.75, 0.95]) {
    const { beside, elsewhere } = simulate(samples[0]!, shards, { cost, rate, hot: rate * more });
    console.log(`  one sends ${rounded(rate * more)} more: ${beside}; ${elsewhere}`);
  }
}

/** The shard of each environment, by the function with which Citus hashes numbers. */
async function shardsOf(sql: Sql): Promise<number[]> {
  const rows = await sql<
    { hash: number }[]
  >`select hashint4(n) as hash from generate_series(1, ${ENVIRONMENTS}) as n order by n`;
  return rows.map(({ hash }) => Math.min(SHARDS - 1, Math.floor((hash + 2 ** 31) / (2 ** 32 / SHARDS))));
}

/** The share of each environment; the sum is 1. */
function sharesOf(random: Random): number[] {
  const weights = Array.from({ length: ENVIRONMENTS }, (_, n) => 1 / (n + 1));
  for (let n = weights.length - 1; n > 0; n--) {
    const other = random.whole(0, n);
    [weights[n], weights[other]] = [weights[other]!, weights[n]!];
  }
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

function byShard(shares: readonly number[], shards: readonly number[]): number[] {
  const loads = new Array<number>(SHARDS).fill(0);
  for (const [n, share] of shares.entries()) loads[shards[n]!]! += share;
  return loads;
}

function byNode(shares: readonly number[], shards: readonly number[]): number[] {
  const nodes = new Array<number>(NODES).fill(0);
  for (const [shard, load] of byShard(shares, shards).entries()) nodes[shard % NODES]! += load;
  return nodes;
}

/** The loads of shards when the largest environments have separate ones. */
function isolated(shares: readonly number[], shards: readonly number[], count: number): number[] {
  const least = shares.toSorted((a, b) => b - a)[count - 1]!;
  return [
    ...byShard(
      shares.map((share) => (share >= least ? 0 : share)),
      shards,
    ),
    ...shares.filter((share) => share >= least),
  ];
}

/** The loads of nodes when shards are placed by size: the largest first, each on the node with the least load. */
function balanced(loads: readonly number[]): number[] {
  const nodes = new Array<number>(NODES).fill(0);
  for (const load of loads.toSorted((a, b) => b - a)) nodes[nodes.indexOf(Math.min(...nodes))]! += load;
  return nodes;
}

/**
 * Calls arrive at random, pass the coordinator and then the node of their environment. Each machine serves as many at once as it has cores, in
 * the order of arrival. `hot` further calls a second are for the environment of median size.
 */
function simulate(
  shares: readonly number[],
  shards: readonly number[],
  { cost, rate, hot }: { cost: Cost; rate: number; hot: number },
): { beside: string; elsewhere: string } {
  const random = new Random(1, "calls", hot);
  const exponential = (mean: number) => -mean * Math.log(1 - random.unit());
  const middle = shares.indexOf(shares.toSorted((a, b) => a - b)[ENVIRONMENTS / 2]!);
  const nodeOf = (environment: number) => shards[environment]! % NODES;
  const ends = shares.map(
    (
      (sum) => (share: number) =>
        (sum += share)
    )(0),
  );
  const calls: { environment: number; isHot: boolean; came: number; passed: number }[] = [];
  const coordinator = new Station(CORES);
  for (let at = 0; calls.length < CALLS;) {
    at += exponential(1_000 / (rate + hot));
    const isHot = random.unit() < hot / (rate + hot);
    const drawn = random.unit() * ends.at(-1)!;
    const environment = isHot ? middle : ends.findIndex((end) => end > drawn);
    calls.push({ environment, isHot, came: at, passed: coordinator.serve(at, exponential(cost.coordinator)) });
  }
  const nodes = Array.from({ length: NODES }, () => new Station(CORES));
  const taken = { beside: [] as number[], elsewhere: [] as number[] };
  for (const { environment, isHot, came, passed } of calls.toSorted((a, b) => a.passed - b.passed)) {
    const done = nodes[nodeOf(environment)]!.serve(passed, exponential(cost.node));
    if (!isHot) taken[nodeOf(environment) === nodeOf(middle) ? "beside" : "elsewhere"].push(done - came);
  }
  const summary = (times: number[]) => {
    const { p50, p99 } = latencyOf(times)!;
    return `${p50.toFixed(0)}, ${p99.toFixed(0)}`;
  };
  return { beside: summary(taken.beside), elsewhere: summary(taken.elsewhere) };
}

/** Serves as many at once as it has cores, first come, first served. */
class Station {
  readonly #free: number[];

  constructor(cores: number) {
    this.#free = new Array<number>(cores).fill(0);
  }

  /** When it has done a call that arrives at `at` and takes `length`, in milliseconds. */
  serve(at: number, length: number): number {
    const core = this.#free.indexOf(Math.min(...this.#free));
    return (this.#free[core] = Math.max(at, this.#free[core]!) + length);
  }
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

function rounded(value: number): string {
  return figure(Math.round(value));
}
