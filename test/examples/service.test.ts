import { describe, expect, it } from "vitest";
import { requestsOf, type Request } from "../../examples/tools/walk.js";
import { compileProject } from "../../src/dsl-compiler/index.js";
import type { StateDocument } from "../../src/engine/index.js";
import { useDatabase } from "../support/database.js";
import { TestEnvironment, type TestOperation } from "../tasks/support/environment.js";
import { EXAMPLES, readData, readExpected } from "./support/examples.js";
import { expectedOf } from "./support/expected.js";
import { playLocally } from "./support/local.js";

/** The number of requests that are evaluated together, which does not affect the result. */
const TURN = 100;

const db = await useDatabase();

describe.each(EXAMPLES)("examples/$name in the service", (example) => {
  it("leaves customers as in svc dev and expected.json", async () => {
    const compiled = await compileProject(example.directory);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics, null, 2));
    const environment = await TestEnvironment.create(db.sql, compiled.snapshot);
    const data = await readData(example);
    for (const requests of turnsOf(requestsOf(data))) {
      await environment.ingest(requests.flatMap(testOperations));
      await environment.evaluate({ at: iso(requests.at(-1)!.at) });
    }
    await environment.evaluate({ at: example.end });

    const { engine } = playLocally(compiled, data, example.end);
    const expected = await readExpected(example);
    expect(engine.population.customerIds).toEqual(Object.keys(expected.customers));
    for (const customer of engine.population.customerIds) {
      const document = await environment.document(customer);
      expect(comparable(document)).toEqual(comparable(engine.document(customer)!));
      expect(expectedOf(document, await environment.emissions(customer))).toEqual(expected.customers[customer]);
    }
    expect(await environment.pending()).toEqual([]);
  });
});

/** Groups requests that are evaluated together. Everything before a late event is evaluated first. */
function turnsOf(requests: readonly Request[]): Request[][] {
  const turns: Request[][] = [];
  let open: Request[] = [];
  for (const request of requests) {
    if (open.length === TURN || isLate(request) || open.some(isLate)) {
      turns.push(open);
      open = [];
    }
    open.push(request);
  }
  return [...turns, open].filter((turn) => turn.length > 0);
}

function isLate({ at, operations }: Request): boolean {
  return operations.some(({ timestamp }) => timestamp !== undefined && Date.parse(timestamp) < at);
}

function testOperations({ at, operations }: Request): TestOperation[] {
  return operations.map(({ customerId: customer, event, properties = {}, traits = {}, timestamp = iso(at) }) => ({
    customer,
    at: iso(at),
    ...(event === undefined ? { traits } : { event, properties, occurred: timestamp }),
  }));
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}

/** Without event ids and creation times, which depend on the turns. */
function comparable(document: StateDocument): unknown {
  return JSON.parse(JSON.stringify({ ...document, createdAt: null }).replace(/"evt_[0-9a-f]+"/g, '"evt"'));
}
