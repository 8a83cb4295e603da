import type { BenchDatabase, BenchServer } from "../lib/database.js";
import { measure, type Variant } from "../lib/measure.js";
import type { Row } from "../lib/report.js";
import { directVariant, withConnections } from "./batches.js";
import { emptyInbox, fill } from "./fill.js";

const CUSTOMERS = 20_000;
const TIMES = 10;

/**
 * The rate of batches after ten times the history, customers and keys, compared with that after the history once, in two databases of one
 * server. Nothing is pending in either when a round begins, as after evaluation.
 */
export async function benchGrowth(
  server: BenchServer,
  rounds: number,
  { history, batches }: { history: number; batches: number },
): Promise<Row[]> {
  const databases: BenchDatabase[] = [];
  try {
    for (const times of [1, TIMES]) {
      const database = await server.createDatabase();
      databases.push(database);
      await fill(database, history * times, CUSTOMERS * times);
    }
    const [once, many] = databases as [BenchDatabase, BenchDatabase];
    const [theirs, ours] = await withConnections(once, 1, (onceOpen) =>
      withConnections(many, 1, (manyOpen) => {
        const variants: Variant[] = [
          directVariant(onceOpen, once, batches, CUSTOMERS),
          directVariant(manyOpen, many, batches, CUSTOMERS * TIMES),
        ];
        return measure(variants, rounds, async (round) => {
          for (const database of databases) {
            await emptyInbox(database);
            await database.settle(round);
          }
        });
      }),
    );
    if (!theirs || !ours) throw new Error("nothing was measured");
    return [
      {
        work: `batches of 1,000 keyed events, 1 connection, over ${(history * TIMES).toLocaleString("en-US")} events of ${(CUSTOMERS * TIMES).toLocaleString("en-US")} customers`,
        against: `over ${history.toLocaleString("en-US")} events of ${CUSTOMERS.toLocaleString("en-US")} customers`,
        ours: ours.rate,
        theirs: theirs.rate,
        unit: "events/s",
        floor: 1 / 1.2,
        aim: 1 / 1.05,
        latency: { ours: ours.latency, theirs: theirs.latency },
        rounds: { ours: ours.rates, theirs: theirs.rates },
      },
    ];
  } finally {
    for (const database of databases) await database.close();
  }
}
